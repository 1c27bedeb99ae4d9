#!/usr/bin/env bash
# FRR 8.4.4: `show bgp summary json` of a BGP instance that has no neighbour yet.
# Expected: the instance with its AS number and an empty object of peers. Seen: {}, the same answer as without a BGP instance,
# so that a monitor cannot tell a switch that waits for neighbours from one without BGP.
set -eu
installed=$(dpkg-query -W -f '${Version}' frr-pythontools)
echo "frr $installed"
case $installed in 8.4.4-1.1~deb12u*) ;; *) echo "expected Debian's frr and frr-pythontools 8.4.4" >&2; exit 1 ;; esac
work=$(mktemp -d)
trap 'kill "$(cat "$work/bgpd.pid")"; rm -rf "$work"' EXIT
mkdir "$work/etc"
echo "service integrated-vtysh-config" > "$work/etc/vtysh.conf"
/usr/lib/frr/bgpd -d -S -Z -p 0 -P 0 -A 127.0.0.1 --vty_socket "$work" -i "$work/bgpd.pid" -f /dev/null 2> "$work/log"
shell() { vtysh --vty_socket "$work" --config_dir "$work/etc" "$@"; }
until shell -c "show version" > "$work/log" 2>&1; do sleep 0.1; done
reload() { /usr/lib/frr/frr-reload.py --stdout --bindir /usr/bin --confdir "$work/etc" --rundir "$work" --vty_socket "$work" "$@"; }
without=$(shell -c "show bgp summary json" | tr -d '[:space:]')
shell -c "configure terminal" -c "router bgp 65001"
empty=$(shell -c "show bgp summary json" | tr -d '[:space:]')
shell -c "configure terminal" -c "router bgp 65001" -c "neighbor 10.0.0.1 remote-as 65002"
peers=$(shell -c "show bgp summary json" | tr -d '[:space:]')
echo "no instance: $without, no neighbour: $empty, one neighbour: $(echo "$peers" | cut -c -60)..."
[ "$without" = "{}" ]
[ "$empty" = "{}" ]
case $peers in '{"ipv4Unicast":{'*'"as":65001'*) ;; *) exit 1 ;; esac
