#!/bin/sh
# First process of a test run in PID, mount and network namespaces of its own; when it ends the kernel ends all others.
# Arguments: the command of the test run.
set -eu
mount -t sysfs sysfs /sys
for folder in /run/netns /run/railfab; do
    mkdir -p "$folder"
    mount -t tmpfs tmpfs "$folder"
done
ip link set lo up
RAILFAB_TEST_NAMESPACES=entered "$@" || exit $?
