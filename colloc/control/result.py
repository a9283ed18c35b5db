"""The result of iLQR: states, controls, gains, and the record of its iterations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from colloc.support.display import Table, Tabular, short


class IlqrStatus(StrEnum):
    """The end of the iterations. Only `CONVERGED` is success.

    Examples
    --------
    >>> [status.name for status in co.control.IlqrStatus]
    ['CONVERGED', 'ITERATION_LIMIT', 'NO_DESCENT', 'DIVERGED', 'UNDEFINED']
    """

    CONVERGED = "converged"
    ITERATION_LIMIT = "iteration limit"
    NO_DESCENT = "no step decreases the cost"
    DIVERGED = "the given controls make the states diverge"
    UNDEFINED = "cost or derivatives are not finite"


@dataclass(frozen=True, eq=False, repr=False)
class IlqrResult(Tabular):
    """The result of `ilqr`: the last good iterate, and the record of the iterations.

    Parameters
    ----------
    x : ndarray, shape (K + 1, n_x)
        States.
    u : ndarray, shape (K, n_u)
        Controls. After `IlqrStatus.DIVERGED` both are NaN from the first state that is not finite.
    gains : ndarray, shape (K, n_u, n_dx)
        Optimal feedback about this trajectory: u[k] + gains[k] (x - x[k]), with the difference of `StateSpace` for
        quaternions. Zero in the rows of controls at their limits, and after `Form.BATCH`. About the previous iterate
        unless converged.
    cost : float
    status : IlqrStatus
    history : dict of str to list of float
        Per iteration: "cost" before it, "expected" decrease of the full step, "step" length (0 if none was taken) and
        "damping".
    seconds : float
        Wall time.

    Examples
    --------
    >>> system = co.control.discretise(two_link(), dt=0.02)
    >>> there = co.control.state_cost((1.0, -1.0, 0.0, 0.0), 100.0, steps=[-1])
    >>> swing = co.control.ilqr(system, there + co.control.control_cost(1e-3), (0, -2, 0, 0), np.zeros((50, 2)))
    >>> swing.x.shape, swing.u.shape, swing.gains.shape
    ((51, 4), (50, 2), (50, 2, 4))
    """

    x: np.ndarray
    u: np.ndarray
    gains: np.ndarray
    cost: float
    status: IlqrStatus
    history: dict[str, list[float]]
    seconds: float

    @property
    def success(self) -> bool:
        """Whether the status is `IlqrStatus.CONVERGED`."""
        return self.status is IlqrStatus.CONVERGED

    @property
    def iterations(self) -> int:
        """Number of steps taken."""
        return sum(step > 0 for step in self.history["step"])

    def _table(self) -> Table:
        rows = [("status", str(self.status)), ("cost", f"{self.cost:.10g}")]
        rows.append(("effort", f"{self.iterations} iterations, {self.seconds:.3f} s"))
        if expected := self.history["expected"]:
            rows.append(("expected", f"{short(expected[-1])} less by a further step"))
        return Table(f"Trajectory of {len(self.u)} steps, {self.x.shape[1]} states", ("", ""), rows)
