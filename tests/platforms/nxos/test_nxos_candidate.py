"""What a switch with NX-OS is given: the intent's lines with those of its operator, written through tclsh."""

from __future__ import annotations

import os
import subprocess
import time

import pytest
from tests.platforms.nxos.configurations import leaf

from railfab.platforms import ChangeName
from railfab.platforms.nxos.candidate import candidate, is_equal, is_nearer, missing, reloading, unified
from railfab.platforms.nxos.change_files import DRAINED, ChangeFiles, SwitchFiles, staged_name
from railfab.platforms.nxos.drain_verb import has_drain, with_drain
from railfab.platforms.nxos.running_text import shown
from railfab.platforms.nxos.scope import FEATURES, TOPICS, former_text, scoped
from railfab.platforms.nxos.tcl_text import BLOCK_LINES, written

OPERATORS = (
    "version 10.5(3) Bios:version",
    "feature ssh",
    "feature tacacs+",
    "username admin password 5 $5$x role network-admin",
    "snmp-server contact noc",
    "hardware access-list tcam region ing-racl 512",
    "boot nxos bootflash:/nxos64-cs.10.5.3.bin",
)
RUNNING = "".join(f"{line}\n" for line in ("hostname a", *OPERATORS)) + (
    "interface mgmt0\n  ip address 192.0.2.1/24\n"
    "interface Ethernet1/1\n  no switchport\n  description old\n  no shutdown\n"
)
WANTED = "hostname a\nfeature lldp\ninterface Ethernet1/1\n  no switchport\n  description new\n  no shutdown\n"
CHANGE = ChangeName(deploy="20261129T190000.000Z-1a2b", user="eva", host="build-1.example.net")


def test_what_a_switch_shows_of_a_rendered_configuration_is_as_written() -> None:
    """Then a second deploy compares texts alone, and parses neither."""
    _, rendered = leaf()
    shown_text = shown(rendered + "".join(f"{line}\n" for line in OPERATORS))
    assert shown_text != rendered
    assert TOPICS.is_as_written(shown_text, rendered)


@pytest.mark.parametrize(
    ("running", "is_new"),
    [
        (WANTED, True),
        (RUNNING, False),
        (f"{WANTED}vlan 7\n", True),
        (f"{RUNNING}vlan 7\n", False),
    ],
    ids=["the new one", "the old one", "the new one and more", "the old one and more"],
)
def test_a_running_configuration_is_that_of_a_change_or_the_one_before_it(running: str, *, is_new: bool) -> None:
    assert is_nearer(running, new=candidate(RUNNING, WANTED), old=RUNNING) == is_new


def test_two_equal_configurations_are_no_change() -> None:
    assert not is_nearer(RUNNING, new=RUNNING, old=RUNNING)


def test_a_candidate_keeps_what_is_the_operators_and_takes_the_rest_from_the_intent() -> None:
    lines = candidate(RUNNING, WANTED).splitlines()
    assert {*OPERATORS, "interface mgmt0", "feature lldp", "  description new"} <= set(lines)
    assert "  description old" not in lines
    assert lines[0].startswith("!Command:")


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_of_the_intent_takes_no_other_from_the_operator(feature: str) -> None:
    """Otherwise an intent with TACACS+ would end SSH, and with it the deploy."""
    others = {f"feature {each}" for each in FEATURES} - {f"feature {feature}"}
    running = "".join(f"feature {each}\n" for each in FEATURES)
    assert others <= set(candidate(running, f"hostname a\nfeature {feature}\n").splitlines())


def test_the_former_text_restores_what_an_intent_with_lines_of_the_operator_replaced() -> None:
    stated = f"{WANTED}snmp-server contact somebody\n"
    former = former_text(RUNNING, stated)
    changed = candidate(RUNNING, stated)
    assert "snmp-server contact noc" not in changed
    restored = candidate(changed, former)
    assert is_equal(restored, scoped(RUNNING, former))
    assert "snmp-server contact noc" in restored
    assert "snmp-server contact somebody" not in restored


def test_a_default_that_a_switch_shows_is_no_difference() -> None:
    assert is_equal(f"{RUNNING.replace('old', 'new')}feature lldp\ncopp profile strict\nlldp timer 30\n", WANTED)
    assert not is_equal(RUNNING, WANTED)


def test_lines_that_a_switch_does_not_have_are_missing() -> None:
    assert missing(RUNNING, WANTED) != ()
    assert missing(candidate(RUNNING, WANTED), WANTED) == ()


def test_a_difference_shows_no_secret() -> None:
    wanted = f"{WANTED}tacacs-server host 192.0.2.9 key 7 hidden-word\n"
    assert "hidden-word" not in unified(RUNNING, wanted)
    assert "+tacacs-server host 192.0.2.9" in unified(RUNNING, wanted)


@pytest.mark.parametrize(
    ("line", "needed"),
    [
        ("hardware access-list tcam region ing-racl 512", ()),
        ("hardware access-list tcam region ing-racl 256", ("hardware access-list tcam region ing-racl 256",)),
        ("system routing template-dual-stack-host-scale", ("system routing template-dual-stack-host-scale",)),
        ("hardware profile dlb", ("hardware profile dlb",)),
    ],
)
def test_a_line_that_takes_effect_after_a_reload_is_named(line: str, needed: tuple[str, ...]) -> None:
    assert needed == tuple(each for each in reloading(RUNNING, f"{WANTED}{line}\n") if not each.startswith("no "))


def test_a_drain_is_a_line_of_bgp() -> None:
    configuration = "hostname a\n\nrouter bgp 65001\n  router-id 10.0.0.1\n"
    drained = with_drain(configuration)
    assert (has_drain(configuration), has_drain(drained)) == (False, True)
    assert with_drain(drained) == drained
    assert with_drain("hostname a\n") == "hostname a\n"


def test_a_changes_files_are_found_again_by_their_names() -> None:
    made = ChangeFiles.named(CHANGE, 120)
    rows = "".join(f"       {size}    Nov 29 19:00:00 2026  {file}\n" for size, file in ((3, made.new), (4, made.old)))
    files = SwitchFiles.of(f"{rows}       9    Nov 29 19:00:00 2026  nxos64-cs.10.5.3.F.bin\n")
    assert files.changes() == (made,)
    assert files.sizes_bytes == {made.new: 3, made.old: 4}
    assert 0 < made.left_s <= 125


def test_leftovers_are_the_files_that_nothing_uses_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    made, staged = ChangeFiles.named(CHANGE, 120), staged_name()
    files = SwitchFiles(dict.fromkeys((made.new, made.old, staged, DRAINED, "railfab-old"), 1))
    assert list(files.leftovers(None, staged)) == ["railfab-old"]
    assert set(files.leftovers(None)) == {staged, "railfab-old"}, "of a session that was lost"
    now_s = time.time()
    monkeypatch.setattr(time, "time", lambda: now_s + 3600)
    assert set(files.leftovers(None)) == {made.new, made.old, staged, "railfab-old"}
    assert set(files.leftovers(made)) == {staged, "railfab-old"}


def test_a_compared_file_is_a_leftover_once_its_process_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["true"]) as ended:
        monkeypatch.setattr(os, "getpid", lambda: ended.pid)
        staged = staged_name()
    assert list(SwitchFiles({staged: 1}).leftovers(None)) == [staged]
    monkeypatch.setattr("railfab.platforms.nxos.change_files.gethostname", lambda: "another")
    assert list(SwitchFiles({staged: 1}).leftovers(None)) == []


def test_a_text_is_written_in_blocks_and_its_signs_for_tcl_and_the_terminal_one_by_one() -> None:
    plain = "".join(f"line {number}\n" for number in range(BLOCK_LINES + 1))
    opening, *commands, closing = written("F", f"{plain}what? {{x}}\n")
    assert (opening, closing) == ('set fl [open "/bootflash/F" wb+]', "close $fl")
    assert [command.count("\n") for command in commands] == [BLOCK_LINES, 1, 0]
    assert commands[-1] == 'puts -nonewline $fl "what\\x3f \\x7bx\\x7d\\n"'
