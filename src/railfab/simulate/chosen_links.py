"""The next-hop groups of the switches of a component, and links by which acknowledgements return."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from railfab.sim import Network, Routing
from railfab.simulate.canonical import CanonicalForm
from railfab.simulate.ordered import Numbers

_MOST_HOPS = 16


class ChosenLinks:
    """Links of the flows of a form. network: of its links and nodes, and maybe of further ones."""

    def __init__(self, form: CanonicalForm, network: Network) -> None:
        self._form, self._network = form, network
        self._crossing = np.flatnonzero((form.paths >= 0).any(axis=1))
        hops = (form.paths >= 0).sum(axis=1)
        self._target = np.full(len(form.paths), -1)
        self._target[self._crossing] = network.far[form.paths[self._crossing, hops[self._crossing] - 1]]

    @cached_property
    def routing(self) -> Routing:
        """Groups by switch and target: the links of a flow to the target that leave the switch."""
        network, column = self._network, self._columns
        columns = int(column.max(initial=0)) + 1
        rows = np.where(network.is_switch, np.arange(network.nodes), -1)
        group = np.full((network.nodes, columns), -1)
        if not self._form.is_balanced:
            return self._routing(column, rows, group, np.zeros(1, np.int64), rows[:0])
        flow, hop = np.nonzero(self._form.paths >= 0)
        link = self._form.paths[flow, hop]
        keys, number = np.unique(network.near[link] * columns + column[self._target[flow]], return_inverse=True)
        first = np.full(len(keys), len(self._form.paths))
        np.minimum.at(first, number, flow)
        kept = flow == first[number]
        members = link[kept][np.argsort(number[kept], kind="stable")]
        begin = np.concatenate(([0], np.cumsum(np.bincount(number[kept], minlength=len(keys)))))
        group[np.divmod(keys, columns)] = np.arange(len(keys))
        return self._routing(column, rows, group, begin, members)

    @property
    def _columns(self) -> Numbers:
        """(node,) the column of each; -1 of switches."""
        network = self._network
        column = np.where(network.is_switch, -1, 0)
        targets = np.unique(self._target[self._crossing])
        column[targets] = np.arange(len(targets))
        return column

    @staticmethod
    def _routing(destination: Numbers, row: Numbers, group: Numbers, begin: Numbers, members: Numbers) -> Routing:
        return Routing(destination=destination, row=row, group=group, begin=begin, members=members)

    @cached_property
    def paths(self) -> Numbers:
        """(flow, hop) links of each flow, -1 behind the last: where switches choose, one of them in turn."""
        form, network = self._form, self._network
        if not form.is_balanced:
            return form.paths
        routing = self.routing
        paths = np.full((len(form.paths), _MOST_HOPS), -1)
        flow, link = self._crossing, form.paths[self._crossing, 0]
        for hop in range(_MOST_HOPS):
            paths[flow, hop] = link
            goes_on = network.is_switch[network.far[link]]
            flow, link = flow[goes_on], link[goes_on]
            group = routing.group[network.far[link], routing.destination[self._target[flow]]]
            size = routing.begin[group + 1] - routing.begin[group]
            link = routing.members[routing.begin[group] + flow % size]
        return paths
