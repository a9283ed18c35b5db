"""Values made on first use and kept, once for all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from colloc.support.interrupts import InterruptGuard

_table = threading.RLock()
_making: dict[tuple[int, str], _Lock] = {}  # what is being made, by object and name


class _CachedProperty:
    """An attribute that is computed when it is first asked for, by one thread, while others that ask wait.

    As in functools, whose own since Python 3.12 lets several threads compute the same attribute: each would get symbols
    of its own, and expressions in symbols of both. Up to Python 3.11 it has a lock for all objects of a class instead,
    by which independent threads wait for each other. The lock here is that of one attribute of one object. What an
    attribute is made of is never made of it, so that no threads wait for each other in a circle.

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
    """A lock, and how many threads have or want it."""

    def __init__(self) -> None:
        self.lock, self.threads = threading.RLock(), 0


if TYPE_CHECKING:  # checkers compare properties with those of a Protocol, other descriptors they do not
    cached_property = property

    def kept_by(attribute: str) -> type[property]: ...

else:
    cached_property = _CachedProperty

    def kept_by(attribute: str) -> Callable[[Callable[[Any], Any]], _CachedProperty]:
        """As `cached_property`, with the values kept by an attribute of the object, for all that share this."""
        return lambda make: _CachedProperty(make, attrgetter(attribute))
