"""The scheduler that an intent names, and the hosts behind switches that it is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.documents.designs import FABRICS
from tests.intent.intents import SMALL

from railfab.deploy.schedulers import Kubernetes, Scheduler, SchedulerError, Slurm, hosts_behind, scheduler_of
from railfab.errors import RailfabError
from railfab.fabric import design

HOSTS = ("pod1-seg1-host1", "pod1-seg1-host2")


def configured(folder: Path, /, **scheduler: object) -> Scheduler | None:
    settings = yaml.safe_dump({"change": {"scheduler": scheduler}}) if scheduler else ""
    (folder / "small.yml").write_text(SMALL + settings)
    return scheduler_of(design(folder / "small.yml"), {})


def test_the_commands_of_slurm_are_those_of_the_intent_and_hosts_have_their_names(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("".join(f"{host},gpu{number}\n" for number, host in enumerate(HOSTS)))
    asked = tmp_path / "asked"
    program = f'#!/bin/sh\necho "$PREFIX $@" >> {asked}\necho NodeName=gpu0 State=IDLE+DRAIN\n'
    (tmp_path / "scontrol").write_text(program)
    (tmp_path / "scontrol").chmod(0o755)
    command = ["env", "PREFIX=by-env"]
    for action, left_alone in (("hold", {HOSTS[0]: "no reason given"}), ("wait", {})):
        settings = {"kind": "slurm", "action": action, "command": command, "folder": str(tmp_path)}
        scheduler = configured(tmp_path, **settings, hosts="names.csv")
        assert scheduler.name == "slurm"
        assert scheduler.hold(HOSTS[:1], "a-deploy") == left_alone
    assert asked.read_text() == "by-env --oneliner show node gpu0\n"
    assert isinstance(configured(tmp_path, kind="slurm"), Slurm)
    assert configured(tmp_path) is None


def test_the_cluster_of_kubernetes_is_that_of_a_file_beside_the_intent(tmp_path: Path) -> None:
    cluster = {"name": "fabric", "cluster": {"server": "https://api.example:6443"}}
    context = {"name": "lab", "context": {"cluster": "fabric", "user": "railfab"}}
    user = {"name": "railfab", "user": {"token": "a secret"}}
    document = {"clusters": [cluster], "contexts": [context], "users": [user]}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(document))
    scheduler = configured(tmp_path, kind="kubernetes", kubeconfig="kubeconfig", context="lab")
    assert isinstance(scheduler, Kubernetes)
    assert (scheduler.server.host, scheduler.server.port) == ("api.example", 6443)
    assert "a secret" not in repr(scheduler)
    with pytest.raises(SchedulerError, match=r"kubeconfig: has no context None\. Name one of it in change\.scheduler"):
        configured(tmp_path, kind="kubernetes", kubeconfig="kubeconfig")
    with pytest.raises(SchedulerError, match="no kubeconfig is named, and railfab runs in no pod"):
        configured(tmp_path, kind="kubernetes")
    with pytest.raises(RailfabError, match=r"/names\.csv: no such file\. Name a YAML or CSV file of host names\.$"):
        configured(tmp_path, kind="slurm", hosts="names.csv")


def test_hosts_behind_switches_lose_nics_or_redundancy() -> None:
    single, dual = design(FABRICS / "multi-pod.yml"), design(FABRICS / "dual-plane.yml")
    leaf = "pod1-seg1-leaf1"
    behind = hosts_behind(single, [leaf])
    on_leaf = {link.a.node for link in single.topology.links if link.z.node == leaf}
    assert {*behind.cut_off, *behind.less_redundant} == on_leaf
    assert hosts_behind(single, ["pod1-spine1"]).cut_off == ()
    spines = [node.name for node in single.topology.nodes if node.name.startswith("pod1-spine")]
    in_pod = {host.name for host in single.topology.hosts() if host.pod == 1}
    assert {*hosts_behind(single, spines).cut_off} == in_pod
    leaves = [node.name for node in dual.topology.nodes if node.name.endswith("seg1-leaf1")]
    assert len(leaves) == 2
    one = hosts_behind(dual, leaves[:1])
    assert (bool(one.cut_off), one.less_redundant) == (True, ())  # a port with an address of its own is cut off
    assert hosts_behind(dual, leaves) == one
    lag = design(FABRICS / "dual-esi.yml")
    pair = [node.name for node in lag.topology.switches()]
    one = hosts_behind(lag, pair[:1])
    assert (one.cut_off, bool(one.less_redundant)) == ((), True)
    assert hosts_behind(lag, pair).cut_off == one.less_redundant


def test_storage_servers_are_no_nodes_of_a_scheduler() -> None:
    cluster = design(FABRICS / "cluster.yml")
    leaves = [node.name for node in cluster.topology.nodes if node.net == "storage" and node.role == "leaf"]
    hosts = {host.name for host in cluster.topology.hosts()}
    behind = hosts_behind(cluster, leaves)
    assert {*behind.cut_off} <= hosts
    assert behind.cut_off
