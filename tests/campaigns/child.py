"""A snippet of Python in a process of its own, since it may crash or hang the interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping

from tests.campaigns.attempt import Attempt, Outcome

_TYPES = ("colloc.support.checks.InputError", "colloc.refinement.failure.SolveError")


def attempt_apart(
    kind: str,
    snippet: str,
    *,
    seconds: float = 60.0,
    environment: Mapping[str, str | None] | None = None,
) -> Attempt:
    """Run a snippet and judge its end.

    An InputError or SolveError is a fine end; a failed assertion is nonsense, or the outcome that its message begins
    with (`assert name.exists(), "lost or torn file: ..."`); any other exception is a raw traceback.

    Parameters
    ----------
    kind, snippet : str
        As in `Attempt`.
    seconds : float
        Longer is a hang; the child and all that it started are ended.
    environment : mapping of str to str or None, optional
        Variables set, or unset where None.
    """
    variables = os.environ | {"PYTHONFAULTHANDLER": "1"} | dict(environment or {})
    child = subprocess.Popen(
        [sys.executable, "-c", snippet],
        env={name: value for name, value in variables.items() if value is not None},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        _, words = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return Attempt(kind, Outcome.HANG, snippet, f"still running after {seconds:g} s")
    return judged(kind, snippet, child.returncode, words)


def judged(kind: str, snippet: str, code: int, words: str) -> Attempt:
    """The attempt whose process ended with this exit code and these words on standard error."""
    lines = words.strip().splitlines()
    last = next((line for line in reversed(lines) if line and not line.startswith(" ")), "")
    # The last line may be a note of the error's.
    if code == 0 or any(line.startswith(_TYPES) for line in (last, *lines[-3:])):
        return Attempt(kind, Outcome.FINE, snippet)
    if code < 0 or code > 128:
        return Attempt(kind, Outcome.CRASH, snippet, f"exit code {code}: {' '.join(lines[:3])}")
    if last.startswith("AssertionError"):
        said = last.removeprefix("AssertionError").removeprefix(": ")
        named = [outcome for outcome in Outcome if said.startswith(outcome)]
        return Attempt(kind, named[0] if named else Outcome.NONSENSE, snippet, said)
    return Attempt(kind, Outcome.RAW_TRACEBACK, snippet, "\n".join(lines[-6:]))
