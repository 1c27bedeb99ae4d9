#!/usr/bin/env bash
# yanglint 2.1.30 (Debian, libyang2-tools): two data files on the command line, a value out of range in each.
# Expected: an error for each file, as for the source files of a compiler. Seen: it stops at the first file that is not valid;
# the second is not read, so its errors appear only in the next run, and a script that counts errors of many files has one.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
installed=$(dpkg-query -W -f '${Version}' libyang2-tools)
case $installed in 2.1.30-*) ;; *) echo "libyang2-tools is $installed, not 2.1.30" >&2; exit 2 ;; esac
cat > port.yang <<'YANG'
module port {
  yang-version 1.1;
  namespace "urn:port";
  prefix port;
  container port { leaf priority { type uint8 { range "0..7"; } } }
}
YANG
echo '{"port:port": {"priority": 8}}' > first.json
echo '{"port:port": {"priority": 9}}' > second.json
for file in first.json second.json; do
  if yanglint port.yang "$file" > seen 2>&1; then exit 1; fi
  grep -F "$file" seen
done
if yanglint port.yang first.json second.json > seen 2>&1; then exit 1; fi
cat seen
grep -qF first.json seen
if grep -qF second.json seen; then exit 1; fi
