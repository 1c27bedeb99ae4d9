"""Rules that adopt the series of other exporters, whose fixtures have their documented form."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.dashboards.promql_labels import EXPOSED

from railfab.dashboards import RECORDING, Scrape, prometheus_files, write
from railfab.dashboards.adopted import ADOPTED, COUNTERS, NODE, OMNISTAT

pytestmark = pytest.mark.prometheus

PLACE = 'fabric="two", host="host1"'
INFO = f'roce_nic_info{{{PLACE}, nic="rail1-p0", interface="enp1s0", rdma="mlx5_0", rail="1"}}'
NIC = f'{PLACE}, nic="rail1-p0"'
HEADS = {
    "node": (NODE, f'{PLACE}, instance="host1:9100", device="mlx5_0", port="1"'),
    "Omnistat of an RDMA device": (OMNISTAT, f'{PLACE}, device_class="bnxt_re", interface="mlx5_0"'),
    "Omnistat of an interface": (OMNISTAT, f'{PLACE}, device_class="ionic", interface="enp1s0"'),
}
"""Labels as node_exporter's infiniband_linux.go and Omnistat's docs/metrics.md have them; those of the target first."""
GPU = 'UUID="GPU-8b2281de", pci_bus_id="00000000:8D:00.0", device="nvidia0", modelName="NVIDIA H100 80GB HBM3"'
"""Labels as an exposition of dcgm-exporter 4 has them (its issue 490), but that of the host."""


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rule file."""
    folder = tmp_path_factory.mktemp("prometheus")
    write(prometheus_files(Scrape()), folder)
    return folder / "rules" / "adopted.yml"


def check(rules: Path, folder: Path, series: Mapping[str, str], expected: Mapping[str, Mapping[str, float]]) -> None:
    """The rules over these series, of one value each 15 s, record these values by labels after four minutes."""
    samples = [
        {
            "expr": record,
            "eval_time": "4m",
            "exp_samples": [{"labels": f"{record}{{{labels}}}", "value": value} for labels, value in values.items()],
        }
        for record, values in expected.items()
    ]
    case: dict[str, Any] = {
        "interval": "15s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": samples,
    }
    document = {"rule_files": [str(rules)], "evaluation_interval": "15s", "tests": [case]}
    (folder / "case.yml").write_text(yaml.safe_dump(document))
    done = subprocess.run(["promtool", "test", "rules", "case.yml"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("exporter", HEADS)
def test_counters_of_another_exporter_become_ours(rules: Path, tmp_path: Path, exporter: str) -> None:
    prefix, labels = HEADS[exporter]
    names = {
        counter.ours: counter.node if prefix == NODE else counter.omnistat
        for counter in COUNTERS
        if (counter.node if prefix == NODE else counter.omnistat)
    }
    assert len(names) >= 8
    series = {f"{prefix}{name}{{{labels}}}": "0+150x20" for name in names.values()}
    expected = {f"host_nic:roce_nic_{ours}:rate1m": {NIC: 10.0} for ours in names}
    check(rules, tmp_path, {INFO: "1x20", **series}, expected)


def test_a_counter_that_the_agent_has_too_is_counted_once(rules: Path, tmp_path: Path) -> None:
    series = {
        INFO: "1x20",
        f"roce_nic_cnp_handled_packets_total{{{NIC}}}": "0+300x20",
        f"{NODE}rp_cnp_packets_handled_total{{{HEADS['node'][1]}}}": "0+150x20",
        f"{OMNISTAT}rx_cnp_packets{{{HEADS['Omnistat of an interface'][1]}}}": "0+150x20",
    }
    check(rules, tmp_path, series, {"host_nic:roce_nic_cnp_handled_packets:rate1m": {NIC: 20.0}})


def test_hosts_of_two_fabrics_with_the_same_names_stay_apart(rules: Path, tmp_path: Path) -> None:
    labels = HEADS["node"][1]
    series = {
        INFO: "1x20",
        INFO.replace("two", "west"): "1x20",
        f"{NODE}np_cnp_packets_sent_total{{{labels}}}": "0+150x20",
        f"{NODE}np_cnp_packets_sent_total{{{labels.replace('two', 'west')}}}": "0+300x20",
    }
    expected = {NIC: 10.0, NIC.replace("two", "west"): 20.0}
    check(rules, tmp_path, series, {"host_nic:roce_nic_cnp_sent_packets:rate1m": expected})


def test_a_device_that_is_no_port_of_the_plan_is_left_out(rules: Path, tmp_path: Path) -> None:
    other = HEADS["node"][1].replace("mlx5_0", "mlx5_9")
    series = {INFO: "1x20", f"{NODE}np_cnp_packets_sent_total{{{other}}}": "0+150x20"}
    check(rules, tmp_path, series, {"host_nic:roce_nic_cnp_sent_packets:rate1m": {}})


@pytest.mark.parametrize("label", ["Hostname", "hostname"])
def test_gpus_have_the_host_of_either_label(rules: Path, tmp_path: Path, label: str) -> None:
    labels = f'fabric="two", gpu="0", {GPU}, {label}="host1"'
    series = {
        f"DCGM_FI_DEV_GPU_UTIL{{{labels}}}": "75x20",
        f"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{{labels}}}": "0.5x20",
    }
    gpu = f'{PLACE}, gpu="0"'
    expected = {
        "host_gpu:dcgm_gpu_utilization:ratio": {gpu: 0.75},
        "host_gpu:dcgm_tensor_active:ratio": {gpu: 0.5},
    }
    check(rules, tmp_path, series, expected)


def test_the_configuration_of_the_page_is_one(repository: Path) -> None:
    path = repository / "docs" / "examples" / "gpu-host" / "prometheus.yml"
    done = subprocess.run(["promtool", "check", "config", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_record_has_two_rules() -> None:
    records = [rule.record for rule in (*RECORDING, *ADOPTED)]
    assert len(set(records)) == len(records)


def test_each_counter_of_ours_is_in_the_catalogue() -> None:
    assert {f"roce_nic_{counter.ours}_total" for counter in COUNTERS} <= EXPOSED.keys()
