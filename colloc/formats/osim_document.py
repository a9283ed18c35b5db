"""Files of OpenSim as components by their paths, in either of the two ways in which its versions write them.

Since version 4 a component names others by paths, as /bodyset/femur or ../femur_offset. Versions 2 and 3 have joints
inside the bodies they carry, and name bodies and coordinates.
"""

from __future__ import annotations

import itertools
import os
import posixpath
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import casadi as ca
import numpy as np

from colloc.formats.numbers import parse_count
from colloc.formats.xml import numbers_in, read_root, wrong
from colloc.model.coupling import Coupling
from colloc.model.functions import CubicSpline, Polynomial, RoundedLine
from colloc.support.checks import InputError, shortened

OLDEST, NEW = 20001, 40000  # versions: the first that is read, and the first with paths
_BETWEEN = range(30500, NEW)  # unreleased ways of writing paths
_SETS = {
    "BodySet": "bodyset", "JointSet": "jointset", "ConstraintSet": "constraintset", "ForceSet": "forceset",
    "MarkerSet": "markerset", "ContactGeometrySet": "contactgeometryset", "ControllerSet": "controllerset",
    "ProbeSet": "probeset", "ComponentSet": "componentset",
}  # fmt: skip
_FUNCTIONS = (
    "Constant", "LinearFunction", "PolynomialFunction", "SimmSpline", "PiecewiseLinearFunction", "MultiplierFunction",
)  # fmt: skip
_STRAIGHT = 1e-5  # of the largest value, by which points of a line may be off it: digits of files
_OUT_OF_DATE = "load it in OpenSim 4 and save it again, as by opensim.Model(path).printToXML(path)"


class Component(NamedTuple):
    """An element of the file that is a part of the model."""

    path: str
    element: Element

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rsplit("/", 1)[-1]


class PlacedFrame(NamedTuple):
    """A frame fixed in a body, or in the world."""

    body: str | None
    placement: ca.SX


class OsimDocument:
    """The components of a file by their paths; InputError for other files and unknown versions."""

    def __init__(self, path: str | os.PathLike[str]):
        root = read_root(path, "model of OpenSim", "OpenSimDocument")
        version = root.get("Version", "")
        try:
            number = parse_count(version)
        except ValueError:
            number = 0
        if number < OLDEST or number in _BETWEEN:
            raise wrong(root, f"the file is of version {version[:20] or 'none'} of OpenSim's format: {_OUT_OF_DATE}")
        self.old = number < NEW
        models = root.findall("Model")
        if len(models) != 1:
            raise wrong(
                root, f"an OpenSim file has one <Model>, got {', '.join(child.tag for child in root) or 'none'}"
            )
        self.model = models[0]
        defaults = [] if (of_kinds := self.model.find("defaults")) is None else list(of_kinds)
        self._defaults = {element.tag: element for element in (*root.findall("defaults/*"), *defaults)}
        self.parts: dict[str, Component] = {}
        self.renamed: list[tuple[str, str]] = []  # markers whose name another one has, as OpenSim renames them
        for component in self._components():
            if component.path in self.parts:
                if component.element.tag != "Marker":
                    raise wrong(component.element, f"two components are {component.path!r}; names must be unique")
                number = next(k for k in itertools.count() if f"{component.path}_{k}" not in self.parts)
                self.renamed.append((component.name, f"{component.name}_{number}"))
                component = component._replace(path=f"{component.path}_{number}")
            self.parts[component.path] = component

    def _components(self) -> Iterator[Component]:
        for child in self.model:
            place = "" if child.tag == "components" else f"/{child.get('name') or _SETS.get(child.tag, '')}"
            listed = child if child.tag == "components" else child.find("objects")
            if child.tag != "components" and child.tag not in _SETS:
                continue
            for element in [] if listed is None else listed:
                yield from self._within(place, element)

    def _within(self, place: str, element: Any) -> Iterator[Component]:
        """A component and its children: frames, coordinates, and in old versions the joint of a body."""
        path = f"{place}/{element.get('name') or f'{element.tag}_in_line_{element.line}'}"
        yield Component(path, element)
        for owned in ("frames", "components", "coordinates", "CoordinateSet/objects"):
            for child in element.findall(f"{owned}/*"):
                yield from self._within(path, child)
        for child in element.findall("Joint/*") if self.old else ():
            yield from self._within("/jointset", child)

    def all(self, *tags: str) -> Iterator[Component]:
        """Components of some kinds, in the order of the file."""
        return (part for part in self.parts.values() if part.element.tag in tags)

    def socket(self, owner: Component, name: str, old: str = "") -> str:
        """Path of the component that another names, by a socket or by an element of old versions."""
        text = (owner.element.findtext(f"socket_{name}") or (old and owner.element.findtext(old)) or "").strip()
        if not text:
            raise wrong(owner.element, f"{owner.path!r} names no {name.replace('_', ' ')}")
        return self.resolved(owner, text)

    def resolved(self, owner: Component, text: str) -> str:
        """The absolute path; a single name is searched inside the owner, beside it, and among the bodies."""
        if text.lstrip("/") == "ground" or text.endswith("/ground"):
            return "/ground"
        places = (
            [text] if text.startswith("/") else [f"{owner.path}/{text}", f"{owner.path}/../{text}", f"/bodyset/{text}"]
        )
        if self.old and "/" not in text:  # a body's, though joints may have the same
            places = places[-1:]
        for place in map(posixpath.normpath, places):
            if place in self.parts:
                return place
        raise wrong(owner.element, f"{owner.path!r} names {text!r}, which the file does not have")

    def value(self, owner: Component, tag: str, default: str = "") -> str:
        """The text of a property: of the component, of the file's defaults for its kind, or OpenSim's default."""
        for element in (owner.element, self._defaults.get(owner.element.tag)):
            child = None if element is None else element.find(tag)
            if child is not None and (child.text or "").strip():
                return (child.text or "").strip()
        return default

    def numbers(self, owner: Component, tag: str, count: int, default: str | None = None) -> np.ndarray:
        """The numbers of a property, see `value`, shape (count,)."""
        own = owner.element if owner.element.find(tag) is not None else self._defaults.get(owner.element.tag)
        return numbers_in(owner.element if own is None else own, tag, count, f"{owner.path!r}", default)

    def number(self, owner: Component, tag: str, default: float | None = None) -> float:
        return float(self.numbers(owner, tag, 1, None if default is None else repr(default))[0])

    def flag(self, owner: Component, tag: str) -> bool:
        """Whether a property is there and true."""
        return self.value(owner, tag).lower() == "true"


def coupling_of(function: Element, coordinate: str, what: str) -> Coupling:
    """A function as a coupling to a coordinate; a constant has the ratio zero. InputError for unknown kinds."""
    kind = function.tag
    if kind == "Constant":
        return Coupling(coordinate, 0.0, float(numbers_in(function, "value", 1, what, "0")[0]))
    if kind == "LinearFunction":
        slope, intercept = numbers_in(function, "coefficients", 2, what).tolist()
        return Coupling(coordinate, slope, intercept)
    if kind == "PolynomialFunction":
        coefficients = numbers_in(function, "coefficients", None, what)[::-1].tolist()
        while len(coefficients) > 1 and not coefficients[-1]:
            coefficients.pop()
        if len(coefficients) < 3:
            return Coupling(coordinate, *[*coefficients, 0.0][1::-1])
        return Coupling(coordinate, curve=Polynomial(coefficients))
    if kind in ("SimmSpline", "NaturalCubicSpline", "natCubicSpline", "PiecewiseLinearFunction"):
        return _through_points(function, coordinate, what)
    if kind == "MultiplierFunction":
        inner = coupling_of(function_in(function, what, "function"), coordinate, what)
        scale = float(numbers_in(function, "scale", 1, what, "1")[0])
        return Coupling(coordinate, scale * inner.ratio, scale * inner.offset, inner.curve)
    raise wrong(function, f"{what} is a {kind}; supported are {', '.join(_FUNCTIONS)}")


def _through_points(function: Element, coordinate: str, what: str) -> Coupling:
    x, y = (numbers_in(function, axis, None, what) for axis in "xy")
    if x.size == y.size and (y == y[0]).all():
        return Coupling(coordinate, 0.0, float(y[0]))
    if x.size == y.size == 2 and x[0] < x[1]:
        slope = float((y[1] - y[0]) / (x[1] - x[0]))
        return Coupling(coordinate, slope, float(y[0]) - slope * float(x[0]))
    try:
        if function.tag == "PiecewiseLinearFunction":
            return _in_pieces(x, y, coordinate)
        return Coupling(coordinate, curve=CubicSpline(x, y))
    except InputError as error:
        raise wrong(function, f"{what}: {error}") from None


def _in_pieces(x: np.ndarray, y: np.ndarray, coordinate: str) -> Coupling:
    """Straight pieces, which are one if their points are on a line, and are joined by rounded corners otherwise."""
    line = RoundedLine(x, y)  # which checks them
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    if np.abs(y - y[0] - slope * (x - x[0])).max() <= _STRAIGHT * np.abs(y).max():
        return Coupling(coordinate, float(slope), float(y[0] - slope * x[0]))
    return Coupling(coordinate, curve=line)


def function_in(owner: Element, what: str, *tags: str) -> Element:
    """The function in an element, or in a child with one of the tags."""
    holders = [child for tag in tags for child in owner.findall(tag)]
    functions = [child for holder in holders for child in holder]
    if len(functions) != 1:
        raise wrong(owner, f"{what} must have one function, got {shortened([f.tag for f in functions]) or 'none'}")
    return functions[0]
