#!/usr/bin/env bash
# FRR 8.4.4, frr-reload.py: another route map at a neighbour, from a file that defines the route map before the BGP instance.
# Expected: the lines are added in the order of the file, so that the neighbour is given a route map that exists. Seen: lines of
# sections that exist come first, new sections last: the neighbour has a route map that does not exist, which denies every
# route, and FRR applies a new route map only 5 s after the last change of one.
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
configuration() {
    cat << CONF
hostname $(hostname)
route-map $1 permit 10
exit
router bgp 65001
 neighbor 10.0.0.1 remote-as 65002
 address-family ipv4 unicast
  neighbor 10.0.0.1 route-map $1 in
 exit-address-family
exit
CONF
}
configuration FIRST > "$work/frr.conf"
reload --reload "$work/frr.conf" > "$work/out" 2>&1
configuration SECOND > "$work/frr.conf"
reload --test "$work/frr.conf" > "$work/out" 2>&1
sed -n '/^Lines To Add/,$p' "$work/out" > "$work/added"
cat "$work/added"
named=$(grep -n "neighbor 10.0.0.1 route-map SECOND in" "$work/added" | cut -d: -f1)
defined=$(grep -n "^route-map SECOND permit 10" "$work/added" | cut -d: -f1)
[ "$named" -lt "$defined" ]
