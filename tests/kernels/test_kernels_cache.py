"""Faults between C code and its library: compilers, disks, other users and other processes."""

import ctypes
import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import casadi as ca
import pytest

import colloc as co
from colloc.kernels import Compile, CompileError, CompileWarning, Kernel, build_source, compiler, interpret
from colloc.kernels.options import cache_directory, compiler_command
from colloc.support.checks import InputError
from colloc.support.interrupts import reraise_interrupt, uninterrupted
from tests.platforms import needs_unix, patience
from tests.support.problems import time_optimal

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def build(factor: float = 2.0, options: Compile | None = None) -> Path:
    """The library of a function that multiplies by a factor."""
    visible = "__declspec(dllexport)" if sys.platform == "win32" else '__attribute__((visibility("default")))'
    return build_source("scale", f"{visible} double scale(double x) {{ return {factor} * x; }}", options or Compile())


def check(factor: float = 2.0) -> Path:
    """The same, called."""
    path = build(factor)
    scale = ctypes.CDLL(str(path)).scale
    scale.restype = ctypes.c_double
    assert scale(ctypes.c_double(1.5)) == 1.5 * factor
    return path


def fake(tmp_path: Path, script: str) -> Compile:
    """A compiler that knows its macros, but does this instead of compiling."""
    needs_unix("a shell")
    path = tmp_path / "fake"
    real = " ".join(compiler_command(Compile()))
    path.write_text(f'#!/bin/sh\ncase "$*" in *-dM*) exec {real} "$@";; esac\n{script}\n', encoding="utf-8")
    path.chmod(0o700)
    return Compile(compiler=str(path))


def left(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(CompileError, match="no C compiler found"):
        build()
    with pytest.raises(CompileError, match="no C compiler found: icc"):
        build(2.0, Compile(compiler="icc -fast"))


def test_command_that_is_no_compiler(tmp_path):
    needs_unix("a shell")
    for name, script in (("silent", ""), ("failing", "echo wrong machine >&2; exit 1")):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o700)
        with pytest.raises(CompileError, match="no working GCC or Clang"):
            build(2.0, Compile(compiler=str(path)))
    path.write_text("neither a program nor a script with an interpreter", encoding="utf-8")
    with pytest.raises(CompileError, match="no working GCC or Clang"):
        build(2.0, Compile(compiler=str(path)))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo internal error >&2; exit 3", "status 3: .*\n.*internal error"),
        ("kill -9 $$", "signal 9"),
        ("exit 0", "wrote no library"),
    ],
)
def test_compiler_that_fails(cache, tmp_path, script, message):
    options = fake(tmp_path, script)
    for _ in range(2):  # and nothing of the first attempt is taken for a library
        with pytest.raises(CompileError, match=message):
            build(2.0, options)
        assert left(cache) == []


@pytest.mark.parametrize(("made", "message"), [("echo garbage >", "invalid ELF header|file too short"), ("", "lanes")])
def test_interpreter_that_cannot_be_loaded(cache, tmp_path, made, message):
    """Neither one that is no library, nor one of other functions, stays in the cache."""
    empty = tmp_path / "empty.c"
    empty.write_text("", encoding="utf-8")
    made = made or f"{' '.join(compiler_command(Compile()))} -shared -fPIC {empty} -o "
    options = fake(tmp_path, f'for word; do case $last in -o) {made}"$word";; esac; last=$word; done')
    x = ca.SX.sym("x")
    with pytest.raises(CompileError, match=f"cannot be loaded: .*({message})"):
        interpret({"f": Kernel(ca.Function("f", [x], [x]))}, options, compile=True)
    assert left(cache) == []


def test_compiler_that_never_ends(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "TIMEOUT", 0.3)
    with pytest.raises(CompileError, match="took longer than"):
        build(2.0, fake(tmp_path, "sleep 100"))
    assert left(cache) == []


def test_compiler_that_hangs_is_spoken_of(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "PATIENCE", 0.3)
    monkeypatch.setattr(compiler, "TIMEOUT", 0.6)
    words = f"the C compiler {tmp_path / 'fake'} has been running for 0 s: Ctrl-C ends it, compile=False does without"
    with pytest.warns(CompileWarning, match=words), pytest.raises(CompileError, match="took longer than"):
        build(2.0, fake(tmp_path, "sleep 100"))


def test_ctrl_c_ends_a_compiler_that_another_thread_waits_for(cache, tmp_path):
    needs_unix("a shell")
    begun, futures = tmp_path / "begun", []

    @reraise_interrupt
    def work() -> None:
        build(2.0, fake(tmp_path, f"touch {begun}; sleep 100"))

    def wait() -> None:
        with ThreadPoolExecutor(1) as pool:
            futures.append(pool.submit(work))
            while not begun.exists():
                assert not futures[0].done()
                time.sleep(0.01)
            raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        wait()
    assert isinstance(futures[0].exception(), KeyboardInterrupt)
    assert time.monotonic() - begin < 50.0
    assert left(cache) == []


def test_compiler_that_hangs_at_the_first_question(tmp_path, monkeypatch):
    needs_unix("a shell")
    monkeypatch.setattr(compiler, "PATIENCE", 0.3)
    path = tmp_path / "dumb"
    path.write_text("#!/bin/sh\nsleep 100\n", encoding="utf-8")
    path.chmod(0o700)
    with pytest.raises(CompileError, match="took longer than"):
        build(2.0, Compile(compiler=str(path)))


def test_a_compiler_ends_with_what_it_has_started(tmp_path, monkeypatch):
    """On all systems: one that never ends has started another process, which notes that it is alive."""
    beats, living, hanging = (tmp_path / name for name in ("beats", "living.py", "hanging.py"))
    beat = f"open({str(beats)!r}, 'a').write('.'); time.sleep(0.02)"
    living.write_text(f"import time\nwhile True: {beat}", encoding="utf-8")
    words = [sys.executable, str(living)]
    hanging.write_text(f"import subprocess, time\nsubprocess.Popen({words!r})\ntime.sleep(1000)", encoding="utf-8")
    end = time.monotonic() + patience(60.0)

    def clock() -> float:
        """Zero until the other process lives, then later than any time limit."""
        return compiler.TIMEOUT if beats.exists() or time.monotonic() > end else 0.0

    monkeypatch.setattr(compiler, "time", SimpleNamespace(monotonic=clock))
    with pytest.raises(CompileError, match="took longer than 30 s"):
        build(2.0, Compile(compiler=f'"{sys.executable}" "{hanging}"'))
    written = beats.stat().st_size
    time.sleep(0.5)
    assert beats.stat().st_size == written


def test_folders_with_spaces_and_letters_of_other_alphabets(monkeypatch, tmp_path):
    """CasADi and IPOPT open libraries there as well."""
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path / "Jörg Müller" / "日本 Ω"))
    check()
    solver = co.Ipopt(linear_solver="multifrontal")
    found = co.solve(time_optimal(), co.BSpline(60), compile=True, solver=solver)
    expected = co.solve(time_optimal(), co.BSpline(60), compile=False)
    assert found.status is expected.status is co.solver.Status.SOLVED
    assert found.cost == pytest.approx(expected.cost, rel=1e-9)


def test_a_compiler_for_microsofts_library_is_refused_by_name(tmp_path):
    (tmp_path / "clang.py").write_text("print('#define _MSC_VER 1900')", encoding="utf-8")
    with pytest.raises(CompileError, match=r"is no working GCC or Clang: .* use that of MinGW-w64"):
        build(2.0, Compile(compiler=f'"{sys.executable}" "{tmp_path / "clang.py"}"'))


def make_older(path: Path, age: float) -> None:
    os.utime(path, (time.time() - age, time.time() - age))


@contextmanager
def started(body: str, stdout: int | None = None, stderr: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """A process with the names of this module; it ends with the context."""
    words = [sys.executable, "-c", f"from tests.kernels.test_kernels_cache import *\n{body}"]
    with subprocess.Popen(words, cwd=ROOT, text=True, stdout=stdout, stderr=stderr) as process:
        try:
            yield process
        finally:
            process.kill()


def compilation(options: Compile, stderr: int | None = None) -> AbstractContextManager[subprocess.Popen[str]]:
    """A process that compiles; it ends with the context."""
    return started(f"build(2.0, Compile(compiler={options.compiler!r}))", stderr=stderr)


def written_number(path: Path) -> int:
    """The number that a started process writes into a file, within a minute on an ordinary machine."""
    end = time.monotonic() + patience(60.0)
    while time.monotonic() < end:
        with suppress(FileNotFoundError, ValueError):
            return int(path.read_text(encoding="utf-8"))
        time.sleep(0.02)
    pytest.fail(f"nothing was written to {path}")


def ended(pid: int) -> bool:
    """Whether a process has ended within half a minute; a zombie counts as ended."""
    for _ in range(600):
        with suppress(FileNotFoundError):
            if ") Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8"):
                time.sleep(0.05)
                continue
        return True
    return False


def test_interrupted_compilation_leaves_nothing(cache, tmp_path):
    options = fake(tmp_path, f"echo $$ > {tmp_path / 'pid'}; sleep 100; echo survived > {tmp_path / 'after'}")
    with compilation(options, stderr=subprocess.PIPE) as process:
        pid = written_number(tmp_path / "pid")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=patience(60.0))
    assert "KeyboardInterrupt" in errors
    assert left(cache) == []
    assert ended(pid)
    check()


def test_a_hung_compiler_dies_with_its_parent(cache, tmp_path):
    """Even one that is killed, and with the processes that the compiler started."""
    options = fake(tmp_path, f"sh -c 'echo $$ > {tmp_path / 'pid'}; sleep 100' & wait")
    with compilation(options):
        pid = written_number(tmp_path / "pid")
    assert ended(pid)


def test_ctrl_c_while_a_compiler_starts_is_put_off():
    """The signal arrives where no exception may be raised: between a process that runs and a list that knows it."""
    done = []

    def start() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append(time.sleep(0.01))

    with pytest.raises(KeyboardInterrupt):
        start()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_processes_compile_the_same(cache):
    with ExitStack() as stack:
        running = [stack.enter_context(started("print(check())", stdout=subprocess.PIPE)) for _ in range(3)]
        paths = {process.communicate(timeout=patience(120.0))[0].strip() for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert paths <= {str(cache / name) for name in left(cache)}
    assert str(check()) in paths


def test_cache_that_is_a_file(cache):
    cache.write_text("", encoding="utf-8")
    with pytest.raises(CompileError, match=re.escape(f"cannot write compiled kernels to {cache}")):
        build()


@pytest.mark.parametrize("function", ["replace", "mkdir", "write"])
def test_full_disk(cache, monkeypatch, function):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        owner = Path if function == "write" else os
        patch.setattr(owner, "write_text" if function == "write" else function, full)
        with pytest.raises(CompileError, match="No space left"):
            build()
    assert not cache.exists() or left(cache) == []
    check()


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-100], lambda data: data[:999] + b"?" + data[1000:], lambda _: b""]
)
def test_damaged_library_is_rebuilt(damage):
    path = check()
    good = path.read_bytes()
    needs_unix("files that can be removed while they are loaded")
    # A new file, as after a crash: this process has the old one in memory.
    path.unlink()
    path.write_bytes(damage(good))
    path.chmod(0o700)
    path.write_bytes(damage(good)) if not path.exists() else None
    assert check() == path
    assert path.read_bytes() == good


def test_what_others_can_write_is_not_loaded(cache, monkeypatch):
    needs_unix("modes of files")
    path = check()
    assert cache.stat().st_mode & 0o777 == 0o700
    for place in (path, cache):
        place.chmod(0o722)
        with pytest.raises(CompileError, match=f"{place} is writable by others"):
            build()
        place.chmod(0o700)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        with pytest.raises(CompileError, match="another user"):
            build()
    assert check() == path


def test_least_recently_used_are_evicted(cache, monkeypatch):
    needs_unix("files that can be removed while they are loaded")
    paths = [check(factor) for factor in (3.0, 5.0, 7.0)]
    for age, path in zip((300, 400, 200), paths, strict=True):
        make_older(path, age)
    check(5.0)  # used last now
    size = sum(path.stat().st_size for path in paths)
    monkeypatch.setenv("COLLOC_CACHE_MB", str(size / 1e6))
    newest = check(9.0)
    assert set(left(cache)) == {path.name for path in (*paths[1:], newest)}
    monkeypatch.setenv("COLLOC_CACHE_MB", "0")
    newer = check(11.0)
    assert set(left(cache)) == {path.name for path in (paths[1], newest, newer)}  # all used within the last minute
    monkeypatch.setenv("COLLOC_CACHE_MB", "much")
    with pytest.raises(CompileError, match="COLLOC_CACHE_MB"):
        build(13.0)


def test_leftovers_of_killed_compilations_are_removed(cache, tmp_path):
    """A running compilation keeps its directory; the next one removes that of a killed one."""
    cache.mkdir(mode=0o700)
    for name, age in (("build-old", 1e6), ("build-new", 10)):  # without a lock, the new one perhaps not yet
        (cache / name).mkdir()
        (cache / name / "0.c").write_text("", encoding="utf-8")
        make_older(cache / name, age)
    options = fake(tmp_path, f"echo $$ > {tmp_path / 'pid'}; sleep 100")
    with compilation(options):
        written_number(tmp_path / "pid")
        (own,) = set(left(cache)) - {"build-new"}
        path = check()
        assert set(left(cache)) == {"build-new", path.name, own}
    assert own in left(cache)
    other = check(3.0)
    assert set(left(cache)) == {"build-new", path.name, other.name}


def test_directory_of_the_cache(monkeypatch, tmp_path):
    assert cache_directory(Compile(cache=tmp_path)) == tmp_path
    monkeypatch.delenv("COLLOC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory(Compile()) == tmp_path / "xdg" / "colloc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_directory(Compile()).is_relative_to(Path.home())
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/to/the/working/directory")
    assert cache_directory(Compile()).is_relative_to(Path.home())


def test_users_without_a_home(monkeypatch):
    needs_unix("$HOME")
    monkeypatch.delenv("COLLOC_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    with monkeypatch.context() as patch:
        patch.setattr("pwd.getpwuid", lambda uid: {}[uid])  # as for a user of a container that has no entry
        with pytest.raises(CompileError, match=r"no directory for compiled kernels: .*; set \$COLLOC_CACHE_DIR"):
            build()
    monkeypatch.setenv("HOME", "here")
    with pytest.raises(CompileError, match="home is 'here'; set"):
        build()
    monkeypatch.setenv("COLLOC_CACHE_DIR", "~nosuchuser/cache")
    with pytest.raises(CompileError, match="no directory for compiled kernels"):
        build()


def test_a_path_with_a_null_character_is_refused():
    with pytest.raises(InputError, match="cache must be a directory"):
        Compile(cache="a\0b")


def test_without_a_directory_for_temporary_files(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    check()
