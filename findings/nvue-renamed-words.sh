#!/usr/bin/env bash
# nvueschema 0.1.0 (pydantic models of NVIDIA's OpenAPI descriptions of NVUE): a port's address and RoCE in the words of
# Cumulus Linux 5.14. Expected: 5.15 knows them still, or refuses them. Seen: it has other words (ipv4, state enabled), and the
# models drop the old ones without an error; ECN kept enable, so that what is renamed differs from setting to setting.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q nvueschema==0.1.0
"$work/venv/bin/python" - <<'PY'
from nvueschema.models.v5_14 import NvueConfig as Before
from nvueschema.models.v5_15 import NvueConfig as After
from pydantic import ValidationError


def kept(model, config):
    try:
        return model.model_validate(config).model_dump(by_alias=True, exclude_unset=True) == config
    except ValidationError:
        return "refused"


def marks(word):
    return {"qos": {"congestion-control": {"default-global": {"traffic-class": {"3": {"ecn": word}}}}}}


CASES = {
    "ip address": ({"interface": {"swp1": {"ip": {"address": {"10.0.0.1/31": {}}}}}}, True, False),
    "ipv4 address": ({"interface": {"swp1": {"ipv4": {"address": {"10.0.0.1/31": {}}}}}}, False, True),
    "qos roce enable on": ({"qos": {"roce": {"enable": "on"}}}, True, False),
    "qos roce state enabled": ({"qos": {"roce": {"state": "enabled"}}}, False, True),
    "ecn enable": (marks("enable"), True, True),
    "ecn enabled": (marks("enabled"), "refused", "refused"),
    "auto-negotiate on": ({"interface": {"swp1": {"link": {"auto-negotiate": "on"}}}}, True, "refused"),
}
for name, (config, before, after) in CASES.items():
    print(f"{name}: 5.14 {kept(Before, config)}, 5.15 {kept(After, config)}")
    assert (kept(Before, config), kept(After, config)) == (before, after), name
PY
