"""The boards, one module each; each answers one question of an operator."""

from collections.abc import Mapping
from types import MappingProxyType

from railfab.dashboards.board import Board
from railfab.dashboards.boards.balance import BALANCE
from railfab.dashboards.boards.change import CHANGE
from railfab.dashboards.boards.collector import COLLECTOR
from railfab.dashboards.boards.congestion import CONGESTION
from railfab.dashboards.boards.fabric import FABRIC_BOARD
from railfab.dashboards.boards.jobs import JOBS_BOARD
from railfab.dashboards.boards.layer1 import LAYER1
from railfab.dashboards.boards.port import PORT_BOARD
from railfab.dashboards.boards.rail import RAIL_BOARD

BOARDS: Mapping[str, Board] = MappingProxyType(
    {
        board.name: board
        for board in (
            *(FABRIC_BOARD, RAIL_BOARD, PORT_BOARD, CONGESTION, BALANCE),
            *(LAYER1, JOBS_BOARD, COLLECTOR, CHANGE),
        )
    }
)
"""Every board by name, in the order in which an operator asks."""

__all__ = ["BOARDS", "PORT_BOARD"]
