"""A closed chain: a tree, the loops that close it, and its actuators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from colloc.loops.loop import Loop
from colloc.loops.posture import NEARBY, RANK, Closures, assembled, independent_rows, pivots
from colloc.model import Model
from colloc.model.ball import BallScrew
from colloc.support.checks import InputError, as_tuple, finite_array, instance, quoted, text, unknown_name
from colloc.support.display import Table, Tabular, short, shown
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable

ACTUATED = 1e-6  # smallest singular value, relative, of the map from actuator torques to independent coordinates
_MOST_BALLS = 8  # of which all choices are tried


@dataclass(frozen=True, eq=False, repr=False)
class ClosedChain(Tabular, Portable):
    """A tree of bodies closed by loops, with at least one degree of freedom.

    The turns of ball joints on quaternions count as joints, about the axes of their links. By default all of a ball
    joint's turns are independent or none, where possible, as `IndependentJoints` and `assemble` need.

    Parameters
    ----------
    model : Model
        The tree, without symbols.
    loops : sequence of Loop
    independent : sequence of str, optional
        Joints whose coordinates determine the others, one for each degree of freedom; those that are not named are
        chosen by pivoting at the assembled posture, actuated joints before others.
    actuators : sequence of str, optional
        Driven joints; the independent ones by default. All others are passive. Freedoms that no actuator drives, such
        as a rod's turn about itself, are passive as well: motions have no torque there, see `passive`.
    weights : float or shape (actuators,)
        Positive; with redundant actuators the torques have the least sum of weight times torque squared.
    guess : float or shape (n_q,) [rad, m]
        The assembly is the closed posture nearest to it within the limits of the joints. A number is used for all
        coordinates except quaternions, which are without a turn.

    Attributes
    ----------
    posture : ndarray, shape (n_q,)
        The assembled posture. Hinges are within half a turn of the guess, where limits permit.
    rows : ndarray of int
        Indices of the independent rows of the loops' residuals. The others follow from them (a planar loop posed in
        space keeps its plane more than once), and their forces, which rigid bodies do not determine, are taken as zero.
    passive : tuple of str
        Joints without an actuator, one for each freedom that no actuator drives. With the actuators they determine all
        forces: in inverse dynamics they have the torques that a motion lacks, which problems keep at zero.

    Raises
    ------
    InputError
        For an unknown body or joint, a chain that cannot be closed, or only beyond limits, a singular posture, a chain
        without a degree of freedom, coordinates that are not independent, a posture where actuators drive fewer
        freedoms than nearby, and weights that are not positive.

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

    A body that floats on a quaternion, on a hook, turned over:

    >>> body = co.Model(co.floating("body", sequence="quaternion", mass=1.0, inertia=(0.1, 0.1, 0.2)))
    >>> hook = co.loops.spherical_loop("hook", co.loops.Frame("body", (0.0, 0.0, 0.3)))
    >>> hung = co.loops.ClosedChain(body, [hook])
    >>> hung.independent
    ('body_rx', 'body_ry', 'body_rz')
    >>> co.loops.assemble(hung, [0.0, 1.0, 0.0, 0.0]).round(6) + 0.0  # half a turn about x
    array([0. , 0. , 0.3, 0. , 1. , 0. , 0. ])
    """

    model: Model
    loops: Sequence[Loop]
    independent: Any = None
    actuators: Any = None
    weights: Any = 1.0
    guess: Any = 0.0
    posture: np.ndarray = field(init=False)
    rows: np.ndarray = field(init=False)
    passive: tuple[str, ...] = field(init=False)

    def __post_init__(self):
        if instance("model", self.model, Model).symbols:
            raise InputError(f"model {self.model.name!r} contains symbols, a closed chain needs numbers")
        object.__setattr__(self, "loops", _checked_loops(self.model, self.loops))
        for name in ("independent", "actuators"):
            if (joints := getattr(self, name)) is not None:
                object.__setattr__(self, name, _checked_joints(self.model, name, joints))
        posture = assembled(self.closures, _guessed(self.model, self.guess))
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
        self._check_weights()
        object.__setattr__(self, "passive", self._passive_joints())

    @cached_property
    def closures(self) -> Closures:
        """All rows of the loops as functions of numbers."""
        return Closures(self.model, self.loops)

    @property
    def mobility(self) -> int:
        """Number of degrees of freedom."""
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
    def independent_places(self) -> list[int]:
        """Indices in q of the independent joints' positions, in their order; all four of a ball joint.

        InputError for a ball joint with both independent and dependent turns, which have no coordinates.
        """
        for ball, (_, dofs) in self.model.balls.items():
            turns = [name for name in self.model.joint_names[dofs] if name in self.independent]
            if len(turns) in (1, 2):
                raise InputError(
                    f"of the turns of ball joint {ball!r} only {shown(turns)} {'is' if len(turns) == 1 else 'are'} "
                    "independent, which no coordinate describes: hold its other turns, or use CutJoints, in which all "
                    "joints are coordinates"
                )
        slices = [self.model.places[self.model.moving[dof]] for dof in self.independent_dofs]
        return [place for part in slices for place in range(part.start, part.stop)]

    @cached_property
    def dependent_dofs(self) -> list[int]:
        return _dofs(self.model, self.dependent)

    @cached_property
    def actuator_dofs(self) -> list[int]:
        """Coordinates of the actuated joints, in their order, then of the `passive` ones."""
        return _dofs(self.model, (*self.actuators, *self.passive))

    @property
    def actuator_weights(self) -> np.ndarray:
        """Weights of the actuated joints, then of the `passive` ones, whose torques do not depend on theirs."""
        return np.append(self.weights, np.ones(len(self.passive)))

    @property
    def redundant(self) -> bool:
        """Whether there are more actuators than degrees of freedom that they drive."""
        return len(self.actuator_dofs) > self.mobility

    def basis(self, q: np.ndarray) -> np.ndarray:
        """All joint rates per rate of the independent joints, ndarray, shape (n, mobility), at a closed posture."""
        J = self.closures.at(finite_array("q", q, (self.model.n_q,)))[1][self.rows]
        basis = np.zeros((self.model.n, self.mobility))
        basis[self.independent_dofs] = np.eye(self.mobility)
        basis[self.dependent_dofs] = -np.linalg.lstsq(J[:, self.dependent_dofs], J[:, self.independent_dofs], None)[0]
        return basis

    def undriven(self, bases: np.ndarray) -> tuple[int, str] | None:
        """The first of several bases, (N, n, mobility), with a motion that moves no actuator, and the moving joints."""
        bases = finite_array("bases", bases, (None, self.model.n, self.mobility))
        values, motions = np.linalg.svd(bases[:, self.actuator_dofs])[1:]
        if values.shape[1] < self.mobility:
            values = np.zeros((len(bases), 1))
        stuck = values[:, -1] <= ACTUATED * np.linalg.norm(bases, 2, axis=(1, 2))
        if not stuck.any():
            return None
        k = int(stuck.argmax())
        moving = np.abs(bases[k] @ motions[k, -1])
        names = [self.model.joint_names[j] for j in np.flatnonzero(moving > 0.1 * moving.max())]
        return k, f"with {shown([*self.actuators, *self.passive])} held, joints {shown(names)} still move"

    def _independent_joints(self) -> tuple[str, ...]:
        J = self.closures.at(self.posture)[1][self.rows]
        names = self.model.joint_names
        if self.independent is None:
            driven = self.actuators or names
            dependent = self._dependent_joints(J, [k for k, name in enumerate(names) if name not in driven])
            return tuple(name for k, name in enumerate(names) if k not in dependent)
        if len(self.independent) > self.mobility:
            raise InputError(
                f"independent must name {self.mobility} joints, the mobility of the chain, "
                f"got {quoted(self.independent)}"
            )
        if len(self.independent) < self.mobility:
            dependent = pivots(J, [k for k, name in enumerate(names) if name not in self.independent])
            added = [name for k, name in enumerate(names) if k not in dependent and name not in self.independent]
            chosen = (*self.independent, *added)[: self.mobility]
            object.__setattr__(self, "independent", chosen)
        J_dependent = J[:, self.dependent_dofs]
        motions = np.linalg.svd(J_dependent)[2]
        if np.linalg.cond(J_dependent) > 1 / RANK:
            moving = [self.dependent[k] for k in np.flatnonzero(np.abs(motions[-1]) > 0.1)]
            raise InputError(
                f"joints {shown(self.independent)} are not independent coordinates at the assembled posture: with all "
                f"of them held, {shown(moving)} still move"
            )
        return tuple(self.independent)

    def _dependent_joints(self, J: np.ndarray, preferred: list[int]) -> list[int]:
        """Coordinates that pivoting makes dependent; all turns of a ball joint or none, where possible."""
        dependent = pivots(J, preferred)
        turns = [list(range(dofs.start, dofs.stop)) for _, dofs in self.model.balls.values()]
        if len(turns) > _MOST_BALLS or all(len(set(ball) & set(dependent)) in (0, 3) for ball in turns):
            return dependent
        best = (-1, 0.0)
        for following in product((False, True), repeat=len(turns)):
            whole = [k for ball, follows in zip(turns, following, strict=True) if follows for k in ball]
            apart = [k for ball, follows in zip(turns, following, strict=True) if not follows for k in ball]
            columns = J.copy()
            columns[:, apart] = 0.0
            chosen = pivots(columns, [*whole, *(k for k in preferred if k not in apart)])
            if len(chosen) == len(J) and set(whole) <= set(chosen):
                least = float(np.linalg.svd(J[:, chosen], compute_uv=False)[-1])
                if (score := (len(set(chosen) & set(preferred)), least)) > best:
                    best, dependent = score, chosen
        return dependent

    def _check_weights(self) -> None:
        weights = finite_array("weights", self.weights, (len(self.actuators),))
        if (weights <= 0).any():
            k = int(np.argmin(weights))
            raise InputError(f"weights must be positive, got {short(weights[k])} for actuator {self.actuators[k]!r}")
        object.__setattr__(self, "weights", weights)

    def _passive_joints(self) -> tuple[str, ...]:
        """Independent joints that, held with the actuators, hold the chain; one for each freedom without an actuator.

        InputError where the actuators drive more freedoms nearby.
        """
        object.__setattr__(self, "passive", ())
        basis, rng = self.basis(self.posture), np.random.default_rng(0)
        driven = self._driven_freedoms(basis)
        for _ in range(3 if driven < min(len(self.actuators), self.mobility) else 0):
            nearby = self.closures.close(self.closures.scattered(self.posture, NEARBY, rng), self.rows)
            if self._driven_freedoms(self.basis(nearby)) > driven and (stuck := self.undriven(basis[None])):
                raise InputError(f"actuator singularity at the assembled posture: {stuck[1]}")
        left = basis[self.independent_dofs] - basis[self.independent_dofs] @ _projector(
            basis[_dofs(self.model, self.actuators)]
        )
        chosen = pivots(left.T)[: self.mobility - driven]
        return tuple(self.independent[k] for k in sorted(chosen))

    def _driven_freedoms(self, basis: np.ndarray) -> int:
        """Number of freedoms that the actuators drive."""
        rows = basis[_dofs(self.model, self.actuators)]
        return int((np.linalg.svd(rows, compute_uv=False) > ACTUATED * np.linalg.norm(basis, 2)).sum())

    def _table(self) -> Table:
        counts = np.bincount(self.closures.row_loops[self.rows], minlength=len(self.loops))
        rows = [
            (loop.name, loop.kind, loop.first.body or "world", loop.second.body or "world", f"{count} of {loop.rows}")
            for loop, count in zip(self.loops, counts, strict=True)
        ]
        notes = [f"independent: {shown(self.independent)}", f"actuators: {shown(self.actuators) or 'none'}"]
        if self.passive:
            count = f"{len(self.passive)} of {self.mobility} freedoms"
            notes.append(f"passive: {shown(self.passive)} ({count} without an actuator: no torque)")
        title = f"{self.model.name}: {self.model.n} joints, {len(self.loops)} loops, mobility {self.mobility}"
        return Table(title, ("loop", "kind", "first", "second", "rows"), rows, tuple(notes))


def _guessed(model: Model, guess: Any) -> np.ndarray:
    values = finite_array("guess", guess)
    if values.ndim:
        return model.of_unit_length(finite_array("guess", guess, (model.n_q,)))
    posture = np.full(model.n_q, float(values))
    for places, _ in model.balls.values():
        posture[places] = model.neutral[places]
    return posture


def _projector(rows: np.ndarray) -> np.ndarray:
    """Projection onto the span of some rows, shape (m, m)."""
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept = directions[sizes > ACTUATED * sizes.max(initial=0.0)]
    return kept.T @ kept


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
            joint = None if frame.body is None else model.bodies[bodies.index(frame.body)].joint
            if isinstance(joint, BallScrew) and joint.axis_index < 2:
                inside = f"is inside of ball joint {joint.ball!r}: tie the body on it"
                raise InputError(f"body {frame.body!r} for loop {loop.name!r} {inside}")
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
