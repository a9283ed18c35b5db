"""Synergies: groups of muscles that are activated together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.muscles.muscles import Muscles
from colloc.problem import Condition, Contribution, Part, Unknown, at, path
from colloc.support.checks import InputError, as_tuple, finite_array, instance, quoted, spelt, text


@spelt
@dataclass(frozen=True, eq=False)
class Synergies(Part):
    """Muscles that a few signals control together: a part of a problem beside `Muscles`.

    Each muscle's excitation, or its activation where muscles have no excitation, is its least value plus a weighted sum
    of the synergies' signals (d'Avella, Saltiel and Bizzi 2003, "Combinations of muscle synergies in the construction
    of a natural motor behavior"). The weights are those of a factorisation of recorded EMG, or unknown constants of the
    problem.

    Parameters
    ----------
    muscles : Muscles
        The part of the same problem.
    names : sequence of str
        Names of the synergies.
    weights : array_like, shape (muscles, synergies), optional
        Not negative. By default they are unknown constants between 0 and 1, whose sum is one in every synergy, and the
        guess shares the muscles among the synergies in turn.
    name : str
        Name of the signals, which instants carry, one for each synergy.

    Examples
    --------
    >>> def muscle(name, distance):
    ...     points = [("shoulder", (-0.3, 0.03, 0.0)), ("elbow", (distance, 0.02, 0.0))]
    ...     path = co.muscles.MusclePath([co.muscles.ViaPoint(body, place) for body, place in points])
    ...     return co.muscles.Muscle(name, path, 500.0, 0.15, 0.2)
    >>> flexors = [muscle("long", -0.35), muscle("short", -0.34)]
    >>> arm = co.muscles.Muscles(
    ...     two_link(), flexors, activation="instantaneous", reserves={"shoulder": 50.0, "elbow": 10.0}
    ... )
    >>> effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve))
    >>> together = co.muscles.Synergies(arm, ["bend"], weights=[[1.0], [1.0]])
    >>> bend = co.Problem(two_link(), 0.5, effort, problem.subject_to[:2], parts=[arm, together])
    >>> solution = co.solve(bend, co.BSpline(10))
    >>> bool(np.abs(solution.activation["long"] - solution.activation["short"]).max() < 1e-6)
    True
    """

    muscles: Muscles
    names: Sequence[str]
    weights: Any = None
    name: str = "synergy"
    _signals: Unknown = field(init=False, repr=False)
    _weights: Unknown | None = field(init=False, repr=False)

    def __post_init__(self):
        instance("muscles", self.muscles, Muscles, "see co.muscles.Muscles")
        names = tuple(text("name of a synergy", name) for name in as_tuple("names of synergies", self.names))
        count = len(self.muscles.names)
        if not names or len(set(names)) < len(names):
            raise InputError(f"names of synergies must be one or more different ones, got {quoted(self.names)}")
        if len(names) > count:
            raise InputError(f"synergies must be at most as many as the muscles, got {len(names)} for {count}")
        unknown = None
        if self.weights is None:
            labels = [f"{muscle} in {name}" for name in names for muscle in self.muscles.names]
            turn = np.where(np.arange(count)[:, None] % len(names) == np.arange(len(names)), 1.0, 0.1)
            guess = (turn / turn.sum(axis=0)).T.ravel()
            limits: dict[str, Any] = {"lower": 0.0, "upper": 1.0, "guess": guess, "constant": True}
            unknown = Unknown(f"{self.name}_weights", names=labels, **limits)
        else:
            values = finite_array("weights of synergies", self.weights, (count, len(names)))
            if (values < 0).any() or (values.max(axis=0) == 0).any():
                raise InputError("weights of synergies must not be negative, nor all zero in a synergy")
            object.__setattr__(self, "weights", values)
        signals = Unknown(self.name, names=names, lower=0.0, guess=0.1)
        for attribute, value in (("names", names), ("_weights", unknown), ("_signals", signals)):
            object.__setattr__(self, attribute, value)

    def __repr__(self) -> str:
        kind = "unknown weights" if self._weights is not None else "given weights"
        return f"Synergies({', '.join(self.names)}: {kind} of {len(self.muscles.names)} muscles)"

    def contribution(self) -> Contribution:
        """Signals of the synergies, their weights if unknown, and the rows that tie the muscles to them."""
        labels = [f"{name} by synergies" for name in self.muscles.names]
        rows: list[Condition] = [path(self._excess, equals=0.0, name="synergies", labels=labels)]
        if self._weights is None:
            return Contribution([self._signals], statements=rows)
        sums = [f"weights of {name}" for name in self.names]
        rows.append(at(0.0, self._sums, equals=1.0, name="weights of synergies", labels=sums))
        return Contribution([self._signals, self._weights], statements=rows)

    def matrix(self, now: Instant) -> ca.SX:
        """The weights, SX, shape (muscles, synergies)."""
        if self._weights is None:
            return ca.SX(ca.DM(self.weights))
        values = getattr(now, self._weights.name)
        return ca.reshape(values, len(self.muscles.names), len(self.names))

    def _excess(self, now: Instant) -> ca.SX:
        command = now.excitation if self.muscles.activation == "explicit" else now.activation
        return command - self.muscles.lower - self.matrix(now) @ getattr(now, self.name)

    def _sums(self, now: Instant) -> ca.SX:
        return ca.sum1(self.matrix(now)).T
