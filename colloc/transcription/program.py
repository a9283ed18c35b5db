"""Programs of blocks: assembled into sparse values and exact derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import casadi as ca
import numpy as np

from colloc.blocks.assembly import Assembly
from colloc.blocks.block import Block
from colloc.blocks.evaluation import Evaluation
from colloc.kernels import Compile
from colloc.problem import Problem
from colloc.support.arguments import integer, validated
from colloc.support.checks import count, float_array
from colloc.support.display import short
from colloc.support.lazy import cached_property
from colloc.transcription.derivative_errors import derivative_errors
from colloc.transcription.grid import Grid


class Motion(NamedTuple):
    """One of the motions of which a program is made.

    Parameters
    ----------
    before : str
        What to put before the names of its rows and variables.
    part : slice
        Its entries of a decision vector.
    problem : Problem
    grid : Grid
    """

    before: str
    part: slice
    problem: Problem
    grid: Grid


class Program(ABC):
    """minimise the summed rows of the costs, subject to bounds on x and on the rows of the constraints.

    Variables with equal bounds are fixed: derivatives with respect to them are left out.

    One that comes from another process is built anew when it is first asked for what building gives.

    Attributes
    ----------
    costs, constraints : sequence of Block
    lower, upper : ndarray, shape (n_x,)
        Bounds of the variables.
    compile : bool, Compile or None
        Whether the blocks' functions run as compiled kernels; None where that pays, see `solve`.
    """

    costs: Sequence[Block]
    constraints: Sequence[Block]
    lower: np.ndarray
    upper: np.ndarray
    compile: bool | Compile | None
    _build: Any  # of one that is still to be built, see `recipe`: a partial without arguments to come

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # as problems do

    def __getattr__(self, name: str) -> Any:
        # Python comes here for what a program that is still to be built does not have.
        if not name.startswith("_") and "_build" in vars(self):
            built = vars(self._built)
            if name in built:
                return built[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @cached_property
    def _built(self) -> Self:
        """The program itself, of one that was to be built."""
        made = self._build()
        vars(self).update(vars(made))
        return made

    @property
    @abstractmethod
    def n_p(self) -> int:
        """Number of parameters."""

    @property
    @abstractmethod
    def scale_x(self) -> np.ndarray:
        """Natural size of every variable, shape (n_x,)."""

    @property
    @abstractmethod
    def free_duration(self) -> bool:
        """Whether any motion's duration is unknown."""

    @property
    @abstractmethod
    def described_curve(self) -> str:
        """The curve or curves, for messages."""

    @property
    @abstractmethod
    def motions(self) -> Sequence[Motion]:
        """The motions of which it is made."""

    @abstractmethod
    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        """Value of every cost term by name, weights included."""

    @abstractmethod
    def owner(self, block: Block) -> tuple[str, int | None]:
        """Whose a block is: what to put before its names, and the entry of x that is the duration of its motion."""

    @abstractmethod
    def variable_name(self, k: int, x: np.ndarray) -> str:
        """What a variable is; of a control point its joint or signal, and the time in whose neighbourhood it counts."""

    @property
    def n_x(self) -> int:
        """Number of variables."""
        return self.lower.size

    @cached_property
    def offsets(self) -> np.ndarray:
        """First row of every constraint block, and the number of rows in all."""
        return np.cumsum([0] + [block.n_rows * block.n_slices for block in self.constraints])

    @property
    def n_g(self) -> int:
        """Number of constraint rows."""
        return int(self.offsets[-1])

    @cached_property
    def bounds_g(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the constraint rows."""
        lower = [np.tile(block.rows.lower, block.n_slices) for block in self.constraints]
        upper = [np.tile(block.rows.upper, block.n_slices) for block in self.constraints]
        return np.concatenate([np.zeros(0), *lower]), np.concatenate([np.zeros(0), *upper])

    @cached_property
    def scale_g(self) -> np.ndarray:
        """Natural size of every constraint row, from its bounds."""
        return np.concatenate([np.zeros(0), *(np.tile(b.rows.scale, b.n_slices) for b in self.constraints)])

    @cached_property
    def free(self) -> np.ndarray:
        """Which variables are not fixed, ndarray of bool, shape (n_x,)."""
        return self.lower < self.upper

    @cached_property
    def _first(self) -> Evaluation:
        """Values and first derivatives."""
        return Evaluation((*self.costs, *self.constraints), ("value", "gradient", "jacobian"), self.compile)

    @cached_property
    def _assembly(self) -> Assembly:
        return Assembly(self._first, ca.MX.sym("x", self.n_x), ca.MX.sym("p", self.n_p), self.free)

    @cached_property
    def f(self) -> ca.Function:
        """(x, p) -> cost."""
        return ca.Function("f", self._assembly.xp, [self._assembly.cost(self.costs)], ["x", "p"], ["f"])

    @cached_property
    def g(self) -> ca.Function:
        """(x, p) -> constraint rows."""
        return ca.Function("g", self._assembly.xp, [self._assembly.rows(self.constraints)], ["x", "p"], ["g"])

    @cached_property
    def grad_f(self) -> ca.Function:
        """(x, p) -> cost, its gradient."""
        found = [self.f(*self._assembly.xp), self._assembly.gradient(self.costs)]
        return ca.Function("grad_f", self._assembly.xp, found, ["x", "p"], ["f", "grad_f_x"])

    @cached_property
    def jac_g(self) -> ca.Function:
        """(x, p) -> constraint rows, their sparse Jacobian."""
        found = [self.g(*self._assembly.xp), self._assembly.jacobian(self.constraints, self.offsets)]
        return ca.Function("jac_g", self._assembly.xp, found, ["x", "p"], ["g", "jac_g_x"])

    @cached_property
    def hess_lag(self) -> ca.Function:
        """(x, p, lam_f, lam_g) -> sparse upper triangle of the Hessian of lam_f f + lam_g' g."""
        return self._hessian("hessian")

    @cached_property
    def gauss_newton(self) -> ca.Function:
        """`hess_lag` with J'J of the costs that are sums of squares only: no second derivatives at all."""
        return self._hessian("gauss_newton")

    def _hessian(self, kind: str) -> ca.Function:
        # An evaluation of their own: who asks for no second derivatives need not wait until they are compiled.
        evaluation = Evaluation((*self.costs, *self.constraints), (kind,), self._first.choice)
        multipliers = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.n_g)
        assembly = self._assembly._replace(evaluation=evaluation)
        found = assembly.hessian(kind, self.costs, self.constraints, self.offsets, *multipliers)
        names = ["x", "p", "lam_f", "lam_g"]
        return ca.Function("hess_lag", [*assembly.xp, *multipliers], [found], names, ["triu_hess_gamma_x_x"])

    def row_name(self, row: int, x: np.ndarray | None = None) -> str:
        """Constraint, joint and time of a row of g; time in seconds at a decision vector."""
        count("row", row, at_least=0, at_most=self.n_g - 1)
        k = int(np.searchsorted(self.offsets, row, side="right")) - 1
        block = self.constraints[k]
        site, line = divmod(row - int(self.offsets[k]), block.n_rows)
        return self._name(block, line, site, None if x is None else float_array("x", x, (self.n_x,)))

    def _name(self, block: Block, line: int, site: int, x: np.ndarray | None) -> str:
        before, duration = self.owner(block)
        s = block.sites.s[site]
        if duration is None:  # rows of several motions have no time
            return f"{before}{block.rows.labels[line]}"
        when = f"s = {s:.4g}" if x is None else f"t = {s * x[duration]:.4g} s"
        return f"{before}{block.rows.labels[line]} at {when}"

    def _checked(self, x: np.ndarray, p: np.ndarray | Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Variables and parameters, one each; they may be infinite or undefined."""
        size = self.n_p
        return float_array("x", x, (self.n_x,)), float_array("p", p, (size,))

    def first_undefined(self, x: np.ndarray, p: np.ndarray) -> str | None:
        """Name of the first cost or constraint row that is not a finite number at x; None when all are."""
        x, p = self._checked(x, p)
        for block in self.costs:
            values = block.evaluate(x, p)
            for row, site in np.argwhere(~np.isfinite(values))[:1]:
                term = self.owner(block)[0] + block.rows.labels[row]
                return f"cost term {term!r} is {values[row, site]} at s = {block.sites.s[site]:.4g}"
        values = np.array(self.g(x, p)).ravel()
        for row in np.flatnonzero(~np.isfinite(values))[:1]:
            return f"constraint {self.row_name(int(row))} is {values[row]}"
        return None

    def violation(self, x: np.ndarray, p: np.ndarray) -> float:
        """Largest violation of a row or of a variable's bounds at x, relative to its natural size.

        Infinite where one is not a number.
        """
        x, p = self._checked(x, p)
        own = [(x, self.lower, self.upper, self.scale_x)]
        for b in self.constraints:
            rows = b.rows
            own.append((b.evaluate(x, p), rows.lower[:, None], rows.upper[:, None], rows.scale[:, None]))
        excesses = [np.maximum(low - value, value - high) / scale for value, low, high, scale in own]
        largest = float(np.max([excess.max(initial=0) for excess in excesses]))
        return largest if largest >= 0 else np.inf

    @validated(directions=integer(1), seed=integer())
    def check_derivatives(
        self, x: np.ndarray, p: np.ndarray | Sequence[float] = (), *, directions: int = 3, seed: int = 0
    ) -> dict[str, float]:
        """Largest relative error of the derivatives against central differences along random directions.

        Parameters
        ----------
        x : ndarray, shape (n_x,)
        p : sequence of float
            Parameter values.
        directions, seed : int

        Returns
        -------
        dict
            Keys "gradient", "jacobian", "hessian": ||error|| / max(1, ||derivative||).
        """
        return derivative_errors(self, *self._checked(x, p), directions, seed)

    def spy(self) -> str:
        """Counts of variables, rows and nonzeros."""
        jacobian, hessian = self.jac_g.sparsity_out(1), self.hess_lag.sparsity_out(0)
        return f"{self.n_x} variables, {self.n_g} rows, {jacobian.nnz()} Jacobian and {hessian.nnz()} Hessian nonzeros"

    def _lines(self) -> list[tuple[str, str, str, str]]:
        """Costs and constraints as lines of a table."""
        lines = []
        for b in self.costs:
            kind = "" if b.weights is None else f"sum of {b.n_rows * b.n_slices} squares"
            lines.append(("cost", self.owner(b)[0] + ", ".join(dict.fromkeys(b.rows.labels)), str(b.n_slices), kind))
        for b in self.constraints:
            equal = int((b.rows.lower == b.rows.upper).sum())
            kind = "equality" if equal == b.n_rows else "inequality" if equal == 0 else "mixed"
            size = f"{kind}, scale {short(b.rows.scale.max())}"
            lines.append(("constraint", self.owner(b)[0] + b.name, f"{b.n_rows} x {b.n_slices}", size))
        return lines
