#!/usr/bin/env bash
# promtool 2.42 (Debian) and 3.13 (Go module v0.313.5), `test rules`: a counter that grows by 7.5 every 15 s, and an alert on
# `rate(...[1m]) >= 0.5`. Expected: 3 has the rate 0.5 as 2.42 has it, though its windows leave out their left end. Seen: it is
# 0.49999999999999994 and the alert never fires: 4 samples instead of 5 are extrapolated from 45 s to 60 s, as
# 22.5 * (60 / 45) / 60. A test that holds with 2.42 fails with 3.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
installed=$(promtool --version | sed -n 's/^promtool, version \([^ +]*\).*/\1/p')
case $installed in 2.42.*) ;; *) echo "promtool is $installed, not 2.42" >&2; exit 2 ;; esac
go mod download -json github.com/prometheus/prometheus@v0.313.5 > module
source=$(sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' module)
(cd "$source" && GOWORK=off go build -buildvcs=false -o "$work/promtool3" ./cmd/promtool)
cat > rules.yml <<'YAML'
groups:
  - name: drops
    rules: [{alert: Drops, expr: "rate(drops_total[1m]) >= 0.5"}]
YAML
cat > fires.yml <<'YAML'
rule_files: [rules.yml]
evaluation_interval: 15s
tests:
  - interval: 15s
    input_series: [{series: drops_total, values: "0+7.5x40"}]
    alert_rule_test: [{alertname: Drops, eval_time: 5m, exp_alerts: [{}]}]
    promql_expr_test:
      - {expr: "rate(drops_total[1m])", eval_time: 5m, exp_samples: [{labels: "{}", value: 0.5}]}
      - {expr: "count_over_time(drops_total[1m])", eval_time: 5m, exp_samples: [{labels: "{}", value: 5}]}
YAML
promtool test rules fires.yml
if ./promtool3 test rules fires.yml > seen 2>&1; then cat seen; exit 1; fi
grep -F got: seen
grep -qF '{} 4.9999999999999994E-01' seen
grep -qF '{} 4E+00' seen
