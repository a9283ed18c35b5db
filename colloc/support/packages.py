"""Packages as their users see them: the public names, and what to do where a package is called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

from colloc.support.checks import InputError, unknown_name


class Package(ModuleType):
    """A package whose modules are no names of its users': `dir` lists what is public."""

    __all__: list[str]
    _later: Mapping[str, str]

    def __dir__(self) -> list[str]:
        return sorted(self.__all__)

    def __getattr__(self, name: str) -> Any:
        if name in self._later:
            module = import_module(self._later[name])
            return module if self._later[name] == f"{self.__name__}.{name}" else getattr(module, name)
        # AttributeError by Python's rules; the text is the library's usual one.
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(str(unknown_name(f"public name in {_short(self)}", name, self.__all__)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        called = _short(self)
        functions = ", ".join(f"{called}.{name}" for name in self.__all__)
        raise InputError(f"{called} is a package and cannot be called: call one of its functions, {functions}")


def present(name: str, later: Mapping[str, str] = MappingProxyType({})) -> None:
    """Make a package one that its users see like this; it calls this itself, with its `__name__`.

    Names of `later` are loaded on first use, from the modules that it tells of them.
    """
    package = sys.modules[name]
    package.__class__ = Package
    vars(package)["_later"] = later


def _short(package: ModuleType) -> str:
    """co.plot"""
    return package.__name__.replace("colloc", "co", 1)
