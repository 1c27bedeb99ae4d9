#!/usr/bin/env bash
# FRR 8.4.4: `ipv6 nd suppress-ra` on the interface of an unnumbered BGP session. Expected: no router advertisements, and
# the line in the running configuration. Seen: they are sent every 10 seconds, and the line is not shown.
# Needs root, for a network namespace.
set -eu
installed=$(dpkg-query -W -f '${Version}' frr)
echo "frr $installed"
case $installed in 8.4.4-1.1~deb12u*) ;; *) echo "expected Debian's frr 8.4.4" >&2; exit 1 ;; esac
work=$(mktemp -d)
chown frr:frr "$work"
trap 'kill $(cat "$work"/*.pid); rm -rf "$work"' EXIT
mkdir "$work/etc"
echo "service integrated-vtysh-config" > "$work/etc/vtysh.conf"
cat > "$work/frr.conf" <<'CONF'
interface swp1
 ipv6 nd suppress-ra
exit
router bgp 65001
 neighbor swp1 interface remote-as external
exit
interface swp1
 ipv6 nd suppress-ra
exit
CONF
export work
cat > "$work/inside" <<'SH'
set -eu
ip link add swp1 type veth peer name far
ip link set far up
ip link set swp1 up
for daemon in zebra bgpd; do
    extra=; [ $daemon = bgpd ] && extra="-p 0"
    /usr/lib/frr/$daemon -d -P 0 -A 127.0.0.1 $extra -z "$work/zserv" --vty_socket "$work" -i "$work/$daemon.pid" -f /dev/null
done 2> "$work/log"
shell() { vtysh --vty_socket "$work" --config_dir "$work/etc" "$@"; }
until shell -c "show version" > "$work/log" 2>&1; do sleep 0.1; done
sleep 2
shell -f "$work/frr.conf"
shell -c "show interface swp1" | grep "router advertisements are sent"
if shell -c "show running-config" | grep suppress-ra; then echo "the line is shown now" >&2; exit 1; fi
SH
unshare -n sh "$work/inside"
