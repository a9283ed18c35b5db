"""Tests that need a module or a facility that Windows does not have are skipped there, by its name."""

import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest

_ELSEWHERE = ("pinocchio", "coal", "resource", "fcntl", "pwd")


def needs_unix(facility: str) -> None:
    """Skip the test that calls this on Windows."""
    if sys.platform == "win32":
        pytest.skip(f"needs {facility}, which Windows does not have", allow_module_level=True)


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
