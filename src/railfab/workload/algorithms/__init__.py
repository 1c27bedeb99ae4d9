"""Algorithms of collective operations: rounds of transfers among ranks, as columns."""

from railfab.workload.algorithms.rounds import ROW, RankLink, TooManyTransfers, TransferRounds, check_transfers
from railfab.workload.algorithms.table import ALGORITHMS, Algorithm, transfer_rounds

__all__ = [
    "ALGORITHMS",
    "ROW",
    "Algorithm",
    "RankLink",
    "TooManyTransfers",
    "TransferRounds",
    "check_transfers",
    "transfer_rounds",
]
