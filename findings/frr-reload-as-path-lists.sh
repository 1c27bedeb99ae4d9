#!/usr/bin/env bash
# FRR 8.4.4, frr-reload.py: lists without sequence numbers, which FRR numbers by itself: a prefix list, a community list
# and a list of AS paths. Expected: a second reload has nothing to do, for all three. Seen: it knows the numbers that FRR gave
# the first two; the entries of the list of AS paths it removes and adds again at each reload, and while they are gone every
# route map that matches the list decides otherwise.
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
ip prefix-list LOOPBACKS permit 10.255.0.0/16 le 32
bgp community-list standard DRAINED permit 65000:1
bgp as-path access-list LEAVES permit ^65001_
CONF
vtysh -C -f "$work/frr.conf"
reload --reload "$work/frr.conf" > "$work/out" 2>&1
reload --test "$work/frr.conf" > "$work/out" 2>&1
sed -n '/^Lines To/,$p' "$work/out"
grep -q "no bgp as-path access-list LEAVES seq 5 permit ^65001_" "$work/out"
if grep "LOOPBACKS\|DRAINED" "$work/out"; then exit 1; fi
