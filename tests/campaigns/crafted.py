"""Files of solutions as a user might make them: fields changed, missing or too many, with a checksum that fits."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from colloc.storage.archive import checksum

Arrays = dict[str, Any]
Change = Callable[[Arrays, dict[str, Any]], None]


def crafted(source: Path, target: Path, change: Change, *, signed: bool = True) -> None:
    """A saved solution with other arrays and metadata; the checksum is made again where that is still possible."""
    with np.load(source, allow_pickle=False) as file:
        arrays: Arrays = {name: file[name] for name in file.files}
    meta = json.loads(str(arrays.pop("meta")))
    change(arrays, meta)
    if signed and isinstance(meta, dict) and "sha256" in meta:
        meta["sha256"] = checksum({name: np.asarray(array) for name, array in arrays.items()}, meta)
    np.savez_compressed(target, **arrays, meta=np.array(json.dumps(meta)))


def header_of(shape: tuple[int, ...], name: str, source: Path, target: Path) -> None:
    """A saved solution one of whose arrays claims another shape than it has numbers for."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            content = old.read(member)
            if member == f"{name}.npy":
                stream = io.BytesIO()
                np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
                content = stream.getvalue() + content[-8:]
            new.writestr(member, content)


def bomb(target: Path, size: int) -> None:
    """A small file that unpacks to many zeros."""
    with (
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("x.npy", "w", force_zip64=True) as stream,
    ):
        for _ in range(size >> 20):
            stream.write(b"\0" * 2**20)
