"""The vertices of meshes, from OBJ and STL files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from colloc.formats.numbers import parse_number
from colloc.support.checks import InputError, spelt
from colloc.support.files import check_path, read_whole, refused

_HEADER, _TRIANGLE = 84, 50  # bytes of a binary STL file, and of every triangle in it


@spelt
def mesh_vertices(path: str | os.PathLike[str]) -> np.ndarray:
    """The vertices of a mesh, in the unit and the frame of the file.

    Parameters
    ----------
    path : str or PathLike
        Ends in .obj (Wavefront) or .stl, in text or binary.

    Returns
    -------
    vertices : ndarray, shape (N, 3)

    Raises
    ------
    InputError
        For a file that cannot be read, of another format, or without vertices.

    See Also
    --------
    hull_around

    Examples
    --------
    >>> with open("wedge.obj", "w") as file:
    ...     _ = file.write("v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 2 3\\nf 1 2 4\\n")
    >>> wedge = co.model.hull_around("hand", co.formats.mesh_vertices("wedge.obj"))
    >>> wedge
    ConvexHull(on hand, 4 points, radius 0 m)
    """
    file = check_path(path)
    suffix = Path(file).suffix.lower()
    if suffix not in (".obj", ".stl"):
        raise InputError(f"meshes are read from .obj and .stl files, got {str(path)!r}")
    content = read_whole(file, "mesh")
    with refused(path, "cannot be read as a mesh"):
        vertices = _stl(content) if suffix == ".stl" else _rows(content, b"v")
    if not len(vertices) or not np.isfinite(vertices).all():
        raise InputError(f"{str(path)!r} has no vertices, or some that are no numbers")
    return np.unique(vertices, axis=0)


def _stl(content: bytes) -> np.ndarray:
    """Corners of all triangles; binary files may begin with the same word as text files."""
    count = int(np.frombuffer(content, "<u4", 1, _HEADER - 4)[0]) if len(content) >= _HEADER else -1
    if len(content) != _HEADER + _TRIANGLE * count:
        return _rows(content, b"vertex")
    triangles = np.frombuffer(content, np.uint8, offset=_HEADER).reshape(count, _TRIANGLE)
    return triangles[:, 12:48].copy().view("<f4").reshape(-1, 3).astype(float)


def _rows(content: bytes, word: bytes) -> np.ndarray:
    """The numbers of lines that begin with a word, shape (N, 3)."""
    lines = (line.split() for line in content.splitlines())
    rows = [[parse_number(number.decode("latin-1")) for number in line[1:4]] for line in lines if line[:1] == [word]]
    return np.array(rows).reshape(-1, 3)
