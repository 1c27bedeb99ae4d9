#!/usr/bin/env bash
# lldpd 1.0.16, lldpcli: a port that does not exist, in a command that configures it and in one that shows its neighbours.
# Expected: an error and another exit code than 0, as for an unknown command. Seen: both succeed in silence, and the second
# prints the JSON of a port without neighbours: a mistyped name looks like a cable that is not there.
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
root/usr/sbin/lldpd -d -u "$work/switch" -L "$lldpcli" 2> switch.log &
until "$lldpcli" -u "$work/switch" show chassis > log 2>&1; do sleep 0.2; done
"$lldpcli" -u "$work/switch" configure ports swp99 lldp portdescription spine
"$lldpcli" -u "$work/switch" -f json show neighbors ports swp99 > seen
tr -d '[:space:]' < seen
echo
[ "$(tr -d '[:space:]' < seen)" = '{"lldp":{}}' ]
if "$lldpcli" -u "$work/switch" show ports swp99 2> log; then exit 1; fi
cat log
