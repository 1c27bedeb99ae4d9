"""The CLI dialect against published or recorded output; each with its source."""

from __future__ import annotations

import re

import pytest

from railfab.platforms import platform

DIALECT = platform("srlinux").dialect


@pytest.mark.parametrize(
    ("mode", "screen"),
    [
        # learn-srlinux, navigating-srl.md (24.7.2)
        ("running", "\n--{ running }--[  ]--\nA:leaf1# "),
        # learn-srlinux, get-started/cli.md (about 23.10): the user stands in the prompt
        ("running", "\n--{ + running }--[  ]--\nA:admin@leaf1# "),
        ("candidate", "\n--{ candidate shared default }--[  ]--\nA:leaf1# "),
        ("candidate", "\n--{ * candidate shared default }--[ interface ethernet-1/1 subinterface 0 ]--\nA:leaf1# "),
        # netmiko 4.8, nokia_srl.py: the marks of its check_config_mode
        ("candidate", "\n--{ +* candidate private private-admin }--[  ]--\nA:leaf1# "),
        ("state", "\n--{ state }--[  ]--\nA:leaf1# "),
    ],
)
def test_a_published_prompt_matches_only_its_mode(mode: str, screen: str) -> None:
    fitting = [name for name, pattern in DIALECT.prompts.items() if re.search(pattern, screen)]
    assert fitting == [mode]


@pytest.mark.parametrize(
    "line",
    [
        "Parsing error: Unknown token 'version'.",  # learn-srlinux, get-started/cli.md
        # learn-srlinux, cli-ranges.md
        "Error: Path '.system.lldp.interface{.name==ethernet-1/*}' does not specify any existing objects",
        "Error: No authorization to execute command: 'delete / system information contact alice@clab'",  # srl-radius.md
    ],
)
def test_a_published_error_is_recognised(line: str) -> None:
    assert any(re.search(pattern, line) for pattern in DIALECT.errors)


@pytest.mark.parametrize(
    "line",
    [
        "All changes have been committed. Leaving candidate mode.",
        "Commit confirmed (automatic rollback in 2 minutes)",
        "    Saved current running configuration as initial (startup) configuration '/etc/opt/srlinux/config.json'",
    ],
)
def test_a_published_success_is_not_an_error(line: str) -> None:
    assert not any(re.search(pattern, line) for pattern in DIALECT.errors)


def test_the_lab_keeps_canonical_port_names() -> None:
    """containerlab's nodes/srl maps ethernet-2/3/4 to e2-3-4 by itself."""
    names = platform("srlinux").lab.interfaces
    for name in ("ethernet-1/9", "ethernet-1/1/4"):
        assert names.lab(name) == name
    assert names.lab("swp1") is None
