"""Answers of tools, kept as one file a question, so that a comparison can be stopped and continued."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import colloc as co
from colloc.support.files import write_atomically

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
