"""Subscriptions that have stopped while others of the same target continue."""

from __future__ import annotations

from railfab.telemetry.subscriptions import SubscribeRpc


class SilentRpcs:
    """Which RPCs of one session are silent: they have sent samples, and none within the time that a sample lasts.

    rpcs: those that were silent when this was last looked at. Times are of the loop's clock [s].
    """

    def __init__(self) -> None:
        self.rpcs: frozenset[SubscribeRpc] = frozenset()
        self._arrived_s: dict[SubscribeRpc, float] = {}

    def arrived(self, rpc: SubscribeRpc, now_s: float) -> None:
        """An RPC has sent samples."""
        self._arrived_s[rpc] = now_s

    def has_changed(self, now_s: float) -> bool:
        """Whether other RPCs are silent than when this was last looked at."""
        return self._silent(now_s) != self.rpcs

    def look(self, now_s: float) -> frozenset[SubscribeRpc]:
        """Find the RPCs that are silent; those that were not before."""
        before, self.rpcs = self.rpcs, self._silent(now_s)
        return self.rpcs - before

    def age_s(self, rpc: SubscribeRpc, now_s: float) -> float:
        """Time since the last sample of an RPC."""
        return now_s - self._arrived_s[rpc]

    def _silent(self, now_s: float) -> frozenset[SubscribeRpc]:
        return frozenset(rpc for rpc in self._arrived_s if self.age_s(rpc, now_s) > rpc.lasts_s)
