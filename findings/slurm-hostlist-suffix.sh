#!/usr/bin/env bash
# Slurm 22.05.8, ClusterShell 1.10.1: names of hosts with a suffix after their number, folded by one and read by the other.
# Expected: gpu1-ib and gpu2-ib are gpu[1-2]-ib in the notation that both call a hostlist, and scontrol fails where it
# cannot read one. Seen: Slurm takes text before and between brackets but none after the last: `scontrol show hostnames`
# prints "Invalid hostlist" and ends with 0, and expands nothing; slurmctld ends where topology.conf has such a list.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in slurm-client=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3; do
  apt-get download -qq -o APT::Sandbox::User=root "$package" > log 2>&1 || { cat log >&2; exit 1; }
done
for package in ./*.deb; do dpkg-deb -x "$package" root; done
python3 -m venv env
env/bin/pip install -q clustershell==1.10.1
LD_LIBRARY_PATH="$work/root/usr/lib/$(uname -m)-linux-gnu/slurm-wlm:$work/root/usr/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH
printf 'ClusterName=test\nSlurmctldHost=localhost\nPluginDir=%s\n' "$work/root/usr/lib/$(uname -m)-linux-gnu/slurm-wlm" > slurm.conf
export SLURM_CONF=$work/slurm.conf
scontrol=$work/root/usr/bin/scontrol
"$scontrol" --version
folded=$(env/bin/python -c 'from ClusterShell.NodeSet import NodeSet; print(NodeSet("gpu1-ib,gpu2-ib"))')
echo "ClusterShell: $folded"
[ "$folded" = 'gpu[1-2]-ib' ]
"$scontrol" show hostlist gpu1-ib,gpu2-ib | tee kept
[ "$(cat kept)" = gpu1-ib,gpu2-ib ]
"$scontrol" show hostnames "$folded" > expanded 2> error
cat expanded error
[ ! -s expanded ]
grep -q 'Invalid hostlist' error
"$scontrol" show hostnames 'rack[1-2]gpu[1-2]' | tr '\n' ' '
[ "$("$scontrol" show hostnames 'rack[1-2]gpu[1-2]' | wc -l)" = 4 ]
