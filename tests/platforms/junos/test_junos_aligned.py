"""Names of another configuration, aligned with those of the rendered one."""

from __future__ import annotations

import pytest
from tests.audit.fabrics import fabric_of, switch_of

from railfab.fabric.audit import switch_audit

PLACE = "set class-of-service forwarding-classes class roce"


@pytest.mark.parametrize("cut", [f"{PLACE} queue-num\n", f"{PLACE}\n"])
def test_a_statement_that_is_cut_off_is_audited(cut: str) -> None:
    """What the class is used for is unknown then, and no name is aligned by it."""
    design = fabric_of("junos", "routed")
    switch = switch_of(design, "leaf")
    audited = switch_audit(design, switch, f"{cut}set system host-name {switch}\n")
    assert audited.findings
