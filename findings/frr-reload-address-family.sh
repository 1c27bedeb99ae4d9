#!/usr/bin/env bash
# FRR 8.4.4, frr-reload.py: `address-family ipv4` without the word unicast, which vtysh takes as the same.
# Expected: after a reload a second one has nothing to do. Seen: each further reload first withdraws the activation of the
# neighbour, which resets its session, and then states it again: frr-reload.py compares `address-family ipv4` with
# `address-family ipv4 unicast` as two sections.
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
cat > "$work/frr.conf" <<CONF
hostname $(hostname)
router bgp 65001
 no bgp default ipv4-unicast
 neighbor 10.0.0.1 remote-as 65002
 address-family ipv4
  neighbor 10.0.0.1 activate
 exit-address-family
exit
CONF
vtysh -C -f "$work/frr.conf"
reload --reload "$work/frr.conf" > "$work/out" 2>&1
reload --test "$work/frr.conf" > "$work/out" 2>&1
sed -n '/^Lines To/,$p' "$work/out"
grep -q "no neighbor 10.0.0.1 activate" "$work/out"
