"""A process of its own for many small tries, since one of them may crash or hang the interpreter."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Mapping
from typing import Any


class Worker:
    """A process that answers requests, started again when it has died.

    Parameters
    ----------
    module : str
        Name of a module that reads requests as JSON lines and answers each with a line (see `serve`).
    seconds : float
        After which a request counts as hanging, and the process is killed.
    """

    def __init__(self, module: str, seconds: float):
        self.module, self.seconds = module, seconds
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | str:
        """The answer; "hang" or "crash" where there is none."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.seconds)
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.close()
        return "crash" if ready else "hang"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
