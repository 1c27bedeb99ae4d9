"""The system of a virtual Junos switch: versions, uptime, alarms."""

from __future__ import annotations

import time
from collections.abc import Iterator

from railfab.platforms.junos.answers import Tree, age, date, lasting
from railfab.platforms.junos.commits import CommitEntry
from railfab.platforms.twin_face import VirtualDevice

VERSION = "24.4R1.9"
NO_RESCUE = "Rescue configuration is not set"
"""The alarm of a switch without one (Juniper, show system alarms); a virtual switch keeps none."""


def version_tree(device: VirtualDevice, host: str) -> Tree:
    return {"host-name": host, "product-model": device.chassis().model, "junos-version": device.images.release}


def version_text(device: VirtualDevice, host: str) -> Iterator[str]:
    tree = version_tree(device, host)
    yield f"Hostname: {tree['host-name']}"
    yield f"Model: {tree['product-model']}"
    yield f"Junos: {tree['junos-version']}"


def uptime_text(device: VirtualDevice, newest: CommitEntry) -> Iterator[str]:
    """`show system uptime`. newest: the last commit."""
    now_s, booted_s = time.time(), device.chassis().started_s
    booted = f"{date(booted_s)} ({age(now_s - booted_s)} ago)"
    yield f"Current time: {date(now_s)}"
    yield "Time Source:  LOCAL CLOCK "
    yield f"System booted: {booted}"
    yield f"Protocols started: {booted}"
    yield f"Last configured: {newest.date()} ({age(now_s - newest.at.timestamp())} ago) by {newest.user}"


def uptime_tree(device: VirtualDevice, newest: CommitEntry) -> Tree:
    now_s, booted_s = time.time(), device.chassis().started_s
    since_s, configured_s = now_s - booted_s, now_s - newest.at.timestamp()
    started = {
        "date-time": lasting(date(booted_s), booted_s),
        "time-length": lasting(age(since_s), since_s),
    }
    return {
        "current-time": {"date-time": lasting(date(now_s), now_s)},
        "time-source": "LOCAL CLOCK",
        "system-booted-time": started,
        "protocols-started-time": started,
        "last-configured-time": {
            "date-time": lasting(newest.date(), newest.at.timestamp()),
            "time-length": lasting(age(configured_s), configured_s),
            "user": newest.user,
        },
    }


def alarms_tree(device: VirtualDevice) -> Tree:
    raised_s = device.chassis().started_s
    return {
        "alarm-summary": {"active-alarm-count": 1},
        "alarm-detail": [
            {
                "alarm-time": lasting(date(raised_s), raised_s),
                "alarm-class": "Minor",
                "alarm-description": NO_RESCUE,
                "alarm-type": "Configuration",
            }
        ],
    }


def alarms_text(device: VirtualDevice) -> Iterator[str]:
    tree = alarms_tree(device)
    yield f"{tree['alarm-summary']['active-alarm-count']} alarms currently active"
    yield "Alarm time               Class  Description"
    for alarm in tree["alarm-detail"]:
        yield f"{alarm['alarm-time'].text:<25}{alarm['alarm-class']:<7}{alarm['alarm-description']}"
