"""Shapes of files, and what stands in the world, as triangles with colours: through trimesh, where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from colloc.formats.reading import LinkShape
from colloc.plot.solids import Solid, surface
from colloc.support.checks import InputError, shortened, unknown_name

if TYPE_CHECKING:
    from trimesh import Trimesh

_SUFFIXES = (".obj", ".stl", ".dae")
_KINDS = ("mesh", "box", "sphere", "cylinder", "capsule", "ellipsoid")
_COLOR = (0.71, 0.75, 0.8, 1.0)  # of what has none
_OBSTACLE = (0.73, 0.68, 0.6, 1.0)


def check_packages() -> None:
    """ImportError with the name of the extra, before anything else is done."""
    try:
        import collada  # which trimesh reads DAE files by  # noqa: F401
        import trimesh  # noqa: F401
        import viser  # noqa: F401
    except ImportError as error:
        raise ImportError("co.plot.meshes needs viser and readers of meshes: pip install 'colloc[meshes]'") from error


def check_files(shapes: Sequence[LinkShape]) -> None:
    """InputError with the names of meshes that are not there, or in a format that is not read."""
    files = {shape: shape.file for shape in shapes if shape.kind == "mesh" and shape.vertices is None}
    lost = [f"{shape.numbers.get('filename', '')!r} of {shape.body!r}" for shape, file in files.items() if file is None]
    if lost:
        folders = shortened([shape.folder or "." for shape in files])
        raise InputError(f"meshes that are not there: {shortened(lost)}; packages are looked for around {folders}")
    other = [str(file) for file in files.values() if file is not None and file.suffix.lower() not in _SUFFIXES]
    if other:
        raise InputError(f"meshes are read from files that end in {', '.join(_SUFFIXES)}, got {shortened(other)}")


def triangles(shape: LinkShape) -> list[Trimesh]:
    """Triangles of a shape with their colours, in the frame of its link."""
    parts = _mesh(shape) if shape.kind == "mesh" else [_body(shape)]
    for part in parts:
        if part.visual is None or not part.visual.defined:
            _paint(part, shape.color or _COLOR)
        part.apply_transform(shape.placement)
    return parts


def _paint(part: Trimesh, color: Sequence[float]) -> None:
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    rgba = [round(255 * share) for share in color]
    part.visual = TextureVisuals(material=PBRMaterial(baseColorFactor=rgba, metallicFactor=0.0))


def _mesh(shape: LinkShape) -> list[Trimesh]:
    """Parts of a mesh of a colour each; a file's own colours come before those of the model's."""
    import trimesh

    if shape.vertices is not None:
        return [trimesh.Trimesh(shape.vertices, shape.faces, process=False)]
    try:
        parts = trimesh.load_scene(str(shape.file)).dump()
    except Exception as error:  # of any of the readers
        raise InputError(f"{str(shape.file)!r} cannot be read as a mesh: {error}") from None
    parts = [part for part in parts if isinstance(part, trimesh.Trimesh) and len(part.faces)]
    if not parts:
        raise InputError(f"{str(shape.file)!r} has no triangles")
    if "scale" in shape.numbers:
        for part in parts:
            part.apply_transform(np.diag([*shape.entries("scale", 3), 1.0]))
    return parts


def _body(shape: LinkShape) -> Trimesh:
    """A box, a ball, a cylinder or a capsule, with its axis along z."""
    from trimesh import creation

    if shape.kind == "box":
        return creation.box(shape.entries("size", 3))
    if shape.kind == "ellipsoid":
        ball = creation.icosphere(3)
        ball.apply_transform(np.diag([*shape.entries("size", 3) / 2, 1.0]))
        return ball
    if shape.kind not in ("sphere", "cylinder", "capsule"):
        raise unknown_name("kind of shape", shape.kind, _KINDS)
    (radius,) = shape.entries("radius", 1)
    if shape.kind == "sphere":
        return creation.icosphere(3, radius)
    (length,) = shape.entries("length", 1)
    return creation.cylinder(radius, length) if shape.kind == "cylinder" else creation.capsule(length, radius)


def obstacle(solid: Solid) -> Trimesh:
    """What stands in the world, as triangles."""
    import trimesh

    polygons = surface(solid)
    sizes = np.cumsum([0, *map(len, polygons)])
    faces = [(a, a + k, a + k + 1) for a, b in pairwise(sizes) for k in range(1, b - a - 1)]
    made = trimesh.Trimesh(np.concatenate(polygons), faces)
    _paint(made, _OBSTACLE)
    return made
