"""Settings for all tests: processes, one thread in each, no screen, and a cache of kernels that is not the user's."""

import os
import signal
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of what a shell starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A process for every core when whole directories run; chosen files run in this one, which starts at once."""
    return None if all(Path(argument).is_dir() for argument in config.args) else 0


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLLOC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
