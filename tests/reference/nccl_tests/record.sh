#!/bin/sh
# Record what nccl-tests prints: ./record.sh NCCL_TESTS, a clone of github.com/NVIDIA/nccl-tests (a0b82b2). Needs g++.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
g++ -w -O1 -DMPI_SUPPORT -I"$here/stubs" -I"$1/src" -I"$1/os" -x c++ "$1/src/util.cu" "$here/print.cc" -o "$built/print"
for input in "$here"/*.in; do
  name=${input%.in}
  rm -f "$name.json"
  (cd "$here" && TZ=UTC "$built/print" <"$input" >"$name.txt")
done
