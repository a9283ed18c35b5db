"""Files from before curves had the variables that they have now: their samples fitted by a curve of today."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from colloc.solver import Outcome, Status
from colloc.support.checks import InputError
from colloc.transcription import NLP
from colloc.transcription.trajectory import Trajectory


def fitted(name: str, nlp: NLP, arrays: Mapping[str, np.ndarray], outcome: Outcome) -> Outcome:
    """What a solver left, with the variables of a motion through the stored samples in place of its own.

    Parameters
    ----------
    name : str
        The file's, for messages.
    nlp : NLP
    arrays : mapping of str to ndarray
        Samples t [s], q and qd among them.
    outcome : Outcome
        With variables and multipliers of other curves.

    Raises
    ------
    InputError
        For a problem with unknowns, whose values such files do not tell.
    """
    if unknowns := [unknown.name for unknown in nlp.problem.unknowns]:
        raise InputError(
            f"{name!r} is of another problem, or of an early version of the library whose curves had other variables: "
            f"values of {', '.join(unknowns)} cannot be told. Its motion is there to be read by NumPy: t, q, qd, tau"
        )
    t, first = np.unique(arrays["t"], return_index=True)
    q, qd, T = arrays["q"][first], arrays["qd"][first], float(t[-1])
    if t.size < 2 or t[0] < 0 or T <= 0:
        raise InputError(f"{name!r}: t must rise from 0, got {arrays['t']}")
    none = np.zeros((1, 0))
    motion = Trajectory(lambda s: _through(t, q, qd, s * T), T, lambda _, s: np.tile(none, (s.size, 1)), lambda _: none)
    return Outcome(
        nlp.grid.pack(motion),
        {"g": np.zeros(nlp.n_g), "x": np.zeros(nlp.n_x)},
        Status.FAILED,
        f"fitted to a motion of an early version, not solved; there it was {outcome.status}, {outcome.message}",
        outcome.history,
        outcome.iterations,
        outcome.seconds,
        outcome.tolerance,
    )


def _through(t: np.ndarray, q: np.ndarray, qd: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Cubic polynomials through samples with their rates (Hermite), shape (N, n)."""
    k = np.clip(np.searchsorted(t, at, side="right") - 1, 0, t.size - 2)
    h = (t[k + 1] - t[k])[:, None]
    u = (at - t[k])[:, None] / h
    ends = (1 + 2 * u) * (1 - u) ** 2 * q[k] + u**2 * (3 - 2 * u) * q[k + 1]
    return ends + h * u * (1 - u) * ((1 - u) * qd[k] - u * qd[k + 1])
