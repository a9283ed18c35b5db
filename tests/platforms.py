"""Tests that need a module or a facility that Windows does not have are skipped there, by its name."""

import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest

_ELSEWHERE = ("pinocchio", "coal", "resource", "fcntl", "pwd")


def needs_unix(facility: str) -> pytest.MarkDecorator:
    """A mark of tests that need something that Unix has and Windows has not."""
    return pytest.mark.skipif(sys.platform == "win32", reason=f"needs {facility}, which Windows does not have")


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
        pytest.skip(f"needs {self.__name__}, which Windows does not have", allow_module_level=True)
