"""Reading .npz files of unknown origin: nothing is executed, and no more is unpacked than a solution may hold."""

from __future__ import annotations

import ast
import io
import json
import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from colloc.support.checks import InputError
from colloc.support.files import check_path

LARGEST = 2**30  # bytes, unpacked: a hundred times what the longest motion of the studies takes
_LARGEST_META = 2**26  # bytes of the metadata: text takes four for a letter
MOST_PHASES = 10_000  # of a motion
_MOST = MOST_PHASES + 100  # arrays, of which every phase is one
_HEADER = 10_000  # bytes of an array's header
_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive(NamedTuple):
    """What a file holds.

    Parameters
    ----------
    arrays : dict of str to ndarray
    meta : dict
        The JSON object in the array "meta".
    size, meta_size : int
        Bytes of all arrays and of the metadata, unpacked.
    """

    arrays: dict[str, np.ndarray]
    meta: dict[str, Any]
    size: int
    meta_size: int


def read_archive(path: Path) -> Archive:
    """The arrays of a file by name, and its metadata.

    Raises
    ------
    InputError
        Naming the file, and the array where it is one.
    """
    name = str(check_path(path))
    if not Path(path).is_file():
        raise InputError(f"no file {name!r}")
    return _unpacked(name, path, 0, 0)


def read_inner(outer: Archive, contents: Mapping[str, bytes]) -> list[Archive]:
    """Archives that stand as arrays in another, by name for messages.

    All of them and the outer one together may unpack to no more than one alone.

    Raises
    ------
    InputError
        As for files.
    """
    size, meta_size, found = outer.size, outer.meta_size, []
    for name, content in contents.items():
        found.append(_unpacked(name, io.BytesIO(content), size, meta_size))
        size, meta_size = size + found[-1].size, meta_size + found[-1].meta_size
    return found


def _unpacked(name: str, file: Path | BinaryIO, size: int, meta_size: int) -> Archive:
    """The content of a file, beside so many bytes that are unpacked already."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            own, own_meta = _sizes(members)
            if size + own > LARGEST or meta_size + own_meta > _LARGEST_META:
                beside = f" beside {size:,} bytes" if size else ""
                raise ValueError(f"it would unpack to {own:,} bytes, {own_meta:,} of them metadata{beside}")
            arrays = {member.filename.removesuffix(".npy"): _read(archive, member) for member in members}
        meta = json.loads(str(arrays.pop("meta")))
    except Exception as error:  # whatever zipfile, zlib and json make of bytes that anyone may have written
        reason = f"no array {error}" if isinstance(error, KeyError) else error
        raise InputError(f"{name!r} is not a saved solution: {reason}") from error
    if not isinstance(meta, dict):
        raise InputError(f"{name!r} is not a saved solution: its metadata are no JSON object but {meta!r:.100}")
    return Archive(arrays, meta, own, own_meta)


def _sizes(members: list[zipfile.ZipInfo]) -> tuple[int, int]:
    """Bytes that arrays would unpack to, and metadata alone; ValueError for what NumPy has not packed."""
    names = [member.filename for member in members]
    if len(names) > _MOST or len(set(names)) < len(names):
        raise ValueError(f"{len(names)} arrays, of which {len(set(names))} have names of their own")
    for member in members:
        if not member.filename.endswith(".npy") or member.compress_type not in _PACKING or member.flag_bits & 1:
            raise ValueError(f"{member.filename!r} is no array packed by NumPy")
    size = sum(member.file_size for member in members)
    meta = next((member.file_size for member in members if member.filename == "meta.npy"), 0)
    return size, meta


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """One array, its header compared with its size before there is any memory for it."""
    try:
        with archive.open(member) as stream:
            content = stream.read()
        shape, fortran, dtype, begin = _header(content)
        if dtype.kind not in "fiuU" or dtype.itemsize == 0 or len(content) - begin != prod(shape) * dtype.itemsize:
            raise ValueError(f"{len(content)} bytes cannot be {dtype} of shape {shape}")
        array = np.frombuffer(content, dtype, offset=begin).reshape(shape, order="F" if fortran else "C")
        return np.ascontiguousarray(array) if shape else array.copy()
    except Exception as error:
        raise ValueError(f"array {member.filename.removesuffix('.npy')!r}: {error}") from error


def _header(content: bytes) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, order, type and place of the numbers of a .npy file (NumPy Enhancement Proposal 1, versions 1 and 2)."""
    version = content[6:8]
    if content[:6] != b"\x93NUMPY" or version not in (b"\x01\x00", b"\x02\x00"):
        raise ValueError("not an array of NumPy")
    begin = 10 if version == b"\x01\x00" else 12
    end = begin + int.from_bytes(content[8:begin], "little")
    if end - begin > _HEADER or end > len(content):
        raise ValueError("its header is longer than it may be")
    header = ast.literal_eval(content[begin:end].decode("latin1").strip())
    shape, dtype = header["shape"], np.dtype(header["descr"])
    if not isinstance(shape, tuple) or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"shape {shape!r}")
    return shape, bool(header["fortran_order"]), dtype, end
