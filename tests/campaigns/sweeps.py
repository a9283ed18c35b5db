"""Parameter studies killed at any moment, parents and workers: files stay whole, and the table is that of no kill."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

import colloc as co
from colloc.models.two_link import two_link
from colloc.sweeps.cases import read_case
from tests.campaigns.attempt import Attempt, Outcome

CASES = {"torque": np.linspace(5.0, 20.0, 16).tolist(), "longest": [2.0, 3.0, 4.0]}
SECONDS = 300.0
_LOG = "COLLOC_SWEEP_LOG"
SNIPPET = """
import sys
from tests.campaigns.sweeps import digest, study
if __name__ == "__main__":
    print(digest(study(sys.argv[1], int(sys.argv[2]) or None)))
"""


def swing(torque: float, longest: float) -> co.Problem:
    """A case."""
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
    return co.Problem(two_link(), co.Free(0.1, longest), co.duration(), [*ends, co.bounds(tau=(-torque, torque))])


def logged(solution: co.Solution) -> float:
    """A column that leaves a line in a file of the campaign: a case has been solved."""
    if log := os.environ.get(_LOG):
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{solution.duration}\n")
    return 0.0


def study(folder: str | None = None, workers: int | None = None) -> co.sweeps.Sweep:
    """All cases."""
    settings = {"record": {"logged": logged}, "progress": False}
    return co.sweep(swing, CASES, co.BSpline(40), folder=folder, executor=workers, **settings)


def digest(found: co.sweeps.Sweep) -> str:
    """Every number of a table and of the motions in it, but for seconds."""
    rows = [repr(tuple(row)) for row in found.table.tolist()]
    motions = [found.solution(k).x.tobytes().hex() for k in range(len(found)) if not found["reason"][k]]
    return hashlib.sha256("\n".join(rows + motions).encode()).hexdigest()


@cache
def _undisturbed() -> str:
    """The digest of a study that nothing kills, in a process of its own: others may evaluate by other code."""
    place = Path(tempfile.mkdtemp(prefix="colloc_sweeps_"))
    words, _ = _begun(place / "study", 0, place / "log").communicate(timeout=SECONDS)
    shutil.rmtree(place)
    return words.strip()


def attempt(rng: np.random.Generator) -> Attempt:
    """A study that is killed twice, by its parent or a worker, and then left to come to its end."""
    place = Path(tempfile.mkdtemp(prefix="colloc_sweeps_"))
    log, folder, workers = place / "log", place / "study", int(rng.choice([0, 1, 2]))
    problems, kills, words = [], [], ""
    for number in range(3):
        child = _begun(folder, workers, log)
        if number < 2:
            time.sleep(float(rng.uniform(1.0, 12.0)))
            kills.append(_killed(child, worker=workers > 0 and bool(rng.random() < 0.5)))
        try:
            words, complaint = child.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return Attempt("sweep", Outcome.HANG, SNIPPET, f"no end after {kills}")
        if number == 2 and child.returncode:
            problems.append(f"ended with {child.returncode}: {complaint[-300:]}")
        problems += [f"unreadable {name}" for name in _unreadable(folder)]
    if words.strip() != _undisturbed():
        problems.append("another table")
    solved, count = len(log.read_text(encoding="utf-8").splitlines()), len(_case_files(folder))
    allowed = count + max(1, workers) * sum(kill != "nothing" for kill in kills)  # those in hand
    if solved > allowed:
        problems.append(f"{solved} cases were solved, {allowed} at most are to be expected")
    shutil.rmtree(place)
    outcome = Outcome.LOST_FILE if problems else Outcome.FINE
    kind = f"{workers} workers, killed {' and '.join(sorted(kills))}"
    return Attempt(kind, outcome, SNIPPET, "; ".join(problems))


def _begun(folder: Path, workers: int, log: Path) -> subprocess.Popen[str]:
    script = folder.parent / "run.py"
    script.write_text(SNIPPET, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), str(workers)],
        env=os.environ | {_LOG: str(log), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _killed(child: subprocess.Popen[str], *, worker: bool) -> str:
    """Kill the study, or one of its processes; what was killed."""
    if worker:
        threads = Path(f"/proc/{child.pid}/task").glob("*/children")
        own = [int(n) for thread in threads for n in thread.read_text(encoding="utf-8").split()]
        running = [n for n in own if b"spawn_main" in Path(f"/proc/{n}/cmdline").read_bytes()]
        if running:
            os.kill(running[0], signal.SIGKILL)
            return "a worker"
    if child.poll() is None:
        child.kill()
        return "the parent"
    return "nothing"


def _case_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("case_*.npz"))


def _unreadable(folder: Path) -> list[str]:
    found = []
    for file in _case_files(folder):
        try:
            read_case(file.read_bytes())
        except ValueError:
            found.append(file.name)
    return found
