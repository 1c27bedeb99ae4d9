#!/bin/sh
# The first process of one switch of an embedded lab, in mount, UTS, PID and network namespaces of its own.
# ROOT: the switch's private directory. NODE: its name. FRR: where the daemons are. Arguments: command of the SSH server.
set -eu

mount -t proc proc /proc
mount -t sysfs sysfs /sys
while umount -l /run/netns 2>/dev/null; do :; done      # a switch neither holds nor shows other namespaces
mount -t tmpfs -o size=4k tmpfs /run/netns
hostname "$NODE"
mount --bind "$ROOT/etc-frr" /etc/frr
mount --bind "$ROOT/run-frr" /var/run/frr
mount --bind "$ROOT/var-tmp" /var/tmp             # the daemons keep crash logs there, under pids that all switches share

for daemon in zebra staticd bgpd bfdd; do
    "$FRR/$daemon" -d -u frr -g frr -A 127.0.0.1 -P 0
done
vtysh -b
env -u ROOT -u NODE -u FRR "$@" &

: > "$ROOT/ready"
while :; do                                     # reaps whatever its children leave behind
    sleep 3600 &
    wait $! || true
done
