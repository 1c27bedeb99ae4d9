#!/usr/bin/env bash
# FRR 8.4.4, vtysh -f: a prefix list with one prefix twice, the second time with bits of the host (10.1.9.9/16, which FRR
# stores as 10.1.0.0/16). Expected: the second entry is dropped, as it is when both are written alike. Seen: both entries
# are rejected, and with them the other list in front of them; vtysh exits 0.
set -eu
installed=$(dpkg-query -W -f '${Version}' frr)
echo "frr $installed"
case $installed in 8.4.4-1.1~deb12u*) ;; *) echo "expected Debian's frr 8.4.4" >&2; exit 1 ;; esac
work=$(mktemp -d)
trap 'kill "$(cat "$work/bgpd.pid")"; rm -rf "$work"' EXIT
mkdir "$work/etc"
echo "service integrated-vtysh-config" > "$work/etc/vtysh.conf"
/usr/lib/frr/bgpd -d -S -Z -p 0 -P 0 -A 127.0.0.1 --vty_socket "$work" -i "$work/bgpd.pid" -f /dev/null 2> "$work/log"
shell() { vtysh --vty_socket "$work" --config_dir "$work/etc" "$@"; }
until shell -c "show version" > "$work/log" 2>&1; do sleep 0.1; done
cat > "$work/frr.conf" <<'CONF'
ip prefix-list ALIKE permit 10.1.0.0/16
ip prefix-list ALIKE permit 10.1.0.0/16
CONF
shell -f "$work/frr.conf"
shell -c "show running-config" | grep "prefix-list ALIKE"
cat > "$work/frr.conf" <<'CONF'
ip prefix-list BEFORE permit 10.2.0.0/16
ip prefix-list HOSTBITS permit 10.1.0.0/16
ip prefix-list HOSTBITS permit 10.1.9.9/16
CONF
shell -f "$work/frr.conf" > "$work/out" 2>&1 || { echo "vtysh exits $? now" >&2; exit 1; }
grep -h -o "duplicated prefix list value: .*" "$work/out" | sort -u
shell -c "show running-config" > "$work/running"
if grep "prefix-list [BH]" "$work/running"; then echo "the lists exist now" >&2; exit 1; fi
