"""One try to break something, and how it ended."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """How a try ended; all but the first is a defect."""

    FINE = "fine"
    RAW_TRACEBACK = "raw traceback"
    NONSENSE = "silent nonsense"
    LOST_FILE = "lost or torn file"
    SWALLOWED_INTERRUPT = "swallowed interrupt"
    CRASH = "crash"
    HANG = "hang"


class Attempt(NamedTuple):
    """One try.

    Parameters
    ----------
    kind : str
        What was tried, in a few words; tries are counted by it.
    outcome : Outcome
    snippet : str
        Python that does the same again on its own, run from the folder of the project.
    what : str
        What happened, where that was not fine.
    """

    kind: str
    outcome: Outcome
    snippet: str = ""
    what: str = ""
