#!/bin/sh
# The first process of a switch under test, in mount, UTS, PID and network namespaces of its own.
# $1: name. $2: its private directory, with etc, run and tmp.
set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t sysfs sysfs /sys
hostname "$1"
mkdir -p /var/run/frr /var/tmp/frr
mount --bind "$2/etc" /etc/frr
mount --bind "$2/run" /var/run/frr
mount --bind "$2/tmp" /var/tmp/frr
ip link set lo up
for setting in ipv4/ip_forward ipv6/conf/all/forwarding; do echo 1 > /proc/sys/net/$setting; done
for setting in ipv6/conf/all/accept_dad ipv6/conf/default/accept_dad ipv4/conf/all/rp_filter; do echo 0 > /proc/sys/net/$setting; done
: > "$2/namespaces"
until [ -e "$2/wired" ]; do sleep 0.05; done
for daemon in zebra staticd bfdd bgpd; do
    /usr/lib/frr/$daemon -d -u frr -g frr -A 127.0.0.1 -P 0 --log "file:$2/$daemon.log"
done
vtysh -b
: > "$2/ready"
while :; do                                     # reap orphaned processes
    sleep 3600 &
    wait $! || true
done
