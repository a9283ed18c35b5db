"""Nonlinear programs made of blocks, with sparse values and exact derivatives; the program of one motion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import casadi as ca
import numpy as np

from colloc.blocks.assembly import Assembly
from colloc.blocks.block import Block
from colloc.blocks.evaluation import Evaluation
from colloc.curves.curve import Transcription, brief, check_curve
from colloc.curves.mesh import Points
from colloc.dynamics import DerivativeRecursion, InverseDynamics, check_formulation, newton_euler
from colloc.kernels import Compile, check_compile
from colloc.problem import Problem, natural_size
from colloc.support.arguments import integer, validated
from colloc.support.checks import InputError, count, finite_array, float_array, instance, quoted
from colloc.support.display import Table, Tabular, short, shown
from colloc.support.lazy import cached_property, kept_by
from colloc.support.progress import announce
from colloc.transcription.differences import central_difference
from colloc.transcription.fixed_ends import FixedEnds, fix_ends
from colloc.transcription.free_knots import grid_of
from colloc.transcription.grid import Grid
from colloc.transcription.layout import parameter_symbols
from colloc.transcription.problem_blocks import constraint_blocks, cost_blocks
from colloc.transcription.torques import Torques

# Largest natural sizes of unknowns, and of positions and durations (radians, metres, seconds), in multiples of their
# least magnitude if that exceeds one: looser bounds give no size.
_LOOSE, _LOOSE_MOTION = 1e4, 100.0
_SECONDS = 8e-3  # seconds of building per pair of a joint and one that moves it (entries of the mass matrix)


class Phase(NamedTuple):
    """One phase of a program."""

    before: str  # prefix of the names of its rows and variables
    part: slice  # its entries of the decision vector
    problem: Problem
    grid: Grid


class ProgramCache(dict[Any, Any]):
    """Functions of a program, and data that solvers and error estimates keep for its next use.

    The cache does not refer to the program, with which it lives.
    """


_kept = kept_by("cache")


class BaseNLP(Tabular, ABC):
    """Nonlinear program: minimise the summed rows of the costs, subject to bounds on x and on the rows of the
    constraints.

    Variables with equal bounds are fixed: derivatives by them are left out.

    Attributes
    ----------
    compile : bool, Compile or None
        Whether an interpreter evaluates the blocks' functions; None if decided automatically, see `solve`.
    phases : mapping of str to NLP
        Programs of the phases; a program without phases is its own only phase, with an empty name.
    """

    compile: bool | Compile | None
    phases: Mapping[str, NLP]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # like problems

    @property
    @abstractmethod
    def costs(self) -> Sequence[Block]:
        """The costs as blocks."""

    @property
    @abstractmethod
    def constraints(self) -> Sequence[Block]:
        """The constraints as blocks."""

    @property
    @abstractmethod
    def lower(self) -> np.ndarray:
        """Lower bounds of the variables, shape (n_x,)."""

    @property
    @abstractmethod
    def upper(self) -> np.ndarray:
        """Upper bounds of the variables, shape (n_x,)."""

    @property
    def built(self) -> Self:
        return self

    @property
    def in_sequence(self) -> bool:
        """Whether each phase begins when the one before it ends."""
        return True

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
        """Whether the duration of any phase is unknown."""

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, slice]:
        """Entries of the decision vector, by phase."""

    @abstractmethod
    def with_phases(self, phases: Mapping[str, NLP]) -> Self:
        """The same motion with other programs for its phases."""

    @property
    def curves(self) -> dict[str, Transcription]:
        """The curve of every phase."""
        return {name: nlp.curve for name, nlp in self.phases.items()}

    @property
    def described_curve(self) -> str:
        """The curve or curves, for messages."""
        return ", ".join(dict.fromkeys(brief(curve) for curve in self.curves.values()))

    @property
    def motions(self) -> list[Phase]:
        """The phases, with their entries of the decision vector."""
        return [
            Phase(f"{name}: " if name else "", self.parts[name], nlp.problem, nlp.grid)
            for name, nlp in self.phases.items()
        ]

    @abstractmethod
    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        """Value of every cost term by name, weights included."""

    @property
    @abstractmethod
    def owners(self) -> Mapping[Block, str]:
        """The phase of every block; blocks that link phases have none."""

    @abstractmethod
    def owner(self, block: Block) -> tuple[str, int | None]:
        """Prefix of a block's names, and the entry of x that is the duration of its phase."""

    @abstractmethod
    def variable_name(self, k: int, x: np.ndarray) -> str:
        """Name of a variable; of a control point its joint or signal, and the time near which it acts."""

    @property
    def n_x(self) -> int:
        """Number of variables."""
        return self.lower.size

    @cached_property
    def offsets(self) -> np.ndarray:
        """First row of every constraint block, and the total number of rows."""
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
        """Mask of the variables that are not fixed, ndarray of bool, shape (n_x,)."""
        return self.lower < self.upper

    @cached_property
    def cache(self) -> ProgramCache:
        """Functions of the program, and data kept for their next use."""
        return ProgramCache()

    @_kept
    def _first(self) -> Evaluation:
        return Evaluation((*self.costs, *self.constraints), ("value", "gradient", "jacobian"), self.compile)

    @_kept
    def _assembly(self) -> Assembly:
        return Assembly(self._first, ca.MX.sym("x", self.n_x), ca.MX.sym("p", self.n_p), self.free)

    @_kept
    def f(self) -> ca.Function:
        """(x, p) -> cost."""
        return ca.Function("f", self._assembly.xp, [self._assembly.cost(self.costs)], ["x", "p"], ["f"])

    @_kept
    def g(self) -> ca.Function:
        """(x, p) -> constraint rows."""
        return ca.Function("g", self._assembly.xp, [self._assembly.rows(self.constraints)], ["x", "p"], ["g"])

    @_kept
    def grad_f(self) -> ca.Function:
        """(x, p) -> cost, its gradient."""
        outputs = [self.f(*self._assembly.xp), self._assembly.gradient(self.costs)]
        return ca.Function("grad_f", self._assembly.xp, outputs, ["x", "p"], ["f", "grad_f_x"])

    @_kept
    def jac_g(self) -> ca.Function:
        """(x, p) -> constraint rows, their sparse Jacobian."""
        outputs = [self.g(*self._assembly.xp), self._assembly.jacobian(self.constraints, self.offsets)]
        return ca.Function("jac_g", self._assembly.xp, outputs, ["x", "p"], ["g", "jac_g_x"])

    @_kept
    def hess_lag(self) -> ca.Function:
        """(x, p, lam_f, lam_g) -> sparse upper triangle of the Hessian of lam_f f + lam_g' g."""
        return self._hessian("hessian")

    @_kept
    def gauss_newton(self) -> ca.Function:
        """`hess_lag` with only J'J of the costs that are sums of squares: no second derivatives."""
        return self._hessian("gauss_newton")

    def _hessian(self, kind: str) -> ca.Function:
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.n_g)
        multipliers = {b: ca.repmat(lam_f, 1, b.n_slices) for b in self.costs}
        rows = {
            b: ca.reshape(lam_g[first:end], b.n_rows, b.n_slices)
            for b, first, end in zip(self.constraints, self.offsets, self.offsets[1:], strict=False)
            if b.rows.bounded  # those without a bound have no multipliers
        }
        for joint, blocks in Block.joined([*rows]).items():
            multipliers[joint] = ca.vertcat(*(rows[b] for b in blocks))
        # A separate evaluation: users without second derivatives need not wait for their compilation.
        evaluation = Evaluation([*multipliers], (kind,), self._first.choice)
        assembly = self._assembly._replace(evaluation=evaluation)
        inputs, names = [*assembly.xp, lam_f, lam_g], ["x", "p", "lam_f", "lam_g"]
        return ca.Function("hess_lag", inputs, [assembly.hessian(kind, multipliers)], names, ["triu_hess_gamma_x_x"])

    def row_name(self, row: int, x: np.ndarray | None = None) -> str:
        """Constraint, joint and time of a row of g; in seconds if a decision vector is given."""
        count("row", row, at_least=0, at_most=self.n_g - 1)
        k = int(np.searchsorted(self.offsets, row, side="right")) - 1
        block = self.constraints[k]
        site, line = divmod(row - int(self.offsets[k]), block.n_rows)
        return self._name(block, line, site, None if x is None else float_array("x", x, (self.n_x,)))

    def _name(self, block: Block, line: int, site: int, x: np.ndarray | None) -> str:
        before, duration = self.owner(block)
        s = block.sites.s[site]
        if duration is None:  # rows that link phases have no time
            return f"{before}{block.rows.labels[line]}"
        when = f"s = {s:.4g}" if x is None else f"t = {s * x[duration]:.4g} s"
        return f"{before}{block.rows.labels[line]} at {when}"

    def _checked(self, x: np.ndarray, p: np.ndarray | Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Variables and parameters of the right size; they may be infinite or undefined."""
        size = self.n_p
        return float_array("x", x, (self.n_x,)), float_array("p", p, (size,))

    def first_undefined(self, x: np.ndarray, p: np.ndarray) -> str | None:
        """Name of the first cost or constraint row that is not finite at x; None if all are."""
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

        Infinite if one is not a number.
        """
        x, p = self._checked(x, p)
        ranges = [(x, self.lower, self.upper, self.scale_x)]
        for b in self.constraints:
            rows = b.rows
            ranges.append((b.evaluate(x, p), rows.lower[:, None], rows.upper[:, None], rows.scale[:, None]))
        excesses = [np.maximum(low - value, value - high) / scale for value, low, high, scale in ranges]
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
        return _derivative_errors(self, *self._checked(x, p), directions, seed)

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


class Recipe(NamedTuple):
    """Data from which the program of a phase is built, in addition to its problem."""

    curve: Transcription
    dynamics: InverseDynamics = newton_euler  # dynamics, sensitivities: as in `transcribe`
    sensitivities: DerivativeRecursion | None = None
    extra: Points | None = None  # nodes in addition to those of the curve
    compile: bool | Compile | None = None


@dataclass(frozen=True, eq=False, repr=False)
class NLP(BaseNLP):
    """The program of one motion; see `BaseNLP`.

    Parameters
    ----------
    grid : Grid
        The variables and evaluation points, with the problem, the curve and the torques.
    compile : bool, Compile or None
        As in `BaseNLP`.

    Examples
    --------
    >>> nlp = co.transcribe(problem, co.BSpline(20))
    >>> nlp.lower.shape == nlp.upper.shape
    True
    """

    grid: Grid
    compile: bool | Compile | None = None

    def __post_init__(self):
        instance("grid", self.grid, Grid)
        check_compile(self.compile)
        _ = self.constraints, self.costs  # errors are raised where the program is made

    @classmethod
    def build(cls, problem: Problem, recipe: Recipe) -> NLP:
        """Build the program of a problem."""
        model = instance("problem", problem, Problem).model
        instance("recipe", recipe, Recipe)
        formulation = recipe.dynamics, recipe.sensitivities
        check_formulation(*formulation)
        torques = next((made for made in problem.formulations if made.given == formulation), None)
        if torques is None:
            movers: list[int] = []  # number of joints that move each body
            for parent, dof in zip(model.parents, model.dofs, strict=True):
                movers.append((movers[parent] if parent >= 0 else 0) + (dof is not None))
            pairs = sum(movers[body] for body in model.moving)
            announce(f"building the program of {model.name}, {model.n} joints", _SECONDS * pairs)
            torques = Torques(problem, *formulation)
            problem.formulations.append(torques)
        return cls(grid_of(recipe.curve, problem, torques, recipe.extra), recipe.compile)

    @property
    def recipe(self) -> Recipe:
        """The recipe of this program."""
        return Recipe(self.curve, *self.grid.torques.given, self.grid.extra, self.compile)

    def __reduce__(self) -> tuple[Any, ...]:
        return NLP.build, (self.problem, self.recipe)

    def on_curve(self, curve: Transcription, extra: Points | None = None) -> NLP:
        """The same problem, dynamics and compilation on another curve, or with more nodes."""
        if extra is not None:
            instance("extra", extra, Points)
        return NLP(grid_of(check_curve(curve), self.problem, self.grid.torques, extra), self.compile)

    def for_problem(self, problem: Problem) -> NLP:
        """The program of another problem of the same mechanism and unknowns, with the same grid and dynamics."""
        torques = self.grid.torques.for_problem(instance("problem", problem, Problem))
        return NLP(grid_of(self.curve, problem, torques, self.grid.extra), self.compile)

    @property
    def problem(self) -> Problem:
        """The problem of this program."""
        return self.grid.problem

    @property
    def curve(self) -> Transcription:
        """The curve of the motion."""
        return self.grid.curve

    @property
    def phases(self) -> dict[str, NLP]:
        """This program as the only phase, with an empty name."""
        return {"": self}

    @property
    def parts(self) -> dict[str, slice]:
        return {"": slice(0, self.n_x)}

    def with_phases(self, phases: Mapping[str, NLP]) -> NLP:
        """The new program of the only phase."""
        check_phases(("",), phases, NLP)
        return phases[""]

    @cached_property
    def _ends(self) -> FixedEnds:
        return fix_ends(self.problem, self.grid)

    @property
    def lower(self) -> np.ndarray:
        return self._ends.lower

    @property
    def upper(self) -> np.ndarray:
        return self._ends.upper

    @cached_property
    def costs(self) -> list[Block]:
        return self._chosen(cost_blocks(self.grid))

    @cached_property
    def constraints(self) -> list[Block]:
        return self._chosen(constraint_blocks(self.grid, self._ends))

    def _chosen(self, blocks: list[Block]) -> list[Block]:
        """The blocks, compiled or not as chosen."""
        return [replace(block, virtual=True) for block in blocks] if self.compile is False else blocks

    @property
    def n_p(self) -> int:
        return parameter_symbols(self.problem).shape[0]

    @cached_property
    def scale_x(self) -> np.ndarray:
        """Natural size of every variable, from its bounds, and for control points also from the width of their
        interval.
        """
        layout, most = self.grid.layout, np.full(self.n_x, _LOOSE)
        for entries in (layout["q"], layout.duration):
            most[entries - layout.offset] = _LOOSE_MOTION
        least = np.maximum(np.maximum(self.lower, -self.upper), 1.0)  # magnitude
        return self.grid.variable_scale(np.minimum(natural_size(self.lower, self.upper), most * least))

    @property
    def free_duration(self) -> bool:
        """Whether the duration is unknown."""
        return self.problem.horizon.lower < self.problem.horizon.upper

    def duration(self, x: np.ndarray) -> float:
        """Duration of the motion at x [s]."""
        return float(finite_array("x", x, (self.n_x,))[self.grid.layout.duration[0]])

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        x, p = self._checked(x, p)
        terms = dict.fromkeys(self.problem.costs, 0.0)
        for block in self.costs:
            for label, value in zip(block.rows.labels, block.evaluate(x, p).sum(axis=1), strict=True):
                terms[label] += float(value)
        return terms

    @cached_property
    def owners(self) -> Mapping[Block, str]:
        return dict.fromkeys((*self.costs, *self.constraints), "")

    def owner(self, block: Block) -> tuple[str, int | None]:
        """An empty prefix, and the entry of x that is the duration."""
        instance("block", block, Block)
        return "", int(self.grid.layout.duration[0])

    @property
    def column_names(self) -> dict[str, list[str]]:
        """Names of the columns of control points, by their names in the layout."""
        names = {"q": [f"q[{joint}]" for joint in self.problem.model.position_names]}
        for kind, unknowns in (("signals", self.problem.signals), ("states", self.problem.states)):
            names[kind] = [label for unknown in unknowns for label in unknown.labels]
        return names

    def variable_name(self, k: int, x: np.ndarray) -> str:
        count("k", k, at_least=0, at_most=self.n_x - 1)
        T = self.duration(x)
        columns, splines = self.column_names, self.grid.splines
        for name, index in self.grid.layout.names.items():
            for point, *column in np.argwhere(index == k).tolist():
                if name in columns:
                    return f"{columns[name][column[0]]} at t = {splines[name].greville()[point] * T:.4g} s"
                return name if index.size == 1 else f"{name}[{point}]"
        return f"variable {k}"

    def _table(self) -> Table:
        torques, derivatives = self.grid.torques.names
        lines = [("torques", torques, "", f"first derivatives by {derivatives}")]
        for name, index in self.grid.layout.names.items():
            fixed = int((~self.free[index]).sum())
            lines.append(("variables", name, str(index.size), f"{fixed} fixed" if fixed else ""))
        if self.grid.extra is not None:
            lines.append(("nodes", "where limits were exceeded between nodes", str(self.grid.extra.s.size), "added"))
        lines += self._lines()
        return Table(f"NLP: {self.spy()}", ("", "name", "count", ""), lines)


def check_phases(wanted: Iterable[str], phases: object, kind: type) -> None:
    """Raise InputError unless `phases` has one object of the right type for every phase."""
    if not isinstance(phases, Mapping) or list(phases) != list(wanted):
        raise InputError(
            f"phases must be a mapping with the names {', '.join(map(repr, wanted))}, got {quoted(phases)}"
        )
    for name, value in phases.items():
        instance(f"phase {name!r}", value, kind)


def _derivative_errors(nlp: BaseNLP, x: np.ndarray, p: np.ndarray, directions: int, seed: int) -> dict[str, float]:
    """Largest relative errors along random directions; parameters as in `BaseNLP.check_derivatives`."""
    rng = np.random.default_rng(seed)
    lam = rng.standard_normal(nlp.n_g)

    def value(y: np.ndarray) -> np.ndarray:
        return np.array(nlp.f(y, p)).ravel()

    def rows(y: np.ndarray) -> np.ndarray:
        return np.array(nlp.g(y, p)).ravel()

    def slope(y: np.ndarray) -> np.ndarray:
        """Gradient of f + lam' g."""
        return np.array(nlp.grad_f(y, p)[1] + nlp.jac_g(y, p)[1].T @ lam).ravel()

    upper = nlp.hess_lag(x, p, 1.0, lam)
    exact = {
        "gradient": (nlp.grad_f(x, p)[1].T, value),
        "jacobian": (nlp.jac_g(x, p)[1], rows),
        "hessian": (upper + ca.triu(upper, False).T, slope),
    }
    worst = dict.fromkeys(exact, 0.0)
    for _ in range(directions):
        v = rng.standard_normal(nlp.n_x) * nlp.free
        for name, (matrix, function) in exact.items():
            along = np.array(matrix @ v).ravel()
            error = np.linalg.norm(along - central_difference(function, x, v))
            worst[name] = max(worst[name], float(error / max(1.0, float(np.linalg.norm(along)))))
    return worst


def _without_torque(nlp: BaseNLP) -> list[str]:
    """Joints whose own limits hold their torque at zero."""
    models = [phase.problem.model for phase in nlp.phases.values()]
    joints = [pair for model in models for pair in zip(model.joint_names, model.joints, strict=True)]
    return list(dict.fromkeys(name for name, joint in joints if joint.limits.torque == (0.0, 0.0)))


def check_determined(nlp: BaseNLP) -> None:
    """Raise InputError for an NLP with more equations than unknowns; names the constraints with most equations."""
    counts = {}
    for block in nlp.constraints:
        if equal := int(np.count_nonzero(block.rows.lower == block.rows.upper)) * block.n_slices:
            name = nlp.owner(block)[0] + block.name
            counts[name] = counts.get(name, 0) + equal
    equations, unknowns = sum(counts.values()), int(np.count_nonzero(nlp.free))
    if equations > unknowns:
        most = sorted(counts, key=lambda name: -counts[name])
        listed = ", ".join(f"{counts[name]} of {name!r}" for name in most)
        passive = list(dict.fromkeys(joint for phase in nlp.phases.values() for joint in phase.problem.passive))
        motors = f", or add actuators to joint {shown(passive)} (co.Motors)" if passive else ""
        if still := _without_torque(nlp):
            motors += (
                f"; torque limits of 0 hold joint {shown(still)} at zero torque: if they are unknown, lift them, by "
                'limits={"torque": None} where a file is read'
            )
        raise InputError(
            f"{equations} equations ({listed}) for {unknowns} unknowns on {nlp.described_curve}: an equation along the "
            "path fixes as many unknowns as a joint has; leave out equations or end conditions that follow from others"
            + motors
        )
