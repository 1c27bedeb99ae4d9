"""How much later the last flow of a permutation is done with one path than with spray at switches, at 1,024 hosts.

    python benchmarks/bench_load_balancing.py [--permutations 20]

The network of htsim's benchmarks (`tests/reference/simulator/htsim_bench.csv`): a fat tree of k = 16, three tiers, all
100G, 1 us a hop, packets of 4000 B, 2 MB a flow, all flows at once (`permutations.py`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median

from permutations import BALANCES, Permutation, fat_tree_cables

HOSTS = 1024
LEAST_RATIO = 3.5
HTSIM = "htsim at 1024 hosts: spray 203 (NSCC) and 223 us (EQDS), one path 1088 (EQDS) and 1371 us (RoCE+PFC): 5 to 6"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--permutations", type=int, default=20)
    seeds = range(1, parser.parse_args(arguments).permutations + 1)
    tree = Permutation(cables=tuple(fat_tree_cables(16)), hosts=HOSTS, rate_gbps=100.0, payload_bytes=4000)
    results = {balance.name: [tree.ends(balance, seed) for seed in seeds] for balance in BALANCES}
    spray = [float(ends.max()) for ends, _ in results["spray at switches"]]
    print(f"{HOSTS} hosts, {len(seeds)} permutations: last completion [us], times spray, CPU s")
    for name, runs in results.items():
        last = [float(ends.max()) for ends, _ in runs]
        ratio = [end / base for end, base in zip(last, spray, strict=True)]
        print(
            f"  {name:16} median {median(last):7.1f} ({min(last):.1f} to {max(last):.1f})   "
            f"{median(ratio):4.2f} ({min(ratio):.2f} to {max(ratio):.2f})   {median(cpu for _, cpu in runs):.2f}"
        )
    one_path = [float(ends.max()) for ends, _ in results["one path (ECMP)"]]
    times = median(end / base for end, base in zip(one_path, spray, strict=True))
    print(f"  {'pass' if times >= LEAST_RATIO else 'FAIL'}  one path at least {LEAST_RATIO} times spray: {times:.2f}")
    print(f"  {HTSIM}")


if __name__ == "__main__":
    main()
