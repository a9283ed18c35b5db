"""Settings for all tests: processes of one thread, no screen, a cache of kernels that is not the user's, tiers."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import tiers
from tests.platforms import stand_in_for_modules

stand_in_for_modules()
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of what a shell starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A process for every core when whole directories run; chosen files run in this one, which starts at once."""
    return None if whole_directories(config) else 0


def whole_directories(config: pytest.Config) -> bool:
    """Whether no single file or test is asked for."""
    return all(Path(argument).is_dir() for argument in config.args)


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLLOC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


_clock, _measured = tiers.Clock(), tiers.Measured()
_SHOWN = 10  # tests that a summary names for taking too long


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--measure", action="store_true", help="record in tests/durations.json what the tests take")


def pytest_configure(config: pytest.Config) -> None:
    """Long tests are left out unless they are asked for, by a file, by -m, or to be measured."""
    if whole_directories(config) and not config.getoption("-m") and not config.getoption("--measure"):
        config.option.markexpr = "not long"


@pytest.hookimpl(tryfirst=True)  # before those that -m leaves out are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tiers.mark(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    _clock.begin()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    with _clock.set_up(fixturedef):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.when == "teardown":
        _clock.stop(item)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        _measured.add(report)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tests that exceed the requested tier; a run of all tests is no tier, and may be on a slow machine."""
    if config.getoption("--measure"):
        _measured.save()
    elif config.getoption("-m") in tiers.LIMITS:
        lines = _measured.too_long()
        for line in lines[:_SHOWN]:
            terminalreporter.write_line(f"{line}: make it shorter, or list it by --measure")
        if len(lines) > _SHOWN:
            terminalreporter.write_line(f"(+{len(lines) - _SHOWN} more)")
