"""Values computed on first use and kept, once for all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from colloc.support.interrupts import InterruptGuard

_table = threading.RLock()
_making: dict[tuple[int, str], _Lock] = {}  # what is being made, by object and name


class _CachedProperty:
    """An attribute that one thread computes on first use, while others wait for it.

    Since Python 3.12 that of functools lets several threads compute the same attribute: expressions would mix symbols
    of both. Up to Python 3.11 it has one lock for all objects of a class, by which independent threads wait for each
    other. Here each attribute of each object has a lock. Attributes do not depend on each other in circles, so that no
    deadlock occurs.

        class Circle:
            @cached_property
            def area(self): return np.pi * self.radius**2
    """

    def __init__(self, make: Callable[[Any], Any], keeper: Callable[[Any], object] = lambda instance: instance):
        self.func, self._keeper, self.__doc__ = make, keeper, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        if self.__doc__ is None:  # inherited, as that of a property
            self.__doc__ = next((vars(base)[name].__doc__ for base in owner.__mro__[1:] if name in vars(base)), None)

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        # Where an instance keeps its own values, Python comes here only as long as it has none of this name.
        if instance is None:
            return self
        keeper = self._keeper(instance)
        key, values = (id(keeper), self._name), vars(keeper)
        with _table:
            making = _making.setdefault(key, _Lock())
            making.threads += 1
        try:
            with making.lock:
                if self._name not in values:
                    with InterruptGuard():
                        made = self.func(instance)
                    values[self._name] = made
                return values[self._name]
        finally:
            with _table:
                making.threads -= 1
                if not making.threads:
                    _making.pop(key, None)


class _Lock:
    """A lock, and the number of threads that have it or wait for it."""

    def __init__(self) -> None:
        self.lock, self.threads = threading.RLock(), 0


if TYPE_CHECKING:  # checkers compare properties with those of a Protocol, other descriptors they do not
    cached_property = property

    def kept_by(attribute: str) -> type[property]: ...

else:
    cached_property = _CachedProperty

    def kept_by(attribute: str) -> Callable[[Callable[[Any], Any]], _CachedProperty]:
        """As `cached_property`, with values kept by an attribute of the object, common to all that share it."""
        return lambda make: _CachedProperty(make, attrgetter(attribute))


class LateTuple(Sequence[Any]):
    """A tuple that is made when its items are first asked for."""

    def __init__(self, make: Callable[[], tuple[Any, ...]]):
        self._make = make

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    @cached_property
    def items(self) -> tuple[Any, ...]:
        """The tuple."""
        return self._make()
