"""Compiled libraries on disk.

An entry is one file, <key>-<checksum>.so, or .dll on Windows: the key is the hash of what was compiled and how, the
checksum that of the content of the file. It appears by a rename, so that it is complete or absent, and it is never
written to again: a process that has loaded it keeps that file. Two processes that need the same library may both
compile it, each in a separate directory, build-*, in which a locked file marks that a compilation is running.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from colloc.kernels.kernel import CompileError
from colloc.support.files import lock, replace
from colloc.support.interrupts import uninterrupted

LIMIT = 500  # MB
RECENT = 60.0  # s; a library used so recently may be about to be loaded by another process
SUFFIX = ".dll" if sys.platform == "win32" else ".so"  # of libraries
_LOCK = "lock"  # of a directory to compile in; goes with the process that holds it


def find(directory: Path, key: str) -> Path | None:
    """The intact library of a key; a damaged one is removed. CompileError if others than the user could write it."""
    try:
        if not directory.is_dir():
            return None
        _check_owner(directory)
        entries = sorted(directory.glob(f"{key}-*{SUFFIX}"))
    except (OSError, ValueError) as error:  # a path may have a null character
        raise CompileError(f"cannot read compiled kernels in {directory}: {error}; see $COLLOC_CACHE_DIR") from error
    for path in entries:
        with suppress(OSError):  # removed by another process, or damaged and not removable
            _check_owner(path)
            if path.name == _name(key, path):
                with suppress(OSError):
                    os.utime(path)  # the time of its last use
                return path
            path.unlink()
    return None


@contextmanager
def build_directory(directory: Path) -> Iterator[Path]:
    """An empty directory inside the cache to compile in, removed at the end; those of killed processes are removed.

    CompileError if the cache cannot be written, also inside the context.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(directory)
        _remove_leftovers(directory)
        inside: list[tuple[Path, int]] = []
        try:
            try:
                with uninterrupted():
                    inside.append(_locked(directory))
                yield inside[0][0]
            finally:
                _remove(inside)
        finally:
            _remove(inside)  # where Ctrl-C came before it could be put off
    except (OSError, ValueError) as error:
        raise CompileError(f"cannot write compiled kernels to {directory}: {error}; see $COLLOC_CACHE_DIR") from error


def _locked(directory: Path) -> tuple[Path, int]:
    """A new directory to compile in, and the handle of its locked file."""
    while True:
        inside = Path(tempfile.mkdtemp(prefix="build-", dir=directory))
        try:
            handle = os.open(inside / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue  # another process took it for a leftover
        lock(handle, wait=True)
        if os.fstat(handle).st_nlink:
            return inside, handle
        os.close(handle)  # the same, before the lock


def _remove(inside: list[tuple[Path, int]]) -> None:
    """Remove a directory to compile in, if it is not yet removed."""
    with uninterrupted():
        for path, handle in inside:
            if sys.platform == "win32":
                os.close(handle)  # an open file cannot be removed there
                shutil.rmtree(path, ignore_errors=True)
            else:
                shutil.rmtree(path, ignore_errors=True)
                os.close(handle)
        inside.clear()


def _remove_leftovers(directory: Path) -> None:
    """Remove the directories of killed compilations: their locks are free."""
    for path in directory.glob("build-*"):
        try:
            handle = os.open(path / _LOCK, os.O_RDWR)
        except OSError:
            if _age(path) > RECENT:  # else about to be locked
                shutil.rmtree(path, ignore_errors=True)
            continue
        try:
            lock(handle, wait=False)
            if sys.platform != "win32":
                shutil.rmtree(path, ignore_errors=True)
        except OSError:  # locked
            continue
        finally:
            os.close(handle)
        if sys.platform == "win32":
            shutil.rmtree(path, ignore_errors=True)


def store(directory: Path, key: str, library: Path) -> Path:
    """Make a compiled library an entry of the cache."""
    library.chmod(0o700)
    path = directory / _name(key, library)
    try:
        replace(library, path)
    except PermissionError:  # on Windows, if another process has stored and loaded the same
        if not path.is_file():
            raise
    return path


def evict(directory: Path, spared: Path) -> None:
    """Remove the least recently used libraries beyond $COLLOC_CACHE_MB."""
    room = _limit() * 1e6 - spared.stat().st_size
    for path in sorted(set(directory.glob(f"*{SUFFIX}")) - {spared}, key=_age):
        with suppress(OSError):
            room -= path.stat().st_size
            if room < 0 and _age(path) > RECENT:
                path.unlink()


def _age(path: Path) -> float:
    """Seconds since the last use; 0 for a file that no longer exists."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _name(key: str, library: Path) -> str:
    return f"{key}-{hashlib.sha256(library.read_bytes()).hexdigest()[:32]}{SUFFIX}"


def _limit() -> float:
    limit = os.environ.get("COLLOC_CACHE_MB", "")
    try:
        return float(limit) if limit else LIMIT
    except ValueError:
        raise CompileError(f"COLLOC_CACHE_MB must be a number of megabytes, got {limit!r}") from None


def _check_owner(path: Path) -> None:
    """CompileError if others than the user could have written the file.

    On Windows there are access lists instead of modes, and by default only the user can write to the cache.
    """
    if sys.platform == "win32":
        return
    status = path.stat()
    if status.st_uid != os.geteuid():
        raise CompileError(f"{path} belongs to another user; set $COLLOC_CACHE_DIR to your own directory")
    if status.st_mode & 0o022:
        raise CompileError(f"{path} is writable by others; make it private (chmod go-w) or set $COLLOC_CACHE_DIR")
