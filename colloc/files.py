"""Writing files: checked before a long computation, complete or absent after it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from colloc.checks import InputError


def check_writable(path: str | os.PathLike[str], suffixes: tuple[str, ...] = ()) -> Path:
    """The path, if a file can be written there; for use before a long computation.

    Raises
    ------
    InputError
        For a suffix other than those given, a missing directory, or one that cannot be written to.
    """
    try:
        target = Path(path)
    except TypeError:
        raise InputError(f"path must be a file name, got {path!r}") from None
    if suffixes and target.suffix.lower() not in suffixes:
        raise InputError(f"file name must end in {' or '.join(suffixes)}, got {str(path)!r}")
    if target.is_dir():
        raise InputError(f"{str(path)!r} is a directory, not a file")
    if not target.parent.is_dir():
        raise InputError(f"directory {str(target.parent)!r} of {target.name!r} does not exist")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"{str(path)!r} cannot be written: permission denied")
    return target


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file through a temporary one beside it, so that readers never see half of it."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
