#!/usr/bin/env bash
# prometheus_client 0.26.0, registry: a collector that yields one family twice, one time for each switch.
# Expected: one family with both samples, or an error as when two collectors have the same name. Seen: the exposition
# has HELP and TYPE twice, which the text format forbids.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q prometheus_client==0.26.0
"$work/venv/bin/python" - <<'PY'
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily


class Switches:
    def collect(self):
        for switch in ("leaf1", "leaf2"):
            family = GaugeMetricFamily("switch_up", "Whether the switch answers.", labels=["switch"])
            family.add_metric([switch], 1)
            yield family


registry = CollectorRegistry()
registry.register(Switches())
text = generate_latest(registry).decode()
print(text)
assert text.count("# TYPE switch_up gauge") == 2
PY
