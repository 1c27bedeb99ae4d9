#!/bin/sh
# The first process of one switch of an embedded lab, in its own mount, UTS, PID and network namespaces.
# ROOT: directory of the switch. NODE: its name. FRR: directory of the daemons. DAEMONS: their names.
set -eu

mount -t proc proc /proc
mount -t sysfs sysfs /sys
while umount -l /run/netns 2>/dev/null; do :; done      # hide the other namespaces from the switch
mount -t tmpfs -o size=4k tmpfs /run/netns
hostname "$NODE"
mount --bind "$ROOT/etc-frr" /etc/frr
mount --bind "$ROOT/run-frr" /var/run/frr
mount --bind "$ROOT/var-tmp" /var/tmp             # crash logs of the daemons, named by pid

for daemon in $DAEMONS; do
    sh "$ROOT/start_daemon.sh" "$daemon"
done
vtysh -b

: > "$ROOT/ready"
while :; do                                     # reap orphaned processes
    sleep 3600 &
    wait $! || true
done
