"""Arrays and metadata as .npz files.

They are read as files of unknown origin: no code is executed, and the size of unpacked arrays is limited.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from colloc.support.checks import InputError
from colloc.support.files import check_readable

LARGEST = 2**30  # bytes, unpacked: a hundred times what the longest motion of the studies takes
_LARGEST_META = 2**26  # bytes of the metadata: text takes four for a letter
MOST_ARRAYS = 100_000
_HEADER = 10_000  # letters of an array's header
_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive(NamedTuple):
    """The content of a file."""

    arrays: Mapping[str, np.ndarray]
    meta: Mapping[str, Any]  # the JSON object in the array "meta"


def to_bytes(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> bytes:
    """An archive as bytes, with a checksum in its metadata."""
    text = json.loads(json.dumps(meta))
    text["sha256"] = checksum(arrays, text)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays, meta=np.array(json.dumps(text)))
    return buffer.getvalue()


def checksum(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> str:
    """SHA-256 of all arrays and of the metadata without the checksum."""
    digest = hashlib.sha256(json.dumps({k: v for k, v in meta.items() if k != "sha256"}, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def read_archive(path: str | os.PathLike[str]) -> Archive:
    """The arrays of a file by name, and its metadata; InputError naming the file, and the damaged array."""
    file = check_readable(path, "saved solution", LARGEST)
    return _read(str(file), file)


def from_bytes(name: str, content: bytes) -> Archive:
    """The archive in some bytes; InputError, with its name, for other bytes."""
    return _read(name, io.BytesIO(content))


def _read(name: str, source: Path | io.BytesIO) -> Archive:
    try:
        with zipfile.ZipFile(source) as archive:
            members = archive.infolist()
            _check_members(members)
            arrays = {member.filename.removesuffix(".npy"): _array(archive, member) for member in members}
        meta = json.loads(str(arrays.pop("meta")))
    except Exception as error:  # whatever zipfile, zlib and json make of bytes that anyone may have written
        reason = f"no array {error}" if isinstance(error, KeyError) else error
        raise InputError(f"{name!r} is not a saved solution: {reason}") from error
    if not isinstance(meta, dict):
        raise InputError(f"{name!r} is not a saved solution: its metadata must be a JSON object, got {meta!r:.100}")
    return Archive(arrays, meta)


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    """ValueError for members that NumPy has not packed, or that would unpack to more than the limit."""
    names = {member.filename for member in members}
    if len(members) > MOST_ARRAYS or len(names) < len(members):
        raise ValueError(f"{len(members)} arrays, with {len(names)} different names")
    for member in members:
        if not member.filename.endswith(".npy") or member.compress_type not in _PACKING or member.flag_bits & 1:
            raise ValueError(f"{member.filename!r} is no array written by NumPy")
    size = sum(member.file_size for member in members)
    meta = sum(member.file_size for member in members if member.filename == "meta.npy")
    if size > LARGEST or meta > _LARGEST_META:
        raise ValueError(f"it would unpack to {size:,} bytes, {meta:,} of them metadata")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """An array, whose header is compared with its size before memory is allocated."""
    try:
        with archive.open(member) as stream:
            major, _ = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(stream, max_header_size=_HEADER)
            content = stream.read()
        if dtype.kind not in "fiuU" or dtype.itemsize == 0 or len(content) != prod(shape) * dtype.itemsize:
            raise ValueError(f"{len(content)} bytes cannot be {dtype} of shape {shape}")
        array = np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")
        return np.ascontiguousarray(array) if shape else array.copy()
    except Exception as error:
        raise ValueError(f"array {member.filename.removesuffix('.npy')!r}: {error}") from error
