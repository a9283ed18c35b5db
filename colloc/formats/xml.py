"""Reading XML files of models: elements, texts and numbers, with errors that say where in the file they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from colloc.support.checks import InputError, quoted
from colloc.support.files import check_path

_LARGEST = 100_000_000  # bytes


class _WithoutTypes(ElementTree.TreeBuilder):
    """A tree of elements from a file without a document type, and so without entities."""

    def __init__(self, kind: str):
        super().__init__()
        self.kind = kind

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError(f"a {self.kind} has no document type, got <!DOCTYPE {name}>")


def read_root(path: str | os.PathLike[str], kind: str, tag: str) -> Element:
    """The root element of a file of a kind, such as "URDF", and its tag.

    InputError for a file that cannot be read, is larger than 100 MB, has a document type or another root.
    """
    file = check_path(path)
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            raise InputError(f"{str(path)!r} is no file of at most {_LARGEST // 1_000_000} MB")
        root = ElementTree.fromstring(file.read_bytes(), ElementTree.XMLParser(target=_WithoutTypes(kind)))
    except (OSError, ElementTree.ParseError, UnicodeError, LookupError) as error:  # unknown encodings are LookupErrors
        raise InputError(f"{str(path)!r} cannot be read as a {kind}: {error}") from None
    if root.tag != tag:
        raise InputError(f"{str(path)!r} is no {kind}: its root is <{root.tag}>, not <{tag}>")
    return root


def check_children(element: Element, what: str, legal: Sequence[str]) -> None:
    """InputError for a child of another kind than the legal ones; `what` says in messages which element it is."""
    for child in element:
        if child.tag not in legal:
            raise InputError(f"{what} has a <{child.tag}>, which is not read (read or passed over: {', '.join(legal)})")


def by_name(element: Element, tag: str) -> dict[str, Element]:
    """The children of a kind by their names, which must be unique."""
    children: dict[str, Element] = {}
    for child in element.findall(tag):
        name = text_of(child, "name", f"a {tag}")
        if name in children:
            raise InputError(f"two {tag}s are named {name!r}; names must be unique")
        children[name] = child
    return children


def child_of(element: Element, tag: str, what: str, *, optional: bool = False) -> Any:
    """The only child of a kind; None where there is none and it is optional."""
    children = element.findall(tag)
    if len(children) > 1 or (not children and not optional):
        raise InputError(f"{what} must have one <{tag}>, got {len(children)}")
    return children[0] if children else None


def text_of(element: Element, key: str, what: str) -> str:
    """An attribute that must be there."""
    value = element.get(key)
    if not value:
        raise InputError(f"{what} must have {key}=, got <{element.tag}> with {dict(element.attrib)}")
    return value


def number_of(element: Element, key: str, what: str, default: float | None = None) -> float:
    """An attribute that is a finite number."""
    value = element.get(key)
    if value is None and default is not None:
        return default
    return float(_numbers(value, 1, f"{key} of {what}")[0])


def vector_of(element: Element, key: str, what: str, default: str | None = None) -> np.ndarray:
    """An attribute that is three finite numbers, shape (3,)."""
    return _numbers(element.get(key, default), 3, f"{key} of {what}")


def _numbers(value: str | None, count: int, what: str) -> np.ndarray:
    try:
        numbers = np.array([float(part) for part in (value or "").split()])
    except ValueError:
        numbers = np.array([])
    if numbers.size != count or not np.isfinite(numbers).all():
        wanted = "a finite number" if count == 1 else f"{count} finite numbers"
        raise InputError(f"{what} must be {wanted}, got {quoted(value)}")
    return numbers
