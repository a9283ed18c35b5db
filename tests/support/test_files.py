"""Writing files: modes, links and names as the user had them, nothing torn, nothing left behind."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from colloc.support.checks import InputError
from colloc.support.files import check_writable, write_atomically
from tests.platforms import needs_unix


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_keeps_its_mode(tmp_path: Path):
    needs_unix("modes of files")
    path = tmp_path / "private.npz"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600


def test_a_new_file_has_the_mode_of_the_umask_which_nobody_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    needs_unix("modes of files")
    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask is the whole process's"))
        write_atomically(tmp_path / "new.npz", b"new")
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert mode(tmp_path / "new.npz") == 0o640


def test_a_symbolic_link_stays_one(tmp_path: Path):
    needs_unix("symbolic links for all users")
    real, link = tmp_path / "elsewhere" / "real.npz", tmp_path / "link.npz"
    real.parent.mkdir()
    link.symlink_to(real)  # which leads nowhere yet
    for content in (b"first", b"second"):
        write_atomically(link, content)
        assert link.is_symlink()
        assert real.read_bytes() == content
    assert os.listdir(real.parent) == ["real.npz"]


def test_a_link_to_itself_is_refused(tmp_path: Path):
    needs_unix("symbolic links for all users")
    (tmp_path / "a.npz").symlink_to(tmp_path / "a.npz")
    with pytest.raises(InputError, match=r"is a broken link|is a circle of symbolic links"):
        check_writable(tmp_path / "a.npz")


def test_hard_links_stay_together(tmp_path: Path):
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    one.write_bytes(b"a longer text than the new one")
    other.hardlink_to(one)
    write_atomically(one, b"new")
    assert other.read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["one.npz", "other.npz"]


KILLED = """
import os, signal, sys
from pathlib import Path
from colloc.support.files import write_atomically
os.fsync = lambda handle: os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
write_atomically(Path(sys.argv[1]), b"half")
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path):
    path = tmp_path / "motion.npz"
    path.write_bytes(b"old")
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert path.read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    write_atomically(tmp_path / "another.npz", b"new")
    assert sorted(os.listdir(tmp_path)) == ["another.npz", "motion.npz"]


def test_what_living_writers_are_at_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    slow, path = threading.Event(), tmp_path / "slow.npz"
    fsync = os.fsync

    def wait_and_sync(handle: int) -> None:
        if threading.current_thread() is writer:
            slow.wait(10)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", wait_and_sync)
    writer = threading.Thread(target=write_atomically, args=(path, b"slow"))
    writer.start()
    while not os.listdir(tmp_path):
        pass
    write_atomically(tmp_path / "quick.npz", b"quick")
    slow.set()
    writer.join()
    assert path.read_bytes() == b"slow"
    assert sorted(os.listdir(tmp_path)) == ["quick.npz", "slow.npz"]


@pytest.mark.parametrize("length", [241, 255])
def test_names_of_any_length_that_the_system_takes(tmp_path: Path, length: int):
    path = tmp_path / ("x" * (length - 4) + ".npz")
    write_atomically(check_writable(path, (".npz",)), b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["a\0b.npz", "x" * 300 + ".npz", "\ud800.npz", None, 3, b"a.npz", ["a.npz"]])
def test_what_is_no_file_name_is_refused(tmp_path: Path, name: object):
    if name == "\ud800.npz":
        needs_unix("names that are bytes")
    with pytest.raises(InputError, match="path must be a file name"):
        check_writable(tmp_path / name if isinstance(name, str) else name, (".npz",))  # pyright: ignore[reportArgumentType]


def test_pipes_are_refused(tmp_path: Path):
    needs_unix("pipes with a path")
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(InputError, match="a device or a pipe"):
        check_writable(tmp_path / "pipe.npz")
