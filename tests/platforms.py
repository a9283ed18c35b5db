"""Tests on other platforms.

Those that need a module or a facility that Windows does not have are skipped there, by its name. Those that wait for
processes wait longer where Python starts slowly, as under emulation.
"""

import importlib.util
import subprocess
import sys
import time
from functools import cache
from types import ModuleType
from typing import Any

import pytest

_ELSEWHERE = ("pinocchio", "coal", "resource", "fcntl", "pwd")
_START = 0.1  # s, in which a Python starts unless it is emulated or the machine is busy


def needs_unix(facility: str) -> None:
    """Skip the test that calls this on Windows."""
    if sys.platform == "win32":
        pytest.skip(f"needs {facility}, which Windows does not have", allow_module_level=True)


def patience(seconds: float) -> float:
    """Time limit for what a started process does [s]: `seconds`, or more where Python starts slowly."""
    return seconds * max(1.0, _seconds_to_start() / _START)


@cache
def _seconds_to_start() -> float:
    """Time in which a Python starts, imports a module and ends [s]."""
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", "import subprocess"], check=True)
    return time.monotonic() - begin


def stand_in_for_modules() -> None:
    """Let modules that Windows does not have be imported there: a test that uses one is skipped."""
    for name in _ELSEWHERE:
        if sys.platform == "win32" and importlib.util.find_spec(name) is None:
            sys.modules[name] = _Missing(name)


class _Missing(ModuleType):
    """A module in the place of one that does not exist."""

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        needs_unix(self.__name__)
