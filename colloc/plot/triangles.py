"""Shapes of files as coloured triangles, read by trimesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.formats.reading import LinkShape
from colloc.model import Model
from colloc.model.kinematics import frames
from colloc.support.checks import InputError, as_tuple, instance, shortened, unknown_name
from colloc.support.files import refused

if TYPE_CHECKING:
    from trimesh import Trimesh

_SUFFIXES = (".obj", ".stl", ".dae")
_KINDS = ("mesh", "box", "sphere", "cylinder", "capsule", "ellipsoid")
_COLOR = (0.71, 0.75, 0.8, 1.0)  # colour of shapes without one
_LIMIT = 300_000  # largest number of triangles of a page, of 12 bytes each
_SAME = 1e-5  # of the size of a mesh; closer vertices are merged
_COARSE = 1e-3  # of the largest size of a mesh: first merging distance to thin meshes


class LinkMesh(NamedTuple):
    """Triangles that are fixed to a body."""

    body: str | None  # None for the world
    vertices: np.ndarray  # shape (N, 3) [m], in the link frame
    faces: np.ndarray  # shape (M, 3), numbers of vertices, counterclockwise as seen from outside
    colors: np.ndarray  # shape (1, 4) or (M, 4): red, green, blue and opacity from 0 to 255


@dataclass(frozen=True, eq=False)
class LinkMeshes:
    """The meshes of a mechanism.

    Parameters
    ----------
    parts : tuple of LinkMesh
    total : int
        Number of triangles in the files; the parts may have fewer.
    """

    parts: tuple[LinkMesh, ...]
    total: int

    @property
    def size(self) -> int:
        """Number of triangles."""
        return sum(len(part.faces) for part in self.parts)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Bodies that have meshes."""
        return tuple(dict.fromkeys(part.body for part in self.parts if part.body is not None))

    def frames(self, model: Model, q: ca.SX) -> ca.SX:
        """The first three rows of the transforms of `bodies`, row after row, body after body."""
        names = [body.name for body in model.bodies]
        for body in self.bodies:
            if body not in names:
                raise unknown_name("body of a shape", body, names)
        still = ca.SX(model.n, 1)
        transforms = frames(model, q, still, still).position
        return ca.densify(ca.vertcat(*(ca.vec(transforms[names.index(body)][:3, :].T) for body in self.bodies)))

    def corners(self, rows: np.ndarray) -> np.ndarray:
        """Corners of the boxes around all meshes in the world, shape (N, corners, 3) [m], from values of `frames`."""
        placed = rows.reshape(len(rows), len(self.bodies), 3, 4)
        clouds = []
        for part in self.parts:
            sides = np.stack([part.vertices.min(axis=0), part.vertices.max(axis=0)], axis=1)
            box = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3)
            if part.body is None:
                clouds.append(np.broadcast_to(box, (len(rows), *box.shape)))
            else:
                frame = placed[:, self.bodies.index(part.body)]
                clouds.append(box @ frame[..., :3].transpose(0, 2, 1) + frame[:, None, :, 3])
        return np.concatenate(clouds, axis=1)


def link_meshes(shapes: Sequence[LinkShape]) -> LinkMeshes:
    """Triangles of the visual shapes of links, or of the collision shapes of links without visual ones.

    More than 300,000 triangles are thinned by merging close vertices.

    Parameters
    ----------
    shapes : sequence of LinkShape

    Raises
    ------
    ImportError
        Without trimesh and pycollada.
    InputError
        If no shape belongs to a body, or for meshes that are missing, in another format or without triangles.
    """
    listed = [instance("shape", shape, LinkShape) for shape in as_tuple("meshes", shapes)]
    drawn = [shape for shape in listed if shape.role == "visual"]
    seen = {(shape.body, shape.name) for shape in drawn}
    drawn += [shape for shape in listed if (shape.body, shape.name) not in seen]
    if all(shape.body is None for shape in drawn):
        raise InputError(
            "meshes must contain the shape of a body: use the shapes of a Reading from from_urdf or from_mjcf"
        )
    _check_packages()
    _check_files(drawn)
    parts = [_welded(_link_mesh(shape.body, part)) for shape in drawn for part in triangles(shape)]
    total = sum(len(part.faces) for part in parts)
    distance = _COARSE * max(float(np.ptp(part.vertices, axis=0).max()) for part in parts)
    thin = parts
    while sum(len(part.faces) for part in thin) > _LIMIT:
        thin = [_merged(part, distance) for part in parts]
        distance *= 1.3
    return LinkMeshes(tuple(part for part in thin if len(part.faces)), total)


def _check_packages() -> None:
    """Raise ImportError with the name of the extra before anything else is done."""
    try:
        import collada  # used by trimesh for DAE files  # noqa: F401
        import trimesh  # noqa: F401
    except ImportError as error:
        raise ImportError("meshes need trimesh and pycollada: pip install 'colloc[meshes]'") from error


def _check_files(shapes: Sequence[LinkShape]) -> None:
    """Raise InputError with the names of meshes that are missing or in another format."""
    files = {shape: shape.file for shape in shapes if shape.kind == "mesh" and shape.vertices is None}
    lost = [f"{shape.numbers.get('filename', '')!r} of {shape.body!r}" for shape, file in files.items() if file is None]
    if lost:
        folders = shortened([shape.folder or "." for shape in files])
        raise InputError(f"missing meshes: {shortened(lost)}; packages were searched around {folders}")
    other = [str(file) for file in files.values() if file is not None and file.suffix.lower() not in _SUFFIXES]
    if other:
        raise InputError(f"meshes must be files with the suffix {', '.join(_SUFFIXES)}, got {shortened(other)}")


def triangles(shape: LinkShape) -> list[Trimesh]:
    """Triangles of a shape with their colours, in the frame of its link."""
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    parts = _mesh(shape) if shape.kind == "mesh" else [_body(shape)]
    for part in parts:
        if part.visual is None or not part.visual.defined:
            rgba = [round(255 * share) for share in shape.color or _COLOR]
            part.visual = TextureVisuals(material=PBRMaterial(baseColorFactor=rgba))
        part.apply_transform(shape.placement)
    return parts


def _link_mesh(body: str | None, part: Trimesh) -> LinkMesh:
    return LinkMesh(body, np.asarray(part.vertices, dtype=float), np.asarray(part.faces), _colors(part))


def _colors(part: Trimesh) -> np.ndarray:
    """The colour of a part, or of each of its triangles; textures are sampled at the vertices."""
    visual: Any = part.visual
    if visual.kind == "texture":
        material = visual.material
        picture = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
        if visual.uv is None or picture is None:
            return np.array([material.main_color], dtype=np.uint8)
        visual = visual.to_color()
        part.visual = visual
    colors = np.array(visual.face_colors, dtype=np.uint8)
    return colors[:1] if (colors == colors[0]).all() else colors


def _welded(part: LinkMesh) -> LinkMesh:
    """A mesh without duplicate vertices."""
    return _merged(part, max(_SAME * float(np.ptp(part.vertices, axis=0).max()), 1e-12))


def _merged(part: LinkMesh, distance: float) -> LinkMesh:
    """A mesh with the vertices in each cube of a grid replaced by their mean (Rossignac and Borrel 1993)."""
    cells = np.round((part.vertices - part.vertices.min(axis=0)) / distance).astype(np.int64)
    _, number, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    number = number.ravel()
    vertices = np.stack([np.bincount(number, column) for column in part.vertices.T], axis=1) / count[:, None]
    faces = number[part.faces]
    proper = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    colors = part.colors if len(part.colors) == 1 else part.colors[proper]
    return LinkMesh(part.body, vertices, faces[proper], colors)


def _mesh(shape: LinkShape) -> list[Trimesh]:
    """Parts of a mesh with one colour each; colours of the file take precedence over those of the model."""
    import trimesh

    if shape.vertices is not None:
        return [trimesh.Trimesh(shape.vertices, shape.faces, process=False)]
    with refused(str(shape.file), "cannot be read as a mesh"):
        parts = trimesh.load_scene(str(shape.file)).dump()
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
