"""Executors on the workers of a cluster of Dask or Ray, by its address. Each library is imported when it is used."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from typing import Any, NamedTuple

from railfab.errors import RailfabError
from railfab.text.printable import printable
from railfab.text.remedies import install

TIMEOUT_S = 10
"""Time in which a scheduler answers, and has a worker [s]."""


class ClusterWorkers(NamedTuple):
    """An executor on a cluster, and the number of calls that it runs at once."""

    executor: Executor
    workers: int


@contextmanager
def dask_cluster(address: str) -> Iterator[ClusterWorkers]:
    """The workers of a scheduler of Dask, such as tcp://host:8786.

    Raises RailfabError where it does not answer or has no workers, and for a run that is lost with its worker.
    """
    where = f"--dask {address}"
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise RailfabError("--dask", "distributed is not installed", install("dask")) from None
    try:
        client = Client(address, timeout=TIMEOUT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        problem = f"no scheduler answers there: {_line(error)}"
        raise RailfabError(where, problem, "Start one with: dask scheduler") from None
    with _silenced("distributed"), client:
        try:
            client.wait_for_workers(1, timeout=TIMEOUT_S)
        except TimeoutError:
            remedy = f"Start some with: dask worker {address}"
            raise RailfabError(where, "the scheduler has no workers", remedy) from None
        try:
            yield ClusterWorkers(client.get_executor(pure=False), sum(client.nthreads().values()))
        except (KilledWorker, CommClosedError, CancelledError) as error:
            raise _lost(where, error) from None
        except (ImportError, OSError) as error:
            raise _unable(where, error) from None


@contextmanager
def _silenced(library: str) -> Iterator[None]:
    """Keep what a library logs from the log, where that has errors only: the one that ends a sweep is its line."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == library]
    loggers = [] if logging.root.isEnabledFor(logging.INFO) else [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def ray_cluster(address: str) -> Iterator[ClusterWorkers]:
    """The workers of a cluster of Ray, such as host:6379.

    Raises RailfabError where it does not answer, and for a run that is lost with its worker.
    """
    where = f"--ray {address}"
    try:
        import ray
    except ImportError:
        raise RailfabError("--ray", "ray is not installed", install("ray")) from None
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        # Ray itself tries for minutes.
        socket.create_connection((host, int(port)), timeout=TIMEOUT_S).close()
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (OSError, ValueError, RuntimeError) as error:
        problem = f"no cluster answers there: {_line(error)}"
        raise RailfabError(where, problem, "Start one with: ray start --head") from None
    try:
        yield ClusterWorkers(_RayExecutor(ray), int(ray.cluster_resources().get("CPU", 1)))
    except ray.exceptions.RayTaskError as error:
        raise error.cause if isinstance(error.cause, RailfabError) else _unable(where, error.cause) from None
    except (ray.exceptions.RayError, CancelledError) as error:
        raise _lost(where, error) from None
    finally:
        ray.shutdown()


class _RayExecutor(Executor):
    """Calls as tasks of Ray."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = self._ray.remote(function).remote(*arguments, **named).future()
        return future


def _lost(where: str, error: BaseException) -> RailfabError:
    problem = f"a run was lost ({_line(error)}); the results so far are kept"
    return RailfabError(where, problem, "Give the same command again, when scheduler and workers are up")


def _unable(where: str, error: BaseException) -> RailfabError:
    problem = f"a worker cannot run it: {_line(error)}"
    remedy = "Workers need the same railfab, and the files of intents and jobs at the same paths"
    return RailfabError(where, problem, remedy)


def _line(error: BaseException) -> str:
    """The first line of an error, or its class."""
    lines = printable(str(error)).splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
