"""Algorithms of collective operations: rounds of transfers among ranks, as columns."""

from railfab.workload.algorithms.rounds import ROW, TransferRounds
from railfab.workload.algorithms.table import ALGORITHMS, Algorithm, transfer_rounds

__all__ = ["ALGORITHMS", "ROW", "Algorithm", "TransferRounds", "transfer_rounds"]
