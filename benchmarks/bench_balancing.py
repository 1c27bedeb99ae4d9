"""Permutations under each balancing beside those of htsim: last completions, their ratios, and CPU seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from permutations import BALANCES, Permutation, fat_tree_cables, leaf_spine_cables

from railfab.sim.warm import compile_kernel

AT_400 = {"rate_gbps": 400.0, "payload_bytes": 4086, "ack_every": 4}
"""Its receivers acknowledge every 16 kB."""
FIRST_SPINE = 128 + 8
SCENARIOS = {
    "perm32_2MB": Permutation(cables=tuple(leaf_spine_cables(4, 8, 8)), hosts=32, **AT_400),
    "perm128_2MB": Permutation(cables=tuple(leaf_spine_cables(8, 16, 16)), hosts=128, **AT_400),
    "perm128_2MB_failed1": Permutation(
        cables=tuple(leaf_spine_cables(8, 16, 16)), hosts=128, slow=(FIRST_SPINE,), **AT_400
    ),
    "perm1024_3tier_2MB": Permutation(cables=tuple(fat_tree_cables(16)), hosts=1024, **AT_400),
    "perm1024_ls_8MB": Permutation(
        cables=tuple(leaf_spine_cables(32, 32, 32)), hosts=1024, flow_bytes=8_000_000, **AT_400
    ),
}
"""Permutations of htsim.csv, whose draws and hashes are not known: they are drawn anew here. `failed1` slows all links
of one spine."""
MODES = {"spray": "nscc_spray", "adaptive": "nscc_ar_pkt", "one path (ECMP)": "nscc_ecmp", "flowlets": "nscc_flowlet"}
"""Modes of htsim that are next to the balancings."""
TIMES_LESS = 25
SPRAY_SHARE, RATIO_SHARE = 0.10, 0.15
"""Relative differences of the bars: of the last completion with spray, and of that with one path over it."""
REPEATED = 3
"""Runs of which the least CPU seconds count."""


def print_balancing(rows: Sequence[Mapping[str, str]], seeds: int) -> None:
    """Print a line for each scenario and balancing. rows: of htsim.csv."""
    compile_kernel()
    theirs = {(row["scenario"], row["mode"]): row for row in rows}
    for scenario, permutation in SCENARIOS.items():
        last: dict[str, tuple[float, float]] = {}
        for balance in BALANCES[::-1]:
            row = theirs.get((scenario, MODES.get(balance.name, "")))
            if row is None:
                continue
            runs = [permutation.ends(balance, seed) for seed in range(1, seeds + 1)]
            ours, htsim = mean(float(ends.max()) for ends, _ in runs), float(row["fct_max_us"])
            cpu_s = min(cpu for _, cpu in (*runs, *(permutation.ends(balance, 1) for _ in range(REPEATED))))
            last[balance.name] = ours, htsim
            print(
                f"{scenario:20} {balance.name:16} {ours:7.1f} us, htsim {htsim:7.1f}: {ours / htsim - 1:+6.1%}; "
                f"{cpu_s:.4f} CPU-s, htsim {row['cpu_s']}: {float(row['cpu_s']) / cpu_s:.1f} times",
                flush=True,
            )
        if {"spray", "one path (ECMP)"} <= last.keys():
            print_bars(last["spray"], last["one path (ECMP)"])


def print_bars(spray: tuple[float, float], one_path: tuple[float, float]) -> None:
    """Print whether bars are met. Last completions here and of htsim."""
    ours, theirs = (one / many for one, many in zip(one_path, spray, strict=True))
    within = abs(spray[0] / spray[1] - 1) <= SPRAY_SHARE, abs(ours / theirs - 1) <= RATIO_SHARE
    verdicts = ["met" if passed else "MISSED" for passed in within]
    print(f"  spray within {SPRAY_SHARE:.0%}: {verdicts[0]}")
    print(f"  one path over spray {ours:.2f}, htsim {theirs:.2f} ({ours / theirs - 1:+.1%}), 15 %: {verdicts[1]}")
