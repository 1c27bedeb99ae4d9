"""The kernel of the fluid model. It allocates nothing: all arrays are its caller's.

Progressive filling: all rates rise together, and the flows of a link stop when it is full (Bertsekas and Gallager, Data
Networks, 6.5.2).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from railfab.compiled import Kernel, called

_KERNEL = Kernel(Path(__file__).resolve(), interpreted=lambda function: function)
compiled = _KERNEL.compiled

SLACK = 1e-12
"""Relative difference of two rates or times that counts as none."""
NEAR = 1.1
"""Rates over that of the links that are full first, up to which links are looked at until none is left: the rate of a
link only rises while others are filled."""
NOTHING = 1e-9
"""Flows on a link that count as none, where shares of flows are added and subtracted."""


class Arrays(NamedTuple):
    """What a run works on.

    paths: (route, hop) links, -1 behind the last. shares: (route, hop) of a flow that crosses each. route: (flow,), -1
    for a flow that crosses no link and ends when it begins. alike: (flow,), how many equal flows each stands for. left:
    (flow,) payload that is not sent yet [bytes]. latency: (flow,) from what a flow waits for until its first byte is
    there [s]. waits: (flow,) number of flows that a flow waits for. begin, next: flow f lets next[begin[f]:begin[f +
    1]] go on. capacity: (link,) [bytes/s]. first_crossed: (link + 1,), where the routes of each begin in crossed_by.
    Written: ends (flow,) [s], rates (flow,) [bytes/s]. Room: active, next_rising, heap, at (flow,), rising (route,),
    crossed_by (hop of a route,), room, used, free, crossing (link,).
    """

    paths: Any
    shares: Any
    route: Any
    alike: Any
    left: Any
    latency: Any
    waits: Any
    begin: Any
    next: Any
    capacity: Any
    first_crossed: Any
    ends: Any
    rates: Any
    active: Any
    next_rising: Any
    heap: Any
    at: Any
    rising: Any
    crossed_by: Any
    room: Any
    used: Any
    free: Any
    crossing: Any


@called
def _push(heap: Any, at: Any, size: int, flow: int) -> int:
    """Add a flow to the flows that begin at a time, the earliest first; the new number of them."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if at[heap[above]] <= at[flow]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = flow
    return size + 1


@called
def _pop(heap: Any, at: Any, size: int) -> int:
    """Remove the earliest flow; the new number of flows."""
    size -= 1
    last = heap[size]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and at[heap[below + 1]] < at[heap[below]]:
            below += 1
        if at[last] <= at[heap[below]]:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = last
    return size


@called
def _index(a: Arrays) -> None:
    """List the routes that cross each link."""
    for route in range(a.paths.shape[0]):
        for hop in range(a.paths.shape[1]):
            link = a.paths[route, hop]
            if link < 0:
                break
            a.crossed_by[a.room[link]] = route
            a.room[link] += 1


@called
def _crossed(a: Arrays, count: int) -> int:
    """List the active flows of each route, and count those of each link; the number of links that are used."""
    links = 0
    for place in range(count):
        flow = a.active[place]
        route = a.route[flow]
        a.next_rising[flow] = a.rising[route]
        a.rising[route] = flow
        for hop in range(a.paths.shape[1]):
            link = a.paths[route, hop]
            if link < 0:
                break
            if a.crossing[link] == 0:
                a.used[links] = link
                links += 1
                a.free[link] = a.capacity[link]
            a.crossing[link] += a.alike[flow] * a.shares[route, hop]
    return links


@called
def _level(a: Arrays, links: int) -> float:
    """The rate of the flows of the links that are full first."""
    level = np.inf
    for place in range(links):
        link = a.used[place]
        if a.crossing[link] > NOTHING and a.free[link] < level * a.crossing[link]:
            level = a.free[link] / a.crossing[link]
    return level


@called
def _near(a: Arrays, links: int, bound: float) -> int:
    """Put links that are full at this rate, and those that no rising flow crosses, before the others; the number of
    them."""
    near = 0
    for place in range(links):
        link = a.used[place]
        if a.crossing[link] <= NOTHING or a.free[link] <= bound * a.crossing[link]:
            a.used[place] = a.used[near]
            a.used[near] = link
            near += 1
    return near


@called
def _set_aside(a: Arrays, near: int, links: int, bound: float) -> int:
    """Put those of the near links that are full at this rate, and those that no rising flow crosses, behind all links,
    with -1 as what is free; the number of them."""
    place, aside = 0, 0
    while place < near - aside:
        link = a.used[place]
        if a.crossing[link] > NOTHING and a.free[link] > bound * a.crossing[link]:
            place += 1
            continue
        aside += 1
        a.free[link] = -1.0
        a.used[place] = a.used[near - aside]
        a.used[near - aside] = a.used[links - aside]
        a.used[links - aside] = link
    return aside


@called
def _stop_route(a: Arrays, route: int, level: float) -> int:
    """Give the rising flows of a route their rate; the number of them."""
    flow, stopped, crossed = a.rising[route], 0, 0.0
    while flow >= 0:
        a.rates[flow] = level
        crossed += a.alike[flow]
        stopped += 1
        flow = a.next_rising[flow]
    a.rising[route] = -1
    for hop in range(a.paths.shape[1]):
        link = a.paths[route, hop]
        if link < 0:
            break
        share = crossed * a.shares[route, hop]
        a.crossing[link] -= share
        if a.free[link] != -1.0:
            a.free[link] = max(0.0, a.free[link] - level * share)
    return stopped


@called
def fill(a: Arrays, count: int, slack: float) -> None:
    """Set the rates of the active flows to their max-min fair shares. slack: relative difference that is none."""
    links = _crossed(a, count)
    rising, near, bound = count, 0, 0.0
    while rising > 0:
        level = _level(a, near)
        if level * (1.0 + slack) > bound:
            level = _level(a, links)
            if level == np.inf:
                break
            bound = level * max(NEAR, 1.0 + slack)
            near = _near(a, links, bound)
        aside = _set_aside(a, near, links, level * (1.0 + slack))
        for place in range(links - aside, links):
            link = a.used[place]
            if a.crossing[link] > NOTHING:
                for number in range(a.first_crossed[link], a.first_crossed[link + 1]):
                    if a.rising[a.crossed_by[number]] >= 0:
                        rising -= _stop_route(a, a.crossed_by[number], level)
            a.crossing[link] = 0.0
        near -= aside
        links -= aside
    for place in range(count):
        flow = a.active[place]
        if a.rising[a.route[flow]] >= 0:
            _stop_route(a, a.route[flow], np.inf)
    for place in range(links):
        a.crossing[a.used[place]] = 0.0


@called
def _let_go_on(a: Arrays, flow: int, now: float, waiting: int) -> int:
    """End a flow, and let begin what waits for nothing else; the new number of flows that are to begin."""
    a.ends[flow] = now
    for number in range(a.begin[flow], a.begin[flow + 1]):
        later = a.next[number]
        a.waits[later] -= 1
        if a.waits[later] == 0:
            a.at[later] = now + a.latency[later]
            waiting = _push(a.heap, a.at, waiting, later)
    return waiting


@compiled
def run_fluid(a: Arrays, quantum: float, slack: float) -> None:
    """Run flows until all have ended, or none can go on.

    quantum: flows that are to begin or end within this time of an event do so with it [s]. slack: see fill.
    """
    _index(a)
    now, count, waiting = 0.0, 0, 0
    for flow in range(a.left.shape[0]):
        if a.waits[flow] == 0:
            a.at[flow] = a.latency[flow]
            waiting = _push(a.heap, a.at, waiting, flow)
    while count > 0 or waiting > 0:
        until = np.inf
        for place in range(count):
            flow = a.active[place]
            until = min(until, now + a.left[flow] / a.rates[flow])
        if waiting > 0:
            until = min(until, a.at[a.heap[0]])
        if until == np.inf:
            break
        passed = until - now
        now = until
        place = 0
        while place < count:
            flow = a.active[place]
            a.left[flow] -= passed * a.rates[flow]
            if a.left[flow] <= a.rates[flow] * (quantum + SLACK * now):
                count -= 1
                a.active[place] = a.active[count]
                waiting = _let_go_on(a, flow, now, waiting)
            else:
                place += 1
        while waiting > 0 and a.at[a.heap[0]] <= now + quantum:
            flow = a.heap[0]
            waiting = _pop(a.heap, a.at, waiting)
            if a.route[flow] < 0:
                waiting = _let_go_on(a, flow, max(now, a.at[flow]), waiting)
            else:
                a.active[count] = flow
                count += 1
        fill(a, count, slack)


@compiled
def run_once(a: Arrays, slack: float) -> None:
    """Set the rates of all flows, as if all were active at once. slack: see fill."""
    _index(a)
    count = 0
    for flow in range(a.left.shape[0]):
        if a.route[flow] >= 0:
            a.active[count] = flow
            count += 1
    fill(a, count, slack)
