#!/usr/bin/env bash
# FRR 8.4.4, `frr defaults datacenter`: lines that state defaults, `timers connect 10` and `advertisement-interval 0` of a
# session and `timers bgp 3 9` of the speaker. Expected: the running configuration hides them, as it does others.
# Seen: it hides `timers bgp 3 9` alone, although the session has the same values without its lines.
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
router bgp 65001
 timers bgp 3 9
 neighbor 192.0.2.1 remote-as 65002
 neighbor 192.0.2.1 timers connect 10
 neighbor 192.0.2.1 advertisement-interval 0
 neighbor 192.0.2.2 remote-as 65002
exit
CONF
export work
cat > "$work/inside" <<'SH'
set -eu
for daemon in zebra bgpd; do
    extra=; [ $daemon = bgpd ] && extra="-p 0 -F datacenter"
    /usr/lib/frr/$daemon -d -P 0 -A 127.0.0.1 $extra -z "$work/zserv" --vty_socket "$work" -i "$work/$daemon.pid" -f /dev/null
done 2> "$work/log"
shell() { vtysh --vty_socket "$work" --config_dir "$work/etc" "$@"; }
until shell -c "show version" > "$work/log" 2>&1; do sleep 0.1; done
sleep 2
shell -f "$work/frr.conf"
running=$(shell -c "show running-config")
for line in "timers connect 10" "advertisement-interval 0"; do echo "$running" | grep "neighbor 192.0.2.1 $line"; done
if echo "$running" | grep "timers bgp"; then echo "timers bgp is shown now" >&2; exit 1; fi
for peer in 192.0.2.1 192.0.2.2; do
    shell -c "show bgp neighbors $peer json" | grep -E '"(connectRetryTimer|minBtwnAdvertisementRunsTimerMsecs)"'
done | sort | uniq -c
SH
unshare -n sh "$work/inside"
