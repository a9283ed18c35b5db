"""Settings for all tests: one thread, no screen, and a cache of compiled kernels that is not the user's."""

import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLLOC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
