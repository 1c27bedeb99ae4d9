"""A switch refuses a reference to what its configuration does not have, wherever railfab renders one."""

from __future__ import annotations

import pytest
from tests.platforms.srlinux.oracle import laid_over_the_factory
from tests.platforms.srlinux.references import NO_PORT, NOWHERE, dangling
from tests.platforms.srlinux.switches import rail_switch

from railfab.platforms import platform
from railfab.platforms.srlinux.constraints import violations
from railfab.platforms.srlinux.tree import stripped

DANGLING = dangling(platform("srlinux").render(rail_switch()))


def test_references_of_every_section_are_rendered() -> None:
    assert len(DANGLING) > 20
    assert {path.split("/")[1] for path in DANGLING} >= {"qos", "network-instance", "routing-policy"}


@pytest.mark.parametrize("path", DANGLING)
def test_a_reference_without_its_target_is_refused(path: str) -> None:
    found = violations(stripped(laid_over_the_factory(DANGLING[path])))
    nowhere = tuple(f"is {name}, and there is no" for name in (NOWHERE, NO_PORT))
    assert [one.problem for one in found if one.problem.startswith(nowhere)], found
