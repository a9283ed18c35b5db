"""Attributes under names that users give: the signal "thrust" of a sample is `sample.thrust`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Generic, TypeVar

from colloc.support.checks import unknown_name

T = TypeVar("T")


class Named(Generic[T]):
    """A thing whose users give names to some of its attributes, and that lists all there are where a name is none.

    Names of users are in `dir`, so that they are completed. This is the one place beside packages where Python asks for
    attributes that it does not know: set on the thing itself, names would be read as well, but a slip would end in
    Python's own words, which know neither synonyms nor what there is.
    """

    _noun: ClassVar[str]  # what an attribute is called in messages: "quantity of a sample"

    def _named(self) -> Mapping[str, T]:
        """What has a name of the user's, by that name."""
        return {}

    def _legal(self) -> Iterable[str]:
        """The names of all attributes, in the order of messages."""
        return [name for name in dir(self) if not name.startswith("_")]

    def _no_attribute(self, name: str) -> str:
        """What to say of a name that is none."""
        return str(unknown_name(self._noun, name, self._legal()))

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._named()]

    def __getattr__(self, name: str) -> T:
        if name.startswith("_"):  # as Python asks while it copies a thing that has no attributes yet
            raise AttributeError(name)
        named = self._named()
        if name not in named:
            # AttributeError keeps hasattr and completion working; the text is the library's usual one.
            raise AttributeError(self._no_attribute(name))
        return named[name]
