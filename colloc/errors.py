"""What colloc raises: bad input at construction, and a solve that did not succeed."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class InputError(ValueError):
    """An argument that cannot be used; the message quotes the argument, its value and the legal values."""


class SolveError(RuntimeError):
    """A solve that ended without an optimum.

    Attributes
    ----------
    solution : Solution
        The last iterate, with its status, violations and convergence history.
    """

    def __init__(self, message: str, solution: Any):
        super().__init__(message)
        self.solution = solution


class SolutionWarning(UserWarning):
    """The answer comes with a reservation, such as a constraint violated between the nodes."""


class CompileWarning(UserWarning):
    """Kernels could not be compiled; the answers are the same, and slower to come by."""


def unknown_name(what: str, name: object, legal: Iterable[str]) -> InputError:
    """Error for a name that does not exist: quotes it, guesses what was meant, lists the legal ones."""
    legal = list(legal)
    close = get_close_matches(str(name), legal, n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    if close and len(legal) > 20:
        return InputError(f"no {what} named {name!r}{hint}")
    listed = ", ".join(legal[:20]) + (", ..." if len(legal) > 20 else "")
    return InputError(f"no {what} named {name!r}{hint} (known: {listed or 'none'})")
