#!/usr/bin/env bash
# FRR 8.4.4, frr-reload.py: a BGP network with a mask, `network 10.9.0.0 mask 255.255.0.0`, a form that vtysh knows.
# Expected: the network 10.9.0.0/16, as vtysh -f makes of the same file. Seen: frr-reload.py reads 10.9.0.0 as a network of
# class A and sends `network 10.0.0.0/8  mask 255.255.0.0`, which bgpd refuses; it exits 1, and the network is missing.
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
cat > "$work/frr.conf" <<'CONF'
router bgp 65001
 address-family ipv4 unicast
  network 10.9.0.0 mask 255.255.0.0
 exit-address-family
exit
CONF
vtysh -C -f "$work/frr.conf"
if reload --reload "$work/frr.conf" > "$work/out" 2>&1; then echo "frr-reload.py takes it now" >&2; exit 1; fi
grep -o "Unknown command.*" "$work/out" | sort -u
grep -q "network 10.0.0.0/8  mask 255.255.0.0" "$work/out"
shell -c "show running-config" > "$work/running"
if grep "  network" "$work/running"; then exit 1; fi
shell -f "$work/frr.conf" > "$work/out"
shell -c "show running-config" | grep "  network 10.9.0.0/16"
