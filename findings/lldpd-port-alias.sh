#!/usr/bin/env bash
# lldpd 1.0.16: two ports of a switch, one with an alias in the kernel (`ip link set swp1 alias ...`), one without.
# Expected: the alias is the port description, and both ports announce an identifier of the same kind. Seen: the port with the
# alias announces its name as port identifier, the other one its MAC address; a check of cables that reads the identifier
# finds names only on ports that have a description.
# Needs root: it runs in network and mount namespaces of its own.
set -eu
work=${1:-$(mktemp -d)}
script=$(realpath "$0")
cd "$work"
if [ $# = 0 ]; then
  trap 'rm -rf "$work"' EXIT
  for package in lldpd=1.0.16-1+deb12u1 libsnmp40 libpci3 libwrap0; do
    apt-get download -qq -o APT::Sandbox::User=root "$package" > log 2>&1 || { cat log >&2; exit 1; }
  done
  for package in ./*.deb; do dpkg-deb -x "$package" root; done
  dpkg-deb -f lldpd_*.deb Package Version
  unshare --net --mount --pid --fork --kill-child --mount-proc bash "$script" "$work"
  exit
fi
LD_LIBRARY_PATH="$work/root/usr/lib/$(uname -m)-linux-gnu:$work/root/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH
mount -t tmpfs none /run
mkdir /run/lldpd
cp /etc/passwd /etc/group .
echo "_lldpd:x:990:990::/run/lldpd:/bin/false" >> passwd
echo "_lldpd:x:990:" >> group
mount --bind passwd /etc/passwd
mount --bind group /etc/group
lldpcli=$work/root/usr/sbin/lldpcli
unshare --net sleep 60 &
host=$!
sleep 0.5
for port in 1 2; do
  ip link add "swp$port" type veth peer name "eth$port" netns "$host"
  ip link set "swp$port" up
  nsenter -t "$host" -n ip link set "eth$port" up
done
ip link set swp1 alias "rail 1 of host1"
root/usr/sbin/lldpd -d -u "$work/switch" -L "$lldpcli" 2> switch.log &
nsenter -t "$host" -n "$work/root/usr/sbin/lldpd" -d -u "$work/host" -L "$lldpcli" 2> host.log &
until "$lldpcli" -u "$work/switch" configure lldp tx-interval 1 > log 2>&1; do sleep 0.2; done
for _ in $(seq 100); do
  "$lldpcli" -u "$work/host" -f keyvalue show neighbors > seen 2> log || true
  if grep -q "^lldp.eth1.port" seen && grep -q "^lldp.eth2.port" seen; then break; fi
  sleep 0.2
done
grep "port\.\(ifname\|mac\|descr\)" seen
grep -q "^lldp.eth1.port.ifname=swp1$" seen
grep -q "^lldp.eth1.port.descr=rail 1 of host1$" seen
grep -q "^lldp.eth2.port.mac=" seen
