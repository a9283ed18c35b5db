"""The nonlinear program of one motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from colloc.blocks.block import Block
from colloc.curves.curve import Transcription
from colloc.kernels import Compile
from colloc.problem import Problem, natural_size
from colloc.support.checks import count, finite_array, instance
from colloc.support.display import Table
from colloc.support.lazy import cached_property
from colloc.transcription.grid import Grid
from colloc.transcription.program import Motion, Program
from colloc.transcription.shared import parameter_symbols

# Sizes at most of unknowns, and of positions and durations, which are in radians, metres and seconds, in multiples of
# their least magnitude if that is more than one: bounds that are looser tell no size.
_LOOSE, _LOOSE_MOTION = 1e4, 100.0


@dataclass(frozen=True, eq=False, repr=False)
class NLP(Program):
    """minimise the summed rows of the costs, subject to bounds on x and on the rows of the constraints.

    Variables with equal bounds are fixed: derivatives with respect to them are left out.

    Parameters
    ----------
    problem : Problem
    curve : BSpline, HermiteSimpson or Radau
    grid : Grid
        The variables and evaluation sites.
    torques : (str, str)
        Names of the formulation that gives the torques and of what gives their derivatives.
    costs, constraints : sequence of Block
    lower, upper : ndarray, shape (n_x,)
        Bounds of the variables.
    compile : bool, Compile or None
        Whether the blocks' functions run as compiled kernels; None where that pays, see `solve`.

    Examples
    --------
    >>> nlp = co.transcribe(problem, co.BSpline(20))
    >>> nlp.lower.shape == nlp.upper.shape
    True
    """

    problem: Problem
    curve: Transcription
    grid: Grid
    torques: tuple[str, str]
    costs: Sequence[Block]
    constraints: Sequence[Block]
    lower: np.ndarray
    upper: np.ndarray
    compile: bool | Compile | None = None

    @property
    def phases(self) -> dict[str, NLP]:
        """This program as that of one phase, without a name."""
        return {"": self}

    @property
    def parts(self) -> dict[str, slice]:
        """Every phase's entries of a decision vector."""
        return {"": slice(0, self.n_x)}

    @property
    def n_p(self) -> int:
        """Number of parameters."""
        return parameter_symbols(self.problem).shape[0]

    @cached_property
    def scale_x(self) -> np.ndarray:
        """Natural size of every variable, from its bounds; of control points also from the width that they govern."""
        layout, most = self.grid.layout, np.full(self.n_x, _LOOSE)
        for own in (layout["q"], layout.duration):
            most[own - layout.offset] = _LOOSE_MOTION
        least = np.maximum(np.maximum(self.lower, -self.upper), 1.0)  # magnitude
        return self.grid.natural(np.minimum(natural_size(self.lower, self.upper), most * least))

    @property
    def free_duration(self) -> bool:
        """Whether the duration is unknown."""
        return self.problem.horizon.lower < self.problem.horizon.upper

    @property
    def motions(self) -> Sequence[Motion]:
        """This one."""
        return [Motion("", slice(0, self.n_x), self.problem, self.grid)]

    @property
    def described_curve(self) -> str:
        """The curve, for messages."""
        return str(self.curve)

    def duration(self, x: np.ndarray) -> float:
        """Duration of the motion at x [s]."""
        return float(finite_array("x", x, (self.n_x,))[self.grid.layout.duration[0]])

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        """Value of every cost term by name, weights included."""
        x, p = self._checked(x, p)
        found = dict.fromkeys(self.problem.costs, 0.0)
        for block in self.costs:
            for label, value in zip(block.rows.labels, block.evaluate(x, p).sum(axis=1), strict=True):
                found[label] += float(value)
        return found

    def owner(self, block: Block) -> tuple[str, int | None]:
        """Nothing to put before names, and the entry of x that is the duration."""
        instance("block", block, Block)
        return "", int(self.grid.layout.duration[0])

    def variable_name(self, k: int, x: np.ndarray) -> str:
        """What a variable is; of a control point its joint or signal, and the time in whose neighbourhood it counts."""
        count("k", k, at_least=0, at_most=self.n_x - 1)
        layout, problem, T = self.grid.layout, self.problem, self.duration(x)
        columns = {"q": [f"q[{joint}]" for joint in problem.model.position_names]}
        columns["signals"] = [
            f"{u.name}[{i}]" if u.size > 1 else u.name for u in problem.signals for i in range(u.size)
        ]
        columns["states"] = [f"{u.name}[{i}]" if u.size > 1 else u.name for u in problem.states for i in range(u.size)]
        splines = {"q": self.grid.basis, "signals": self.curve.signals, "states": self.grid.states}
        for name, index in layout.names.items():
            for point, *column in np.argwhere(index == k).tolist():
                if name in columns:
                    return f"{columns[name][column[0]]} at t = {splines[name].greville()[point] * T:.4g} s"
                return name if index.size == 1 else f"{name}[{point}]"
        return f"variable {k}"

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        lines = [("torques", self.torques[0], "", f"first derivatives by {self.torques[1]}")]
        for name, index in self.grid.layout.names.items():
            fixed = int((~self.free[index]).sum())
            lines.append(("variables", name, str(index.size), f"{fixed} fixed" if fixed else ""))
        if self.grid.extra is not None:
            lines.append(("nodes", "where limits were exceeded between nodes", str(self.grid.extra.s.size), "added"))
        lines += self._lines()
        return Table(f"NLP: {self.spy()}", ("", "name", "count", ""), lines)
