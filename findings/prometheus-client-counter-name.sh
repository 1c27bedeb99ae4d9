#!/usr/bin/env bash
# prometheus_client 0.26.0, parser of the text format: a counter whose name does not end in _total, as exporters of
# switches have it. Expected: the sample has the name that stands in the text. Seen: the sample is called NAME_total, a
# series that Prometheus does not have when it scrapes the same text.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q prometheus_client==0.26.0
"$work/venv/bin/python" - <<'PY'
from prometheus_client.parser import text_string_to_metric_families

(family,) = text_string_to_metric_families('# TYPE port_rx_bytes counter\nport_rx_bytes{port="swp1"} 5\n')
print(family.name, family.type, [sample.name for sample in family.samples])
assert (family.name, [sample.name for sample in family.samples]) == ("port_rx_bytes", ["port_rx_bytes_total"])
PY
