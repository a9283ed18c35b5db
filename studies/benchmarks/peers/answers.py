"""Questions to tools, each in a process of its own, and answers kept as one file a question, so that a comparison can
be stopped and continued."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import colloc as co
from colloc.support.files import write_atomically

SHARED = 6.0  # times as long by the clock: what else the machine does is not a tool's fault
_JUST = 60.0  # s, in which a run has just begun


class OutOfTime(Exception):
    """A question that is left for another run."""


@dataclass(frozen=True)
class Answers:
    """A folder of answers of one commit on one machine.

    Parameters
    ----------
    commit, machine : str
        Of this run. Answers of another commit or machine are refused.
    folder : Path, optional
        Place of the files; None keeps nothing.
    begin, until : float
        Readings of `time.monotonic`, after the second of which nothing new is asked.
    """

    commit: str = ""
    machine: str = ""
    folder: Path | None = None
    begin: float = 0.0
    until: float = inf

    def get(self, key: str, ask: Callable[[], dict[str, Any]], longest: float = 0.0) -> dict[str, Any]:
        """The answer to a question, from its file or asked now and written down.

        Parameters
        ----------
        key : str
            Name of the question, and of its file.
        ask : callable
            Its answer, anything that JSON holds.
        longest : float [s]
            That it may take: unless the run has just begun, it must end in time.

        Raises
        ------
        OutOfTime
            If there is no file, and no time to ask.
        colloc.InputError
            If the file is of another commit or machine.
        """
        path = None if self.folder is None else self.folder / f"{key}.json"
        if path is not None and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            for what in ("commit", "machine"):
                if kept[what] != getattr(self, what):
                    raise co.InputError(
                        f"{path} is of {what} {kept[what]!r}, this run is of {getattr(self, what)!r}: all answers of a"
                        " comparison must be of one commit on one machine; name another folder"
                    )
            return kept["answer"]
        begin = time.monotonic()
        if begin > self.until or (begin + longest > self.until and begin > self.begin + _JUST):
            raise OutOfTime(key)
        answer = ask()
        if path is not None:
            kept = {"commit": self.commit, "machine": self.machine, "seconds": time.monotonic() - begin}
            write_atomically(path, json.dumps(kept | {"answer": answer}).encode())
        return answer

    def seconds(self) -> float:
        """Seconds by the clock that all answers took that are kept."""
        files = [] if self.folder is None else sorted(self.folder.glob("*.json"))
        return sum(json.loads(path.read_text(encoding="utf-8"))["seconds"] for path in files)


def asked(file: str, work: str, problem: Mapping[str, Any], effort: int, again: int, patience: float) -> dict[str, Any]:
    """The answer of a tool's file, run in a process of its own on one thread; a sentence where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task.json", Path(folder) / "answer.json"
        question = {"problem": dict(problem), "work": work, "effort": effort, "again": again, "limit": patience}
        task.write_text(json.dumps(question), encoding="utf-8")
        # Packages that do not live beside the others have a folder for themselves, or an environment.
        apart = Path(sys.prefix, "apart", Path(file).stem.removeprefix("with_"))
        own = apart / "bin" / "python"
        python = str(own) if own.exists() else sys.executable
        command = [python, "-P", str(Path(__file__).with_name("process.py")), file, str(task), str(answer)]
        places = (apart, Path(__file__).resolve().parents[3])
        path = os.pathsep.join(str(place) for place in places)
        alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
        alone.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have theirs, and a checkout keeps its own
        try:
            ended = subprocess.run(
                command, cwd=folder, env=alone, capture_output=True, text=True, check=False, timeout=SHARED * patience
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"no answer within {SHARED * patience:.0f} s by the clock"}
        if ended.returncode == -signal.SIGXCPU:
            return {"failed": f"no answer within {patience:.0f} s"}
        if not answer.exists():
            last = (ended.stderr.strip().splitlines() or ["no word"])[-1]
            return {"failed": f"the process ended with {ended.returncode}: {last}"[:300]}
        return json.loads(answer.read_text(encoding="utf-8"))
