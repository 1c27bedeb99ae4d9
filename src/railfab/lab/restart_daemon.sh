# End a daemon of FRR, by force if it does not end by itself, and start it again. Runs in the namespaces of a switch.
# Arguments: daemon, log file, command that starts it and loads its configuration.
daemon=$1 log=$2
shift 2

running() { [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$daemon" ] && ! grep -q '^State:.Z' "/proc/$pid/status"; }
await_end() { tries=30; while running && [ "$tries" -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done; }

pid=$(cat "/var/run/frr/$daemon.pid" 2>/dev/null)
if running; then
    kill "$pid"
    await_end
    running && kill -9 "$pid" && await_end
fi
"$@" </dev/null >>"$log" 2>&1       # a file, because the daemon keeps it open
