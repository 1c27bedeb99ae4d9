#!/bin/sh
# Start one daemon of FRR. Arguments: its name, and --load to load its part of the startup configuration too.
set -eu
"$FRR/$1" -d -u frr -g frr -A 127.0.0.1 -P 0
[ "${2:-}" != --load ] || vtysh -b -d "$1"
