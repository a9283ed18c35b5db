"""Collision shapes of a file, as shapes for constraints on distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.formats.mesh_files import mesh_vertices
from colloc.formats.reading import LinkShape, Reading
from colloc.model.shapes import Box, Capsule, ConvexHull, Shape, hull_around
from colloc.model.transforms import rigid
from colloc.support.checks import count, instance, spelt, warn

_SIDES = 12  # of the prism around a cylinder


@spelt
def collision_shapes(reading: Reading, *, most: int = 24, placement: Any = None) -> tuple[Shape, ...]:
    """Collision shapes of links from their file, for `clearance`.

    Boxes become boxes, spheres and capsules become capsules. A cylinder becomes the prism of twelve sides around it, a
    mesh (OBJ and STL files) a rounded convex hull of some of its vertices, see `hull_around`. Both contain the shape of
    the file.

    Parameters
    ----------
    reading : Reading
        From `from_urdf` or `from_mjcf`.
    most : int
        Largest number of vertices kept of a mesh.
    placement : shape (4, 4), optional
        Of the world of the file in yours, for shapes that are fixed to it, such as a table read from a file of its own.

    Returns
    -------
    shapes : tuple of Shape
        In the order of the file, those of one body together, named after their bodies, with a number if a body has
        several. Shapes in the world are obstacles, as are all shapes of a file in which nothing moves. An
        InputWarning names shapes that are left out: those of other kinds, and meshes that are missing or of another
        format.

    Raises
    ------
    InputError
        For text in place of numbers in the file.

    See Also
    --------
    avoidance_pairs

    Examples
    --------
    >>> text = '''<robot name="gate"><link name="post"/><link name="bar"><collision><origin xyz="1.5 0 0"/>
    ...     <geometry><box size="3 0.1 0.1"/></geometry></collision></link>
    ...   <joint name="hinge" type="continuous"><parent link="post"/><child link="bar"/><axis xyz="0 1 0"/></joint>
    ... </robot>'''
    >>> with open("gate.urdf", "w") as file:
    ...     _ = file.write(text)
    >>> co.formats.collision_shapes(co.formats.from_urdf("gate.urdf"))
    (Box('bar' on bar, (3, 0.1, 0.1) m at (1.5, 0, 0)),)
    """
    instance("reading", reading, Reading, "from_urdf or from_mjcf makes one of a file")
    count("most", most, at_least=4)
    colliding = [shape for shape in reading.shapes if shape.role == "collision"]
    if placement is not None:
        moved = np.array(ca.DM(rigid("placement", placement)))
        colliding = [s if s.body is not None else replace(s, placement=moved @ s.placement) for s in colliding]
    number: dict[str, int] = {}
    shapes, refused = [], []
    for shape in colliding:
        name = shape.body or shape.name or "world"
        number[name] = number.get(name, 0) + 1
        if number[name] > 1:
            name = f"{name} {number[name]}"
        try:
            shapes.append(_shape(shape, name, most))
        except _LeftOutError as error:
            refused.append(f"{name} ({error})")
    if refused:
        warn(f"collision shapes that are left out: {', '.join(refused)}")
    return tuple(shapes)


class _LeftOutError(Exception):
    """Why a shape is left out."""


def _shape(shape: LinkShape, name: str, most: int) -> Shape:
    if shape.kind not in _MAKERS:
        raise _LeftOutError(f"a {shape.kind}")
    return _MAKERS[shape.kind](shape, name, most)


def _placed(shape: LinkShape, points: np.ndarray) -> np.ndarray:
    """Points in the shape's frame, shape (N, 3), in that of the link."""
    return points @ shape.placement[:3, :3].T + shape.placement[:3, 3]


def _box(shape: LinkShape, name: str, most: int) -> Box:
    return Box(shape.body, shape.entries("size", 3), shape.placement, name=name)


def _ball(shape: LinkShape, name: str, most: int) -> Capsule:
    (centre,) = _placed(shape, np.zeros((1, 3)))
    return Capsule(shape.body, centre, centre, shape.entries("radius", 1), name=name)


def _capsule(shape: LinkShape, name: str, most: int) -> Capsule:
    half = shape.entries("length", 1)[0] / 2
    start, end = _placed(shape, np.array([[0, 0, -half], [0, 0, half]]))
    return Capsule(shape.body, start, end, shape.entries("radius", 1), name=name)


def _prism(shape: LinkShape, name: str, most: int) -> ConvexHull:
    radius, length = (shape.entries(key, 1)[0] for key in ("radius", "length"))
    turn = 2 * np.pi * np.arange(_SIDES) / _SIDES
    outside = radius / np.cos(np.pi / _SIDES)
    rim = outside * np.column_stack([np.cos(turn), np.sin(turn)])
    ends = [np.column_stack([rim, np.full(_SIDES, height)]) for height in (-length / 2, length / 2)]
    return ConvexHull(shape.body, _placed(shape, np.concatenate(ends)), name=name)


def _mesh(shape: LinkShape, name: str, most: int) -> ConvexHull:
    vertices = shape.vertices
    if vertices is None:
        file = shape.file
        if file is None:
            raise _LeftOutError(f"no file {shape.numbers.get('filename', '')!r}")
        if file.suffix.lower() not in (".obj", ".stl"):
            raise _LeftOutError(f"a mesh in {file.suffix or 'an unknown format'}")
        scale = shape.entries("scale", 3) if "scale" in shape.numbers else np.ones(3)
        vertices = mesh_vertices(file) * scale
    return hull_around(shape.body, _placed(shape, np.asarray(vertices)), most=most, name=name)


_MAKERS: dict[str, Callable[[LinkShape, str, int], Shape]] = {
    "box": _box,
    "sphere": _ball,
    "capsule": _capsule,
    "cylinder": _prism,
    "mesh": _mesh,
}
