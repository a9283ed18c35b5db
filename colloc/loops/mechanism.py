"""A closed chain: a tree, the loops that close it, and who drives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colloc.loops.loop import Loop
from colloc.loops.posture import RANK, Closures, assembled, independent_rows, pivots
from colloc.model import Model
from colloc.model.tree import plain_only
from colloc.support.checks import InputError, as_tuple, finite_array, instance, quoted, text, unknown_name
from colloc.support.display import Table, Tabular, short, shown
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable

ACTUATED = 1e-6  # smallest singular value, relative, of the map from actuator torques to independent coordinates


@dataclass(frozen=True, eq=False, repr=False)
class ClosedChain(Tabular, Portable):
    """A tree of bodies closed by loops, with one freedom at least.

    Parameters
    ----------
    model : Model
        The tree, without symbols.
    loops : sequence of Loop
    independent : sequence of str, optional
        Joints whose coordinates determine the others, as many as there are freedoms; chosen by pivoting at the
        assembled posture by default, actuated joints before others.
    actuators : sequence of str, optional
        Joints that are driven, at least as many as there are freedoms; the independent ones by default. All others
        are passive.
    weights : float or shape (actuators,)
        Positive; with more actuators than freedoms the torques are those of least sum of weight times torque squared.
    guess : float or shape (n,) [rad, m]
        Where the assembly is searched, which picks its branch.

    Attributes
    ----------
    posture : ndarray, shape (n,)
        The assembled posture near the guess.
    rows : ndarray of int
        The rows of the loops' residuals that count; the others follow from them (a planar loop posed in space holds
        its plane more than once), and their forces, which rigid bodies do not determine, are taken as zero.

    Raises
    ------
    InputError
        For an unknown body or joint, a chain that cannot be closed, a singular posture, a chain without freedom,
        coordinates that are not independent, too few actuators, or some that cannot drive it, and weights that are
        not positive.

    Examples
    --------
    >>> link = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    >>> tree = co.Model([
    ...     co.Body("crank", co.dh_revolute(a=0.3), **link),
    ...     co.Body("coupler", co.dh_revolute(a=0.8), "crank", **link),
    ...     co.Body("rocker", co.revolute(placement=co.placement((0.9, 0, 0))), **link),
    ... ])
    >>> pin = co.loops.on_line("pin", "coupler", co.loops.Frame("rocker", (0.6, 0, 0)))
    >>> chain = co.loops.ClosedChain(tree, [pin], actuators=["crank"], guess=(1.0, -0.5, 1.5))
    >>> chain.independent, bool(co.loops.closure_error(chain, chain.posture[None]).max() < 1e-9)
    (('crank',), True)
    """

    model: Model
    loops: Sequence[Loop]
    independent: Any = None
    actuators: Any = None
    weights: Any = 1.0
    guess: Any = 0.0
    posture: np.ndarray = field(init=False)
    rows: np.ndarray = field(init=False)

    def __post_init__(self):
        plain_only("a closed chain", instance("model", self.model, Model))
        if self.model.symbols:
            raise InputError(f"model {self.model.name!r} contains symbols, a closed chain needs numbers")
        object.__setattr__(self, "loops", _checked_loops(self.model, self.loops))
        for name in ("independent", "actuators"):
            if (joints := getattr(self, name)) is not None:
                object.__setattr__(self, name, _checked_joints(self.model, name, joints))
        posture = assembled(self.closures, finite_array("guess", self.guess, (self.model.n,)))
        object.__setattr__(self, "posture", posture)
        object.__setattr__(self, "rows", independent_rows(self.closures, posture))
        if self.mobility == 0:
            raise InputError(
                f"the assembly is over-constrained: {self.rows.size} independent rows of {_listed(self.loops)} leave "
                f"none of the {self.model.n} joints free"
            )
        object.__setattr__(self, "independent", self._independent_joints())
        if self.actuators is None:
            object.__setattr__(self, "actuators", self.independent)
        self._check_actuators()

    @cached_property
    def closures(self) -> Closures:
        """All rows of the loops as functions of numbers."""
        return Closures(self.model, self.loops)

    @property
    def mobility(self) -> int:
        """Number of freedoms."""
        return self.model.n - self.rows.size

    @cached_property
    def dependent(self) -> tuple[str, ...]:
        """Joints that follow from the independent ones."""
        return tuple(name for name in self.model.joint_names if name not in self.independent)

    @cached_property
    def independent_dofs(self) -> list[int]:
        """Coordinates of the independent joints, in their order."""
        return _dofs(self.model, self.independent)

    @cached_property
    def dependent_dofs(self) -> list[int]:
        """Coordinates of the dependent joints."""
        return _dofs(self.model, self.dependent)

    @cached_property
    def actuator_dofs(self) -> list[int]:
        """Coordinates of the actuated joints, in their order."""
        return _dofs(self.model, self.actuators)

    @property
    def redundant(self) -> bool:
        """Whether there are more actuators than freedoms."""
        return len(self.actuator_dofs) > self.mobility

    def basis(self, q: np.ndarray) -> np.ndarray:
        """All joint rates per rate of the independent joints, ndarray, shape (n, mobility), at a closed posture."""
        J = self.closures.at(finite_array("q", q, (self.model.n,)))[1][self.rows]
        basis = np.zeros((self.model.n, self.mobility))
        basis[self.independent_dofs] = np.eye(self.mobility)
        basis[self.dependent_dofs] = -np.linalg.lstsq(J[:, self.dependent_dofs], J[:, self.independent_dofs], None)[0]
        return basis

    def undriven(self, bases: np.ndarray) -> tuple[int, str] | None:
        """The first of several bases, (N, n, mobility), with a motion that moves no actuator, and what then moves."""
        bases = finite_array("bases", bases, (None, self.model.n, self.mobility))
        values, motions = np.linalg.svd(bases[:, self.actuator_dofs])[1:]
        stuck = values[:, -1] <= ACTUATED * np.linalg.norm(bases, 2, axis=(1, 2))
        if not stuck.any():
            return None
        k = int(stuck.argmax())
        moving = np.abs(bases[k] @ motions[k, -1])
        names = [self.model.joint_names[j] for j in np.flatnonzero(moving > 0.1 * moving.max())]
        return k, f"with {shown(self.actuators)} held, joints {shown(names)} still move"

    def _independent_joints(self) -> tuple[str, ...]:
        J = self.closures.at(self.posture)[1][self.rows]
        names = self.model.joint_names
        if self.independent is None:
            driven = self.actuators or names
            dependent = pivots(J, [k for k, name in enumerate(names) if name not in driven])
            return tuple(name for k, name in enumerate(names) if k not in dependent)
        if len(self.independent) != self.mobility:
            raise InputError(
                f"independent must name {self.mobility} joints, the mobility of the chain, "
                f"got {quoted(self.independent)}"
            )
        J_dependent = J[:, self.dependent_dofs]
        motions = np.linalg.svd(J_dependent)[2]
        if np.linalg.cond(J_dependent) > 1 / RANK:
            moving = [self.dependent[k] for k in np.flatnonzero(np.abs(motions[-1]) > 0.1)]
            raise InputError(
                f"joints {shown(self.independent)} are not independent coordinates at the assembled posture: with all "
                f"of them held, {shown(moving)} still move"
            )
        return tuple(self.independent)

    def _check_actuators(self) -> None:
        actuators = self.actuators
        if len(actuators) < self.mobility:
            raise InputError(
                f"too few actuators: the chain has {self.mobility} freedoms, got {len(actuators)}: {shown(actuators)}"
            )
        weights = finite_array("weights", self.weights, (len(actuators),))
        if (weights <= 0).any():
            k = int(np.argmin(weights))
            raise InputError(f"weights must be positive, got {short(weights[k])} for actuator {actuators[k]!r}")
        object.__setattr__(self, "weights", weights)
        if stuck := self.undriven(self.basis(self.posture)[None]):
            raise InputError(f"actuator singularity at the assembled posture: {stuck[1]}")

    def _table(self) -> Table:
        counts = np.bincount(self.closures.row_loops[self.rows], minlength=len(self.loops))
        rows = [
            (loop.name, loop.kind, loop.first.body or "world", loop.second.body or "world", f"{count} of {loop.rows}")
            for loop, count in zip(self.loops, counts, strict=True)
        ]
        notes = (f"independent: {shown(self.independent)}", f"actuators: {shown(self.actuators)}")
        title = f"{self.model.name}: {self.model.n} joints, {len(self.loops)} loops, mobility {self.mobility}"
        return Table(title, ("loop", "kind", "first", "second", "rows"), rows, notes)


def _dofs(model: Model, names: Sequence[str]) -> list[int]:
    return [model.joint_names.index(name) for name in names]


def _checked_loops(model: Model, value: Any) -> tuple[Loop, ...]:
    loops = as_tuple("loops", value)
    if not loops:
        raise InputError("a closed chain needs at least one loop")
    bodies = [body.name for body in model.bodies]
    for loop in loops:
        if not isinstance(loop, Loop):
            raise InputError(f"loops must be Loop objects (see colloc.loops.revolute_loop), got {quoted(loop)}")
        if sum(item.name == loop.name for item in loops if isinstance(item, Loop)) > 1:
            raise InputError(f"two loops are named {loop.name!r}; names must be unique")
        for frame in (loop.first, loop.second):
            if frame.body is not None and frame.body not in bodies:
                raise unknown_name(f"body for loop {loop.name!r}", frame.body, bodies)
    return loops


def _checked_joints(model: Model, what: str, value: Any) -> tuple[str, ...]:
    names = as_tuple(what, value)
    for name in names:
        if text(f"joint in {what}", name) not in model.joint_names:
            raise unknown_name(f"joint that moves, in {what},", name, model.joint_names)
        if names.count(name) > 1:
            raise InputError(f"{what} names joint {name!r} twice")
    return names


def _listed(loops: Sequence[Loop]) -> str:
    return "loop" + ("s " if len(loops) > 1 else " ") + shown([repr(loop.name) for loop in loops])
