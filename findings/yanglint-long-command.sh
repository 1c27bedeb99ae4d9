#!/usr/bin/env bash
# yanglint 2.1.30 (Debian, libyang2-tools), commands on standard input: one of more than 4,095 bytes, as with the names of many
# data files. Expected: it is executed whole, or refused. Seen: its first 4,095 bytes are a command and the rest is another
# one: `add ... port.yanglist`, a file that does not exist, adds port.yang and then executes `list`, without an error.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
installed=$(dpkg-query -W -f '${Version}' libyang2-tools)
case $installed in 2.1.30-*) ;; *) echo "libyang2-tools is $installed, not 2.1.30" >&2; exit 2 ;; esac
echo 'module port { yang-version 1.1; namespace "urn:port"; prefix p; }' > port.yang
printf 'add port.yanglist\n' | yanglint > short 2>&1
cat short
printf 'add %4095s\n' port.yanglist | yanglint > seen 2>&1
grep -x '    I port' seen
if grep -q 'libyang\|YANGLINT' seen; then cat seen; exit 1; fi
