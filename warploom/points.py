"""Independent points of work, each computed by a worker process of Dask: of this machine, or of a cluster."""

import contextlib
import gc
import logging
import multiprocessing
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import resource_tracker
from typing import Any, TypeVar

import dask
from distributed import Client, Future, LocalCluster, Worker, WorkerPlugin, as_completed
from distributed.scheduler import KilledWorker

from warploom import processes
from warploom.arch.errors import ExecutionError, ToolError, WarploomError, one_line
from warploom.placement import workers as placement

logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it reports connections that end as we end workers

P = TypeVar("P")
R = TypeVar("R")

CONNECT = 10
"""Seconds in which a cluster's scheduler must answer."""

_SETTINGS = {
    "logging.distributed": "critical",
    "distributed.scheduler.allowed-failures": 0,  # a point that killed its worker would kill others
    "distributed.scheduler.worker-saturation": 1.0,  # no other point waits in a worker that is killed
}

_CLOSE = 5
"""Seconds for workers to end by themselves."""


class _Prepare(WorkerPlugin):
    """A worker of this machine starts, on its core if it is to stay on one. Like its parent, it uses the model's
    compiled modules or not, and collects garbage as often."""

    def __init__(self, *, as_compiled: bool, cores: Sequence[int]) -> None:
        self._as_compiled, self._cores, self._collecting = as_compiled, cores, gc.get_threshold()

    def setup(self, worker: Worker) -> None:
        """As Dask calls it."""
        gc.set_threshold(*self._collecting)
        if self._cores:
            os.sched_setaffinity(0, {self._cores[worker.name]})
        if self._as_compiled:
            from warploom import compiled  # noqa: PLC0415  (it imports what may be compiled)

            compiled.use()


def compute(
    function: Callable[[P], R], points: Iterable[P], scheduler: str | None = None, *, placed: bool = False
) -> Generator[tuple[P, R | WarploomError], None, None]:
    """Each point with the function's result, or with the error that it raised, as they end; the first points start
    first. There is a worker for each processor that this process may use, which stays there if `placed`
    (docs/placement.md, *Workers*), but no more than points; or those of the cluster with this address.

    Function, points and results are pickled. Workers end with the body that uses this, or with this process. Raises
    `ToolError` if no cluster answers, and what the function raises that is no `WarploomError`.
    """
    points = list(points)
    if not points:
        return
    with _remote(scheduler) if scheduler else _local(len(points), placed) as client:
        with processes.interrupts_later():
            futures = client.map(function, points, pure=False, key="point")
        numbers = {future.key: number for number, future in enumerate(futures)}
        for batch in as_completed(futures).batches():
            for future, result in _results(client, batch):
                yield points[numbers[future.key]], result


def _results(client: Client, batch: Sequence[Future[Any]]) -> Iterator[tuple[Future[Any], Any]]:
    """The results of points that have ended, all of them with one request, or their errors."""
    finished: list[Future[Any]] = []
    others: list[Future[Any]] = []
    for future in batch:  # the status of one may change at any time
        (finished if future.status == "finished" else others).append(future)
    yield from zip(finished, client.gather(finished), strict=True)
    yield from ((future, _outcome(future)) for future in others)


def _outcome(future: Future[Any]) -> Any:
    """The error of a point, or its result if that was lost with its worker and has been computed again. Raises what is
    no error of ours."""
    try:
        return future.result()
    except WarploomError as error:
        return error
    except KilledWorker:
        return ExecutionError("a worker was killed, perhaps for lack of memory: close other programs and run this "
                              "again; cached results are not computed again")
    except (ImportError, RuntimeError) as error:
        absent = error if isinstance(error, ImportError) else error.__cause__
        if not isinstance(absent, ImportError):
            raise
        raise ToolError(f"the cluster can't load this version of Warploom ({one_line(str(absent))}): install it where "
                        "scheduler and workers run") from None


@contextlib.contextmanager
def _local(most: int, placed: bool) -> Iterator[Client]:
    """A worker for each processor, at most this number."""
    from warploom import compiled  # noqa: PLC0415  (it uses the cache, which uses modules beside this one)

    available = placement.available()
    count = min(most, len(available) or os.cpu_count() or 1)
    cores = placement.cores(count, available) if placed else []
    resource_tracker.ensure_running()  # when it starts it unblocks interrupts, which workers would inherit
    with contextlib.ExitStack() as opened:
        # Workers start with interrupts blocked: this process gets them, and ends all.
        with processes.interrupts_later(), dask.config.set(_SETTINGS):
            cluster = LocalCluster(
                n_workers=count, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0,
                silence_logs=logging.CRITICAL)
            opened.callback(_close, cluster)
            client = Client(cluster)
            opened.callback(_close, client)
            opened.push(partial(_kill, cluster))
            client.register_plugin(_Prepare(as_compiled=compiled.in_use(), cores=cores))
        yield client


def _kill(cluster: LocalCluster, kind: type[BaseException] | None, *_: object) -> None:
    """End the workers at once if an error, or the end of who uses them, stops the work."""
    if kind is not None:
        for nanny in cluster.workers.values():
            nanny.auto_restart = False
        for process in multiprocessing.active_children():
            process.kill()


def _close(opened: Client | LocalCluster) -> None:
    with contextlib.suppress(TimeoutError):
        opened.close(timeout=_CLOSE)


@contextlib.contextmanager
def _remote(address: str) -> Iterator[Client]:
    """The workers of a cluster."""
    try:
        client = Client(address, timeout=CONNECT)
    except (OSError, ValueError, TypeError) as error:
        raise ToolError(f"--scheduler {address}: no scheduler of Dask answers there ({one_line(str(error))}): give the "
                        "address that `dask scheduler` prints, such as tcp://host:8786") from None
    try:
        if not client.scheduler_info()["workers"]:
            raise ToolError(f"--scheduler {address}: it has no workers: start some with `dask worker {address}`")
        yield client
    finally:
        _close(client)
