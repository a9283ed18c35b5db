"""Files: read completely or not at all, written completely or not at all, and checked before long computations."""

from __future__ import annotations

import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

from colloc.support.checks import InputError, quoted
from colloc.support.interrupts import uninterrupted

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_SUFFIX = ".colloc-part"  # of files that are being written
LARGEST = 1_000_000_000  # bytes of a file that is read, unless its kind is smaller
_STEM = 200  # bytes of a file's name that its temporary file repeats: names may have 255
_NAME = 255  # letters of a name on Windows, which says of longer ones that there is no such file
_LOCKED = 2**30  # the byte of a file that is locked on Windows, where locked bytes cannot be read
_READERS = 2.0  # s for which a file that others read is waited for, on Windows


def check_path(path: str | os.PathLike[str]) -> Path:
    """The path; InputError for an illegal file name."""
    try:
        target = Path(path)
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            os.lstat(target)
        if sys.platform == "win32" and len(target.name) > _NAME:
            raise ValueError(f"a name has at most {_NAME} letters")
    except (TypeError, ValueError, OSError) as error:
        raise InputError(f"path must be a file name, got {quoted(path)} ({error}){_advice(path)}") from None
    if not os.fspath(path):  # which a Path takes for the working directory
        raise InputError(f"path must be a file name, got {quoted(path)}")
    return target


def read_whole(path: str | os.PathLike[str], kind: str, largest: int = LARGEST) -> bytes:
    """The bytes of a file of a kind, such as "URDF"; errors as in `check_readable`."""
    file = check_readable(path, kind, largest)
    with refused(path, f"cannot be read as a {kind}"):
        return file.read_bytes()


def check_readable(path: str | os.PathLike[str], kind: str, largest: int = LARGEST) -> Path:
    """The path of a file of a kind, for other readers.

    InputError for a missing or too large file, a directory, a device or a pipe.
    """
    file = check_path(path)
    with refused(path, f"cannot be read as a {kind}"):
        if not file.is_file():
            raise InputError(f"{quoted(str(path))} is no file{_advice(path)}")
        if file.stat().st_size > largest:
            raise InputError(f"{str(path)!r} has more than the {largest // 1_000_000} MB of which a {kind} is read")
    return file


def _advice(path: object) -> str:
    """The advice for the text of a file in place of its name."""
    is_xml = isinstance(path, str) and path.lstrip()[:1] == "<"
    return "; it is XML itself: write it to a file, and give the name of that" if is_xml else ""


@contextmanager
def refused(path: str | os.PathLike[str], words: str) -> Iterator[None]:
    """A context in which all exceptions of a reader become an InputError: the path, these words, and the reason."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{str(path)!r} {words}: {reason}") from None


def check_writable(path: str | os.PathLike[str], suffixes: tuple[str, ...] = ()) -> Path:
    """The path, if a file can be written there; for use before a long computation.

    InputError for another suffix, a missing directory, or one that cannot be written to.
    """
    target = check_path(path)
    if suffixes and target.suffix.lower() not in suffixes:
        raise InputError(f"file name must end in {' or '.join(suffixes)}, got {quoted(str(path))}")
    if target.is_dir():
        raise InputError(f"{str(path)!r} is a directory, not a file")
    file = _resolved(target)
    if file.exists() and not file.is_file():
        raise InputError(f"{str(path)!r} is a device or a pipe, not a file")
    if not file.parent.is_dir():
        missing = file.parent if target.is_symlink() else target.parent
        raise InputError(f"directory {str(missing)!r} of {target.name!r} does not exist")
    if not os.access(file.parent, os.W_OK) or (file.exists() and not os.access(file, os.W_OK)):
        raise InputError(f"{str(path)!r} cannot be written: permission denied")
    return target


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file through a temporary one in the same directory, so that readers never see half of it.

    A symbolic link is kept, and its target is written. An existing file keeps its mode and, where the system allows,
    its owner. One with several names (hard links) keeps them: it is rewritten in place, once the temporary file is
    complete. Temporary files of killed writers are removed. Ctrl-C waits for the end.
    """
    target = _resolved(target)
    remove_leftovers(target.parent)
    with uninterrupted(), _temporary(target) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        before = target.stat() if target.exists() else None
        if before is not None and before.st_nlink > 1:
            _rewrite(target, content)
            return
        if before is not None:
            _like(file, before)
        if sys.platform == "win32":
            file.close()  # an open file cannot be renamed there
        replace(file.name, target)


def replace(source: str | os.PathLike[str], target: Path) -> None:
    """Rename a file; on Windows, wait a moment for readers of a file that it replaces."""
    begin = time.monotonic()
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > begin + _READERS:
                raise
            time.sleep(0.02)


def remove_leftovers(directory: Path) -> None:
    """Remove temporary files of writers that were killed; those of living writers are locked."""
    with suppress(OSError):
        for name in os.listdir(directory):
            if name.startswith(".") and name.endswith(_SUFFIX):
                with suppress(OSError):
                    _remove_unlocked(os.path.join(directory, name))


def _remove_unlocked(path: str) -> None:
    """Remove a file; OSError if it is locked or cannot be removed."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        lock(handle, wait=False)
        if sys.platform != "win32" and stat.S_ISREG(os.fstat(handle).st_mode):
            os.unlink(path)
    finally:
        os.close(handle)
    if sys.platform == "win32":
        os.unlink(path)


def lock(handle: int, *, wait: bool) -> None:
    """Lock a file until it is closed or its writer ends; wait, or raise OSError, if another process has locked it."""
    if sys.platform != "win32":
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return
    place = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, _LOCKED, os.SEEK_SET)
    try:
        while True:
            with suppress(OSError) if wait else nullcontext():
                msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                return
    finally:
        os.lseek(handle, place, os.SEEK_SET)


@contextmanager
def _temporary(target: Path) -> Iterator[BinaryIO]:
    """A new, locked file in the directory of another, with the mode of the user's umask; removed at the end."""
    stem = os.fsencode(target.name)[:_STEM].decode(errors="ignore")
    while True:
        # The umask is the kernel's to apply: to ask for it means to change it, for all threads.
        with open(target.parent / f".{stem}.{secrets.token_hex(4)}{_SUFFIX}", "xb") as file:
            try:
                lock(file.fileno(), wait=True)
                if os.fstat(file.fileno()).st_nlink:  # else another writer took it for a leftover before the lock
                    yield file
                    return
            finally:
                if sys.platform == "win32":
                    file.close()  # an open file cannot be removed there
                Path(file.name).unlink(missing_ok=True)


def _rewrite(target: Path, content: bytes) -> None:
    with open(target, "r+b") as file:
        file.write(content)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _like(file: BinaryIO, before: os.stat_result) -> None:
    """Give a new file the mode and, where allowed, the owner of the one that it replaces."""
    if hasattr(os, "fchown"):
        for owner, group in ((before.st_uid, -1), (-1, before.st_gid)):
            with suppress(PermissionError):
                os.fchown(file.fileno(), owner, group)
    os.chmod(file.name, stat.S_IMODE(before.st_mode))


def _resolved(path: Path) -> Path:
    """The file that a path leads to through symbolic links, existing or not."""
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{str(path)!r} is a broken link: {error}") from None
    if target.is_symlink():  # Python 3.13 and later do not say so
        raise InputError(f"{str(path)!r} is a circle of symbolic links")
    return target
