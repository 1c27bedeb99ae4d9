#!/usr/bin/env bash
# FRR 8.4.4: `no neighbor ADDRESS bfd` at one end of an established BGP session with BFD. Expected: BFD ends, and the BGP
# session stays up. Seen: the other end takes it for a failure of the link and ends the BGP session (Cease, BFD Down).
# Needs root, for network namespaces.
set -eu
installed=$(dpkg-query -W -f '${Version}' frr)
echo "frr $installed"
case $installed in 8.4.4-1.1~deb12u*) ;; *) echo "expected Debian's frr 8.4.4" >&2; exit 1 ;; esac
work=$(mktemp -d)
chown frr:frr "$work"
trap 'kill $(cat "$work"/*/*.pid); rm -rf "$work"' EXIT
export work
cat > "$work/inside" <<'SH'
set -eu
ip link set lo up
unshare -n sleep 600 & far=$!
echo $far > "$work/far.holder"
until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
trap 'kill $far' EXIT
ip link add swp1 type veth peer name swp1 netns $far
at() { end=$1; shift; if [ $end = 1 ]; then "$@"; else nsenter -t $far -n "$@"; fi; }
shell() { end=$1; shift; at $end vtysh --vty_socket "$work/$end" --config_dir "$work/$end" "$@"; }
for end in 1 2; do
    mkdir "$work/$end"; chown frr:frr "$work/$end"
    echo "service integrated-vtysh-config" > "$work/$end/vtysh.conf"
    at $end ip link set lo up
    at $end ip address add 10.0.0.$end/30 dev swp1
    at $end ip link set swp1 up
    for daemon in zebra bfdd bgpd; do
        extra=; [ $daemon = bgpd ] && extra="-p 179"
        [ $daemon = bfdd ] && extra="--bfdctl $work/$end/bfdd.sock"
        at $end /usr/lib/frr/$daemon -d -P 0 -A 127.0.0.1 $extra -z "$work/$end/zserv" --vty_socket "$work/$end" -i "$work/$end/$daemon.pid" -f /dev/null
    done 2> "$work/log"
    until shell $end -c "show version" > "$work/log" 2>&1; do sleep 0.1; done
    sleep 2
    cat > "$work/$end/session.conf" <<CONF
router bgp 6500$end
 no bgp ebgp-requires-policy
 neighbor 10.0.0.$((3 - end)) remote-as external
 neighbor 10.0.0.$((3 - end)) timers connect 2
 neighbor 10.0.0.$((3 - end)) bfd
exit
CONF
    shell $end -f "$work/$end/session.conf"
done
both_up() { shell 1 -c "show bfd peers" | grep -q "Status: up" && shell 1 -c "show bgp neighbors 10.0.0.2" | grep -q "state = Established"; }
until both_up; do sleep 0.5; done
sleep 8
counts() { shell 2 -c "show bgp neighbors 10.0.0.1" | grep -o "dropped [0-9]*"; }
before=$(counts)
shell 1 -c "configure" -c "router bgp 65001" -c "no neighbor 10.0.0.2 bfd"
sleep 2
shell 2 -c "show bgp neighbors 10.0.0.1" | grep "BFD Down"
after=$(counts)
echo "sessions before: $before, after: $after"
if [ "$before" = "$after" ]; then echo "the session stays up now" >&2; exit 1; fi
SH
unshare -n sh "$work/inside"
