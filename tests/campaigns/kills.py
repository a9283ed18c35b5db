"""Writers of solutions, films and figures killed at any moment: what was there before, or all of what is new."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from colloc.support.files import write_atomically
from tests.campaigns.attempt import Attempt, Outcome

# For every path that it reads, writes that file once and then has a child write it again and again.
WRITER = """
import os, signal, sys
import colloc as co
from tests.campaigns.samples import solution

found = solution()
figure = co.plot.joints(found)
WRITE = {
    "npz": lambda path: co.save(found, path),
    "csv": lambda path: co.storage.to_csv(found, path),
    "gif": lambda path: co.plot.animate(found, path, fps=2),
    "html": lambda path: co.plot.view(found).save(path),
    "png": lambda path: co.plot.save_figure(figure, path, dpi=40),
    "pdf": lambda path: co.plot.save_figure(figure, path),
}
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    path = line.strip()
    write = WRITE[path.rpartition(".")[2]]
    if not os.path.exists(path):
        write(path)
    child = os.fork()
    while child == 0:
        write(path)
    print(child, flush=True)
"""
KINDS = ("npz", "npz", "npz", "csv", "gif", "html", "png", "pdf")


@cache
def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="colloc_kills_"))


@cache
def _parent() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def attempt(rng: np.random.Generator) -> Attempt:
    """Some writers of one file at once, killed one after another, and then one that is not."""
    kind = KINDS[rng.integers(len(KINDS))]
    place = Path(tempfile.mkdtemp(dir=folder()))
    target, problems = place / f"file.{kind}", []
    writers = [_begun(target) for _ in range(rng.integers(1, 4))]
    for writer in writers:
        time.sleep(float(rng.uniform(0.0, 0.1)))
        os.kill(writer, signal.SIGKILL)
        while _lives(writer):
            time.sleep(1e-3)
        if problem := _torn(target):
            problems.append(f"{problem}, leftovers {sorted(os.listdir(place))}")
    killed = len(os.listdir(place)) - 1
    write_atomically(place / "next.txt", b"next")
    if left := sorted({*os.listdir(place)} - {target.name, "next.txt"}):
        problems.append(f"left behind: {left}")
    shutil.rmtree(place)
    outcome = Outcome.LOST_FILE if problems else Outcome.FINE
    return Attempt(f"{kind}, {'leftovers' if killed else 'none left'}", outcome, WRITER, "; ".join(problems))


def _begun(target: Path) -> int:
    """Process number of a writer of a file that has been written once."""
    parent = _parent()
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(f"{target}\n")
    parent.stdin.flush()
    return int(parent.stdout.readline())


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _torn(path: Path) -> str:
    """The fault of a file; empty if it is whole."""
    try:
        content = path.read_bytes()
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                return f"damaged {archive.testzip()}" if archive.testzip() else ""
        if path.suffix in (".png", ".gif"):
            with Image.open(path) as image:
                for frame in range(getattr(image, "n_frames", 1)):
                    image.seek(frame)
                    image.load()
            return ""
        end = {".csv": b"\n", ".html": b"</html>", ".pdf": b"%%EOF"}[path.suffix]
        return "" if content.rstrip(b"\n").endswith(end.rstrip(b"\n")) and content else "no end"
    except Exception as error:
        return f"torn or lost: {error!r}"
