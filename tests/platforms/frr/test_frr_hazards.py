"""What the audit says of every command of FRR: a golden file, so that each change of a verdict is seen."""

from __future__ import annotations

from railfab.fabric import design
from railfab.platforms import platform

from .judged_commands import GOLDEN, LEAF, ROOT, judged, verdicts


def test_every_command_of_frr_has_the_verdict_that_is_committed() -> None:
    model = design(ROOT / "labs" / "frr-pod" / "intent.yml").models[LEAF]
    assert list(verdicts(model)) == GOLDEN.read_text().splitlines()


def test_every_pattern_is_of_a_command_that_frr_has_or_of_a_missing_line() -> None:
    """A pattern with a misspelt word matches nothing."""
    model = design(ROOT / "labs" / "frr-pod" / "intent.yml").models[LEAF]
    seen = [hazard for _, hazards in judged(model) for hazard in hazards]
    assert sorted(hazard.kind for hazard in platform("frr").hazards() if hazard not in seen) == [
        "bfd-off",  # peers of the examples are of others
        "fewer-paths",  # numbers of the examples are the largest
        "fewer-paths",  # of iBGP
        "forwarding-off",  # of IPv6, which the fabric has not
        "no-hold-time",
        "no-multipath-relax",
        "not-announced",
        "not-announced",  # route maps and metrics of the redistribution are in tests/audit
        "port-disabled",  # a comment, which FRR does not read
        "session-down",  # no session
        "session-down",  # another AS number of the switch
        "slow-hold-time",  # a value that the grammar leaves open
        "small-mtu",  # a comment
        "static-route",  # examples of a default route name addresses of others
        "static-route",  # and ports of others
        "wrong-address",  # no address of the loopback
        "wrong-address",  # prefixes of the examples are outside of the fabric
        "wrong-overlay",  # of EVPN, which the fabric has not
        "wrong-overlay",  # of a tenant
        "wrong-route-policy",  # lists of the examples are of no policy of the fabric
        "wrong-route-policy",  # an entry without lines
        "wrong-route-policy",  # no policy of a session
        "wrong-router-id",  # of a tenant
        "wrong-vlan",  # a section
    ]
