"""What the machine lacks is said once, in one line; what CI demands in RAILFAB_REQUIRE never skips."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from execnet import XSpec
from hypothesis import settings
from tests import namespaces
from tests.laws import examples
from tests.page.browser.chromium import chromium_path
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

gc.disable()
"""Until all tests are collected (`pytest_collection_finish`)."""

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
FRR_DAEMONS = Path("/usr/lib/frr")
collect_ignore = ["toy_platform"]
"""A project of its own, whose tests run where it is installed (integration/test_toy_platform.py)."""

LAB_COMMANDS = ("ip", "nsenter", "ping", "ssh", "unshare", "vtysh")

# Wall-clock deadlines fail on a busy machine; a failure in CI must be the same failure on a desk.
EXAMPLES = int(os.environ.get("RAILFAB_EXAMPLES", examples(40)))
settings.register_profile("desk", deadline=None, max_examples=EXAMPLES)
settings.register_profile("ci", deadline=None, max_examples=EXAMPLES, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


def oracle_folder() -> Path:
    """Where the vendors' models lie: RAILFAB_ORACLES, or a folder beside the clone."""
    return Path(os.environ.get("RAILFAB_ORACLES", REPOSITORY.parent / "shared" / "oracles"))


def _lab() -> str | None:
    if os.geteuid() != 0:
        return "needs root; run the tests with sudo"
    if namespaces.ENTERED not in os.environ and not namespaces.available():
        return "needs network, mount and PID namespaces; start the container with --privileged"
    missing = [command for command in LAB_COMMANDS if shutil.which(command) is None]
    if missing or not (FRR_DAEMONS / "bgpd").exists() or not (FRR_DAEMONS / "frr-reload.py").exists():
        return "needs FRR and iproute2; run: sudo make lab-deps"
    return None


def _alertmanager() -> str | None:
    there = shutil.which("prometheus-alertmanager") and shutil.which("amtool")
    return None if there else "needs prometheus-alertmanager; run: sudo make lab-deps"


def _prometheus() -> str | None:
    found = shutil.which("prometheus") and shutil.which("promtool")
    return None if found else "needs prometheus and promtool; run: sudo make lab-deps"


def _nats() -> str | None:
    return None if shutil.which("nats-server") else "needs nats-server; run: sudo make lab-deps"


def _slurm() -> str | None:
    if os.geteuid() != 0:
        return "needs root; run the tests with sudo"
    found = all(map(shutil.which, ("munged", "slurmctld", "slurmd", "scontrol")))
    return None if found else "needs munged, slurmctld, slurmd and scontrol; run: sudo make lab-deps"


def _lldp() -> str | None:
    if os.geteuid() != 0:
        return "needs root; run the tests with sudo"
    return None if shutil.which("lldpd") else "needs lldpd; run: sudo make lab-deps"


def _browser() -> str | None:
    return None if chromium_path() else "needs chromium; run: sudo make lab-deps"


def _faketime() -> str | None:
    return None if shutil.which("faketime") else "needs faketime; run: sudo make lab-deps"


def _node_exporter() -> str | None:
    there = shutil.which("prometheus-node-exporter")
    return None if there else "needs prometheus-node-exporter; run: sudo make lab-deps"


def _kafka() -> str | None:
    if not any(Path(os.environ.get("RAILFAB_KAFKA_JARS", "/nowhere")).glob("kafka_*.jar")):
        return "needs the jars of a Kafka broker; set RAILFAB_KAFKA_JARS (tests/README.md says how to get them)"
    return None if shutil.which("java") else "needs Java; install default-jre-headless"


def _oracle() -> str | None:
    if not oracle_folder().is_dir():
        return "needs the vendors' models; set RAILFAB_ORACLES (tests/README.md says what it holds)"
    return None if shutil.which("yanglint") else "needs yanglint; run: sudo make lab-deps"


def _gnmic() -> str | None:
    return None if shutil.which("gnmic") else "needs gnmic on PATH (tests/README.md)"


def _fake_server() -> str | None:
    return None if shutil.which("fake_server") else "needs fake_server of openconfig/gnmi on PATH (tests/README.md)"


NEEDS: dict[str, Callable[[], str | None]] = {
    "lab": _lab,
    "alertmanager": _alertmanager,
    "prometheus": _prometheus,
    "nats": _nats,
    "slurm": _slurm,
    "lldp": _lldp,
    "browser": _browser,
    "faketime": _faketime,
    "node_exporter": _node_exporter,
    "kafka": _kafka,
    "oracle": _oracle,
    "gnmic": _gnmic,
    "fake_server": _fake_server,
}


WAITING = ("faults", "integration", "docs", "twin", "test_namespaces.py", "app", "lab", "telemetry")
"""Folders, and a file, whose tests wait for processes, timers and samples, the longest first; the others compute."""
WORKERS_THAT_WAIT = 4
"""Workers that begin with the tests that wait, which do so for twice as long as they compute; each takes 0.5 to 1 GB.

One more for each core begins with the tests that compute.
"""
GIVES_WAY = 3
"""Added to the nice value of a worker that begins with tests that compute: it gets half of the time of another."""

ON_ONE_LAB = tuple(f"tests/integration/test_{name}.py" for name in ("embedded_lab", "deploy_on_frr", "killed_deploy"))
"""Files whose tests share one lab, which a worker boots once."""
WIRED = (
    "tests/fabric/test_configuration_goldens.py",
    "tests/fabric/test_every_design.py",
    "tests/docs/test_docs_tables.py",
    "tests/draw/test_picture_laws.py",
)
"""Files whose tests share the topologies of the committed designs."""
WITH_MODELS = (
    "tests/oracles/test_every_switch.py",
    *(f"tests/platforms/srlinux/test_srlinux_{name}.py" for name in ("yang", "rules", "entries", "spoilt")),
    *(f"tests/platforms/sonic/test_sonic_{name}.py" for name in ("yang", "rules")),
    "tests/platforms/junos/test_junos_yang.py",
)
"""Files whose tests share the models of vendors, which a worker loads once."""

ONE_BY_ONE = "tests/docs/test_docs_examples.py"
"""A file whose tests take long and share nothing: each goes to whichever worker is free."""
BY_SITE = ("tests/integration/switches/test_killed_rollouts.py", "tests/integration/frr/test_frr_killed_rollouts.py")
"""Files whose tests share what the first two words of their parameters name."""


def _required() -> set[str]:
    return {name for name in os.environ.get("RAILFAB_REQUIRE", "").split(",") if name}


def begins_with_computing(worker: str) -> bool:
    """Whether a worker, such as gw3, takes the tests that compute first."""
    return int(worker.removeprefix("gw")) >= WORKERS_THAT_WAIT


def waits_only(config: pytest.Config) -> bool:
    """Whether this worker of a run of all tests runs those that wait, and ends when none is left.

    To collect the others, four fifths of all, it would take as much CPU as to run a hundred of them.
    """
    given = getattr(config, "workerinput", None)
    if given is None or begins_with_computing(given["workerid"]) or given["workercount"] <= WORKERS_THAT_WAIT:
        return False
    return [(config.invocation_params.dir / name).resolve() for name in config.args] == [TESTS]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave to others what a worker that waits does not run."""
    inside = collection_path.is_relative_to(TESTS) and collection_path != TESTS
    return True if inside and _rank_of(collection_path) == len(WAITING) and waits_only(config) else None


class ByFile(LoadScopeScheduling):
    """Spreads tests over processes by file, or by class where there are classes.

    The first workers take the files in the order of collection, in which those that wait longest come first; the others
    take them from its end, so that no core is idle while tests wait, and what is left for the end of the run is short.
    """

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        self._places: dict[WorkerController, dict[str, int]] = {}
        """Place of each test in the collection of a worker."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self._places[node] = {test: place for place, test in enumerate(collection)}

    def schedule(self) -> None:
        """Begin with the workers that have collected all tests: their collection is that of the run."""
        for of_workers in (self.registered_collections, self.assigned_work):
            ordered = sorted(of_workers.items(), key=lambda entry: -len(self._places.get(entry[0], ())))
            of_workers.clear()
            of_workers.update(ordered)
        super().schedule()

    def _check_nodes_have_same_collection(self) -> bool:
        """Whether each worker has collected all tests, or those at their beginning."""
        every = next(iter(self.registered_collections.values()))
        if all(collection == every[: len(collection)] for collection in self.registered_collections.values()):
            return True
        return super()._check_nodes_have_same_collection()

    def _assign_work_unit(self, node: WorkerController) -> None:
        places = self._places[node]
        scopes = reversed(self.workqueue) if begins_with_computing(node.gateway.id) else iter(self.workqueue)
        scope = next((scope for scope in scopes if self.workqueue[scope].keys() <= places.keys()), None)
        if scope is None:
            node.shutdown()
            return
        unit = self.workqueue.pop(scope)
        pending = {name: tests for name, tests in self.assigned_work[node].items() if not all(tests.values())}
        self.assigned_work[node] = {**pending, scope: unit}
        node.send_runtest_some([places[test] for test, completed in unit.items() if not completed])

    def _split_scope(self, nodeid: str) -> str:
        scope = nodeid.partition("[")[0].rpartition("::")[0]
        if scope in BY_SITE:
            return "-".join(nodeid.split("-")[:2])
        if scope == ONE_BY_ONE:
            return nodeid
        return next((files[0] for files in (ON_ONE_LAB, WIRED, WITH_MODELS) if scope in files), scope)


def pytest_cmdline_main(config: pytest.Config) -> None:
    """Enter namespaces; with pytest-xdist the workers do. A caller with plugins of its own stays outside."""
    spread = config.getoption("numprocesses", None) or config.getoption("tx", None)
    if not spread and not config.invocation_params.plugins and namespaces.available():
        namespaces.enter(config)


def pytest_xdist_auto_num_workers() -> int:
    """Those that wait, and one that computes for each core."""
    return WORKERS_THAT_WAIT + (os.cpu_count() or 1)


def pytest_xdist_setupnodes(config: pytest.Config, specs: list[XSpec]) -> None:
    if namespaces.available():
        for spec in specs:
            spec.python = namespaces.worker_python()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    config.option.loadscopereorder = False
    return ByFile(config, log)


def _rank(item: pytest.Item) -> int:
    """Place of a test's folder in the order of the run."""
    return _rank_of(item.path)


@cache
def _rank_of(path: Path) -> int:
    inside = path.relative_to(TESTS)
    computes = inside.parts[0] not in WAITING or f"tests/{inside}" in WIRED
    return len(WAITING) if computes else WAITING.index(inside.parts[0])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what cannot run here, with what to do about it; what is required stays and fails where it must."""
    _leave_out_the_matrices(config, items)
    items.sort(key=_rank)
    for mark, lacking in NEEDS.items():
        reason = lacking()
        if reason is None:
            continue
        for item in items:
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))


def _leave_out_the_matrices(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is marked `matrix` or `kills`, unless -m names that mark."""
    marks = [mark for mark in ("matrix", "kills") if mark not in config.getoption("markexpr")]
    left_out = [item for item in items if any(map(item.get_closest_marker, marks))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not any(map(item.get_closest_marker, marks))]


COLLECTION_THRESHOLDS = (10_000, 10, 10)
"""Python's cyclic garbage collector, made to run a fourteenth as often.

A third of the CPU time of tests/topology went into it: again and again it looked at modules and collected tests, which
stay until the end.
"""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what stays until the end to no garbage collection, nor look for the little that would not stay.

    A worker that begins with tests that compute gives way to the others from now on.
    """
    given = getattr(session.config, "workerinput", None)
    if given is not None and begins_with_computing(given["workerid"]):
        os.nice(GIVES_WAY)
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import the modules of all tests, each process beginning with others.

    In a new clone pytest rewrites the assertions of a module when it is first imported, and stores it. Processes that
    all began with the first module would rewrite every one at the same time, which takes longer than to collect them.
    """
    given = getattr(session.config, "workerinput", None)
    if given is None or session.config.args != session.config.getini("testpaths"):
        return
    fewer = waits_only(session.config)
    modules = sorted(
        path
        for path in TESTS.rglob("test_*.py")
        if collect_ignore[0] not in path.parts and not (fewer and _rank_of(path) == len(WAITING))
    )
    first = len(modules) * int(given["workerid"].removeprefix("gw")) // given["workercount"]
    for path in modules[first:] + modules[:first]:
        with suppress(Exception, pytest.skip.Exception):  # collecting it imports it again, and reports the error
            import_module(".".join(path.relative_to(REPOSITORY).with_suffix("").parts))


def pytest_sessionfinish() -> None:
    """Leave what is there at the end to no garbage collection; pytest collects twice, to warn of what is in cycles."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A required test that skips, whoever skipped it, has failed."""
    report = yield
    demanded = [mark for mark in _required() if item.get_closest_marker(mark)]
    if report.skipped and demanded and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"RAILFAB_REQUIRE demands {', '.join(demanded)}, but this was skipped: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def oracles() -> Path:
    """The folder of the vendors' models; for tests marked `oracle`."""
    return oracle_folder()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top of the clone."""
    return REPOSITORY
