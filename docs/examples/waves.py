"""Shows the waves in which all switches of an intent would be changed, and what each puts at risk; without a switch."""

import sys

from railfab.deploy import risk_of, waves_of
from railfab.fabric import design

fabric = design(sys.argv[1])
changing = [switch.name for switch in fabric.topology.switches()]
for row in risk_of(fabric, waves_of(fabric, changing)):
    canary = " (canary)" if row.canary else ""
    losses = [f"{loss.share:.1%} of {loss.group}" for loss in (row.rail, row.tier) if loss]
    print(f"{row.number}{canary}: {row.switches}")
    print(f"   GPUs cut off {row.cut_off}, less redundant {row.less_redundant}; {', '.join(losses)}")
