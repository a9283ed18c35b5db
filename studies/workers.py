"""Workers of studies with many problems: worker processes of this machine, or of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from colloc.studies.reporting import Option

WORKERS = (
    Option("workers", 2, "worker processes", least=1),
    Option("scheduler", "", "address of a Dask scheduler whose workers compute in their place"),
)


@contextmanager
def workers(count: int, scheduler: str) -> Iterator[Executor | int]:
    """The executor of `co.sweep` and `co.multistart` for what the command line says."""
    if not scheduler:
        yield count
        return
    from dask.distributed import Client  # pyright: ignore[reportMissingImports]

    with Client(scheduler) as client:
        yield client.get_executor()
