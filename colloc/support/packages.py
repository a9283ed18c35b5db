"""Packages that list their public names, load some of them on first use, and refuse to be called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

from colloc.support.checks import InputError, unknown_name


class Package(ModuleType):
    """A package whose `dir` lists the public names, not its modules."""

    __all__: list[str]
    _lazy: Mapping[str, str]

    def __dir__(self) -> list[str]:
        return sorted(self.__all__)

    def __getattr__(self, name: str) -> Any:
        if name in self._lazy:
            module = import_module(self._lazy[name])
            return module if self._lazy[name] == f"{self.__name__}.{name}" else getattr(module, name)
        # AttributeError by Python's rules; the text is the library's usual one.
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(str(unknown_name(f"public name in {_short(self)}", name, self.__all__)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        called = _short(self)
        functions = ", ".join(f"{called}.{name}" for name in self.__all__)
        raise InputError(f"{called} is a package and cannot be called: try {functions}")


def register_public(name: str, lazy: Mapping[str, str] = MappingProxyType({})) -> None:
    """Turn the package of this name into a `Package`; called by the package, with its `__name__`.

    `lazy` maps names that are loaded on first use to their modules.
    """
    package = sys.modules[name]
    package.__class__ = Package
    vars(package)["_lazy"] = lazy


def _short(package: ModuleType) -> str:
    return package.__name__.replace("colloc", "co", 1)
