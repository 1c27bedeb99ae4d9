"""Algorithms of collective operations: rounds of transfers among ranks, as columns."""

from railfab.workload.algorithms.rounds import ROW, RankLink, TransferRounds
from railfab.workload.algorithms.table import ALGORITHMS, Algorithm, transfer_rounds

__all__ = ["ALGORITHMS", "ROW", "Algorithm", "RankLink", "TransferRounds", "transfer_rounds"]
