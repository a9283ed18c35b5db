"""Reading XML files of models: elements, texts and numbers, with errors that name the line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from xml.etree.ElementTree import Element
from xml.parsers import expat

import numpy as np

from colloc.formats.numbers import parse_numbers
from colloc.support.checks import InputError, quoted
from colloc.support.files import read_whole

_LARGEST = 100_000_000  # bytes
_DEEPEST = 1000  # elements within each other


class Tag(Element):
    """An element with its line in the file."""

    line = 0


def read_root(path: str | os.PathLike[str], kind: str, tag: str) -> Tag:
    """The root element of a file of a kind, such as "URDF", and its tag.

    InputError for a file that cannot be read, is larger than 100 MB, has a document type or another root.
    """
    return root_of(read_whole(path, kind, _LARGEST), path, kind, tag)


def root_of(content: bytes, path: str | os.PathLike[str], kind: str, tag: str) -> Tag:
    """The root element of the content of a file; as `read_root`."""
    try:
        root = _parsed(content, kind)
    except (expat.ExpatError, ValueError, LookupError) as error:  # the others are of encodings
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(path)!r} cannot be read as a {kind}: {error}") from None
    if root.tag != tag:
        raise InputError(f"{str(path)!r} is no {kind}: its root is <{root.tag}>, not <{tag}>")
    return root


def _parsed(content: bytes, kind: str) -> Tag:
    """The elements of a text without a document type, whose entities could expand or name other files."""
    parser = expat.ParserCreate()
    top = Tag("")
    open_elements, texts = [top], [list[str]()]  # and the pieces of their texts

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Tag(name, attributes)
        element.line = parser.CurrentLineNumber
        if len(open_elements) > _DEEPEST:
            raise wrong(element, f"a {kind} has at most {_DEEPEST} elements within each other")
        open_elements[-1].append(element)
        open_elements.append(element)
        texts.append([])

    def end(name: str) -> None:
        pieces, element = texts.pop(), open_elements.pop()
        element.text = "".join(pieces) if pieces else None

    def text(characters: str) -> None:
        if not len(open_elements[-1]):
            texts[-1].append(characters)

    def refuse(name: str, *_: Any) -> None:
        line = parser.CurrentLineNumber
        raise InputError(f"a {kind} has no document type, got <!DOCTYPE {name}> (line {line})")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, refuse
    parser.Parse(content, True)
    root: Any = top[0]
    return root


def wrong(element: Element, message: str) -> InputError:
    """The error for an element, with its line."""
    return InputError(f"{message} (line {element.line})" if isinstance(element, Tag) else message)


@contextmanager
def lines_of(element: Element) -> Iterator[None]:
    """A context in which errors name the line of an element, unless they name another."""
    try:
        yield
    except InputError as error:
        raise error if "(line " in str(error) else wrong(element, str(error)) from None


def others(element: Element, known: Sequence[str]) -> list[str]:
    """Tags of children except the known ones."""
    return [child.tag for child in element if child.tag not in known]


def by_name(element: Element, tag: str) -> Mapping[str, Element]:
    """The children of a kind by their names, which must be unique."""
    children: dict[str, Element] = {}
    for child in element.findall(tag):
        name = text_of(child, "name", f"a {tag}")
        if name in children:
            raise wrong(child, f"two {tag}s are named {name!r}; names must be unique")
        children[name] = child
    return children


def child_of(element: Element, tag: str, what: str, *, optional: bool = False) -> Any:
    """The only child with a tag; None if it is optional and missing."""
    children = element.findall(tag)
    if len(children) > 1 or (not children and not optional):
        raise wrong(element, f"{what} must have one <{tag}>, got {len(children)}")
    return children[0] if children else None


def text_of(element: Element, key: str, what: str) -> str:
    """The text of a required attribute."""
    value = element.get(key)
    if not value:
        raise wrong(element, f"{what} must have {key}=, got <{element.tag}> with {dict(element.attrib)}")
    return value


def number_of(element: Element, key: str, what: str, default: float | None = None) -> float:
    """An attribute that is a finite number."""
    value = element.get(key)
    if value is None and default is not None:
        return default
    return float(_numbers(element, value, 1, f"{key} of {what}")[0])


def vector_of(element: Element, key: str, what: str, default: str | None = None) -> np.ndarray:
    """An attribute that is three finite numbers, shape (3,)."""
    return _numbers(element, element.get(key, default), 3, f"{key} of {what}")


def numbers_in(element: Element, tag: str, count: int | None, what: str, default: str | None = None) -> np.ndarray:
    """The finite numbers in a child, shape (count,), or of any number if count is None."""
    child = element.find(tag)
    text = default if child is None or not (child.text or "").strip() else child.text
    return _numbers(element if child is None else child, text, count, f"<{tag}> of {what}")


def _numbers(element: Element, value: str | None, count: int | None, what: str) -> np.ndarray:
    try:
        numbers = np.array(parse_numbers(value or ""))
    except ValueError:
        numbers = np.array([])
    if numbers.size != (count or numbers.size) or not numbers.size or not np.isfinite(numbers).all():
        wanted = "a finite number" if count == 1 else f"{count or 'some'} finite numbers"
        raise wrong(element, f"{what} must be {wanted}, got {quoted(value)}")
    return numbers
