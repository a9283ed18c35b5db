"""Attributes with users' names: the signal "thrust" of a sample is `sample.thrust`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Generic, TypeVar

from colloc.support.checks import unknown_name

T = TypeVar("T")


class Named(Generic[T]):
    """An object with attributes named by users; an unknown name raises an error that lists all of them.

    Users' names are in `dir`, so that they are completed. They are looked up by `__getattr__`, so that the error for an
    unknown name can suggest others, which Python's cannot.
    """

    _noun: ClassVar[str]  # what an attribute is called in messages: "quantity of a sample"

    def _named(self) -> Mapping[str, T]:
        return {}

    def _value(self, name: str) -> T:
        """The value of a user's name."""
        return self._named()[name]

    def _legal(self) -> Iterable[str]:
        """The names of all attributes, in the order of messages."""
        return [name for name in dir(self) if not name.startswith("_")]

    def _no_attribute(self, name: str) -> str:
        """The message for an unknown name."""
        return str(unknown_name(self._noun, name, self._legal()))

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._named()]

    def __getattr__(self, name: str) -> T:
        if name.startswith("_"):  # as Python asks while it copies a thing that has no attributes yet
            raise AttributeError(name)
        if name not in self._named():
            # AttributeError keeps hasattr and completion working; the text is the library's usual one.
            raise AttributeError(self._no_attribute(name))
        return self._value(name)
