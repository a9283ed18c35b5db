"""Objects made of symbols and functions as bytes, for other processes.

CasADi's symbols are equal by identity only, which pickles do not keep: one symbol in a model's mass and in a constraint
would become two. All symbols of an object are therefore serialised together, and the object refers to them by number.
Functions of a module are pickled by name, as usual; lambdas and functions inside functions by value, including symbols
in their closures, if cloudpickle is installed.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from functools import cache, reduce
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Self

import casadi as ca

from colloc.support.checks import InputError
from colloc.support.lazy import cached_property

_PROTOCOL = 4  # of pickle's descriptions of objects


class Portable:
    """An immutable object of symbols and functions: pickled with all its symbols, and returned itself as its copy.

    Attributes that are computed on first use are not pickled.
    """

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpacked, _packed(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        # As functions and tuples of constants are: a function of the caller's knows the symbols that there are.
        return self


def _packed(thing: Portable) -> tuple[str, bytes]:
    """All symbols and expressions in an object, and the object without them."""
    buffer, expressions = io.BytesIO(), []
    _pickler()(buffer, expressions).dump(thing)
    serializer = ca.StringSerializer()
    serializer.pack(expressions)
    return serializer.encode(), buffer.getvalue()


def _unpacked(serialized: str, content: bytes) -> Any:
    return _Unpickler(io.BytesIO(content), ca.StringDeserializer(serialized).unpack()).load()


class _Unpickler(pickle.Unpickler):
    """The inverse of the pickler below."""

    def __init__(self, file: io.BytesIO, expressions: list[ca.SX]):
        super().__init__(file)
        self._expressions = expressions

    def persistent_load(self, number: int) -> ca.SX:
        return self._expressions[number]


@cache
def _pickler() -> Callable[[io.BytesIO, list[ca.SX]], pickle.Pickler]:
    """The class of the pickler: cloudpickle's if it is installed, loaded on first use."""
    try:
        import cloudpickle  # pyright: ignore[reportMissingImports]
    except ImportError:
        cloudpickle = None
    base: Any = pickle.Pickler if cloudpickle is None else cloudpickle.Pickler

    class Pickler(base):
        def __init__(self, file: io.BytesIO, expressions: list[ca.SX]):
            super().__init__(file)
            self._expressions = expressions

        def persistent_id(self, obj: Any) -> int | None:
            """Number of an expression; None for all other objects."""
            if type(obj) is not ca.SX:
                return None
            self._expressions.append(obj)
            return len(self._expressions) - 1

        def reducer_override(self, obj: Any) -> Any:
            """Parts of an object; NotImplemented for the default."""
            if isinstance(obj, MappingProxyType):
                return _read_only, (dict(obj),)
            if (fields := _fields(obj)) is not None:
                return *object.__reduce_ex__(obj, _PROTOCOL)[:2], fields
            if cloudpickle is not None:
                return super().reducer_override(obj)
            if isinstance(obj, FunctionType) and not _has_name(obj):
                where = f"{obj.__code__.co_filename}, line {obj.__code__.co_firstlineno}"
                raise InputError(
                    f"{obj.__qualname__} ({where}) cannot be sent to another process: lambdas and functions inside "
                    "functions need cloudpickle (pip install 'colloc[cluster]'); functions of a module do not"
                )
            return NotImplemented

    return Pickler


def _read_only(values: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(values)  # itself a class that no module has by its name


def _fields(obj: Any) -> dict[str, Any] | None:
    """The attributes of an object without those computed on first use; None for other types."""
    kind = type(obj)
    if isinstance(obj, type | ModuleType) or kind.__reduce__ is not object.__reduce__:
        return None
    values = getattr(obj, "__dict__", {})
    fields = {k: v for k, v in values.items() if not isinstance(getattr(kind, k, None), cached_property)}
    return fields if isinstance(obj, Portable) or len(fields) < len(values) else None


def _has_name(function: FunctionType) -> bool:
    try:
        return reduce(getattr, function.__qualname__.split("."), sys.modules[function.__module__]) is function
    except (KeyError, AttributeError):
        return False
