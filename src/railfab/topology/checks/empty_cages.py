"""Check that the cages that an intent names for a rail are used, where each could have one of its ports."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from railfab.findings import DesignCode, Finding, note
from railfab.intent import FabricIntent
from railfab.text.counted import counted, listed
from railfab.text.remedies import remedy, setting
from railfab.topology.dimensions import Dimensions


def empty_cages(intent: FabricIntent) -> Iterator[Finding]:
    """Note blocks with a cage for each port of a rail, of which some stay empty because the others are split."""
    plan, blocks = Dimensions(intent), intent.backend.segments.ports
    if isinstance(blocks, str) or plan.host_lanes == 1:
        return
    ports = plan.segments.hosts * plan.links_per_nic_and_leaf
    used = ceil(ports / plan.host_lanes)
    rails = [rail for rail, cages in blocks.items() if len(cages) == ports > used]
    if rails:
        cages = blocks[rails[0]]
        more = f", and likewise {counted(len(rails) - 1, 'other rail')}" if len(rails) > 1 else ""
        yield note(
            DesignCode.EMPTY_CAGES,
            f"backend.segments.ports.{rails[0]}",
            f"the {ports} ports of the rail use the cages {listed(list(map(str, cages[:used])))}, each split into "
            f"{plan.host_lanes}; the cages {listed(list(map(str, cages[used:])))} stay empty{more}",
            remedy(setting("backend.segments.breakout", False)),
        )
