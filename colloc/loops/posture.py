"""Closing a chain numerically: residual and Jacobian of all rows at a posture, least squares, independent rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.loops.closure import joint_paths, loop_jacobian, moving, residual
from colloc.loops.loop import Loop
from colloc.model import Model
from colloc.support.checks import InputError
from colloc.support.display import short
from colloc.support.lazy import cached_property

CLOSED = 1e-10  # m, rad: largest residual of a closed chain
RANK = 1e-7  # of the longest column: what is shorter counts as none
NEARBY = 0.02  # rad, m: how far postures are displaced that tell a singular posture from its neighbours
PREFER = 1e-2  # likewise: preferred columns that are longer are taken before others
_STEPS = 200
_PROJECTIONS = 10  # steps towards a wanted posture
_SETTLED = 1e-10  # rad, m: a step after which a search ends
_ROUGHLY = 1e-4  # rad, m: likewise, on the way to the closed posture
_LEAST_FALL = 1e-8  # of a sum of squares in a step, below which a search ends
_TURN = 0.5  # rad: longest turn of a joint in a step, so that no joint winds up
_STRAIGHT = 1e-6  # sine of an angle that has no direction
_PULLS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 0.0)  # m/rad: towards the guess, in turn; the first are of the size of gaps
_POLISH = (0.03, 1e-3, 1e-4, 0.0)  # likewise, for a posture that is closed
_SCATTER = (0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 1.0, 1.0, 1.0, *(3.0,) * 11)  # rad, m: by which other starts differ


@dataclass(frozen=True, eq=False)
class Closures:
    """All rows of some loops, as functions of numbers.

    Rows are those of the dynamics, with sines of angles, which vanish at half a turn as well. Gaps have angles in place
    of sines: they vanish at alignment only.
    """

    model: Model  # without symbols
    loops: Sequence[Loop]

    @cached_property
    def _function(self) -> ca.Function:
        q, still = ca.SX.sym("q", self.model.n_q), ca.SX(self.model.n, 1)
        phi, J, cosines, slopes = [], [], [], []
        for loop, path in zip(self.loops, joint_paths(self.model, self.loops, q), strict=True):
            moved, angle = moving(path, still, still), replace(loop, forms=loop.cosine[None])
            for values, jacobians, rows in ((phi, J, loop), (cosines, slopes, angle)):
                values.append(residual(rows, path.transform))
                jacobians.append(loop_jacobian(rows, self.model.n, moved).value)
        return ca.Function("closures", [q], [ca.densify(ca.vertcat(*part)) for part in (phi, J, cosines, slopes)])

    @cached_property
    def row_loops(self) -> np.ndarray:
        """Index of the loop of every row, shape (rows,)."""
        return np.repeat(np.arange(len(self.loops)), [loop.rows for loop in self.loops])

    @cached_property
    def _turns(self) -> list[tuple[int, slice]]:
        """Loops with rotation rows, and where these are."""
        ends = np.cumsum([loop.rows for loop in self.loops])
        spans = [
            (k, slice(end - loop.rows + loop.translations, end))
            for k, (loop, end) in enumerate(zip(self.loops, ends.tolist(), strict=True))
        ]
        return [(k, span) for k, span in spans if span.start < span.stop]

    @cached_property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits of positions, each shape (n_q,)."""
        return self.model.limits("position")

    @cached_property
    def places(self) -> np.ndarray:
        """Index in q of every joint's coordinate, shape (n,); -1 for turns of ball joints on quaternions."""
        places = [self.model.places[k] for k in self.model.moving]
        return np.array([part.start if part.stop - part.start == 1 else -1 for part in places], dtype=int)

    def at(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residual of the rows, shape (rows,), and Jacobian by displacements, shape (rows, n)."""
        phi, J, *_ = self._function(q)
        return np.array(phi).ravel(), np.array(J)

    def gaps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps of all rows, shape (rows,) [m, rad], and Jacobian by displacements, shape (rows, n).

        An angle t along the axis u has the rows u sin t, and the gaps u t.
        """
        phi, J, cosines, slopes = map(np.array, self._function(q))
        phi = phi.ravel()
        for k, rows in self._turns:
            cosine, sine = float(cosines[k, 0]), float(np.linalg.norm(phi[rows]))
            if sine < _STRAIGHT and cosine > 0:
                continue
            along = phi[rows] / sine if sine else np.eye(1, rows.stop - rows.start).ravel()
            angle, rise = np.arctan2(sine, cosine), along @ J[rows]
            turn = cosine * rise - sine * slopes[k]
            ratio = angle / max(sine, _STRAIGHT)
            J[rows] = ratio * (J[rows] - np.outer(along, rise)) + np.outer(along, turn)
            phi[rows] = angle * along
        return phi, J

    def _opposite(self, q: np.ndarray) -> bool:
        """Whether some frames are half a turn from alignment, where gaps have no derivative."""
        phi, _, cosines, _ = map(np.array, self._function(q))
        return any(cosines[k, 0] < 0 and np.linalg.norm(phi[rows]) < NEARBY / 2 for k, rows in self._turns)

    def displaced(
        self, q: np.ndarray, step: np.ndarray, joints: np.ndarray | Sequence[int] | slice = slice(None)
    ) -> np.ndarray:
        """The posture with some joints displaced, all by default."""
        x = np.zeros(self.model.n)
        x[joints] = step
        return self.model.displaced(q, x)

    def scattered(self, q: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
        """A random posture near q, displaced by up to a size."""
        return self.displaced(q, rng.uniform(-size, size, self.model.n))

    def close(
        self, q: np.ndarray, rows: np.ndarray | slice = slice(None), joints: Sequence[int] | slice = slice(None)
    ) -> np.ndarray:
        """The posture near q with the least gaps of some rows, where some joints move and limits do not count."""
        limits = np.full_like(q, -np.inf), np.full_like(q, np.inf)
        every = np.arange(self.row_loops.size)
        return self._least(q, q, 0.0, every[rows], np.arange(self.model.n)[joints], limits)

    def nearest(self, guess: np.ndarray, start: np.ndarray | None = None, *, bounded: bool = True) -> np.ndarray:
        """The closed posture nearest to a guess, from a start, by least squares with an ever weaker pull towards it.

        Within the limits of joints, if bounded. Hinges are within half a turn of the guess where limits permit. It is
        not closed where least squares rests without a closure.
        """
        limits = self.limits if bounded else (np.full_like(guess, -np.inf), np.full_like(guess, np.inf))
        joints, every = np.arange(self.model.n), np.arange(self.row_loops.size)
        q = np.clip(guess if start is None else start, *limits)
        if self._opposite(q):
            q = np.clip(self.scattered(q, NEARBY, np.random.default_rng(0)), *limits)
        for pull in _PULLS:
            q = self._least(q, guess, pull, every, joints, limits, _ROUGHLY if pull else _SETTLED)
        if np.abs(self.gaps(q)[0]).max(initial=0.0) > CLOSED:
            return q
        for pull in _POLISH:
            q = self._least(self._unwound(q, guess, limits), guess, pull, every, joints, limits)
        return q

    def projected(self, wanted: np.ndarray, start: np.ndarray) -> np.ndarray:
        """A closed posture near a wanted one, by a few steps from a closed start along the motions that loops allow.

        It is not closed where these steps do not end, and may be beyond limits.
        """
        q = start
        for _ in range(_PROJECTIONS):
            gaps, J = self.gaps(q)
            way = self.model.displacement(q, wanted)
            step = way - np.linalg.lstsq(J, J @ way + gaps, rcond=RANK)[0]
            turn = np.abs(step[self._turning]).max(initial=0.0)
            q = self.displaced(q, step * min(1.0, _TURN / turn) if turn else step)
            if np.abs(step).max(initial=0.0) < NEARBY:
                break
        return self.close(q)

    def _unwound(self, q: np.ndarray, guess: np.ndarray, limits: Any) -> np.ndarray:
        """The same posture with whole turns of hinges taken off, towards a guess; with quaternions of its sign."""
        q = q.copy()
        followed = {coupling.joint for coupling in self.model.couplings.values()}
        for k, name in enumerate(self.model.joint_names):
            place = self.places[k]
            joint = self.model.bodies[self.model.moving[k]].joint
            if place < 0 or name in followed or not joint.hinge:
                continue
            turned = q[place] - 2 * np.pi * np.round((q[place] - guess[place]) / (2 * np.pi))
            if limits[0][place] <= turned <= limits[1][place]:
                q[place] = turned
        for places, _ in self.model.balls.values():
            if q[places] @ guess[places] < 0:
                q[places] *= -1
        return q

    def _least(
        self,
        q: np.ndarray,
        guess: np.ndarray,
        pull: float,
        rows: np.ndarray,
        joints: np.ndarray,
        limits: Any,
        settled: float = _SETTLED,
    ) -> np.ndarray:
        """Least squares of gaps and of pull times the way from a guess (Levenberg-Marquardt, coordinates unscaled).

        Joints at a limit that they would leave do not move (as in `colloc.model.reach`).
        """
        places, damping = self.places[joints], 1e-6
        lower, upper = (np.broadcast_to(side, q.shape)[places] for side in limits)
        single = places >= 0
        gaps, J = self._pulled(q, guess, pull, rows, joints)
        for _ in range(_STEPS):
            if not pull and np.abs(gaps).max(initial=0.0) < 1e-3 * CLOSED:
                break
            slope, size, now = J.T @ gaps, gaps @ gaps, q[places]
            stuck = single & (((now <= lower) & (slope > 0)) | ((now >= upper) & (slope < 0)))
            columns = J[:, ~stuck]
            if not columns.shape[1] or np.abs(slope[~stuck]).max(initial=0.0) < 1e-16:
                break
            damped = np.vstack([columns, np.sqrt(damping) * np.eye(columns.shape[1])])
            step = np.zeros(joints.size)
            step[~stuck] = np.linalg.lstsq(damped, -np.concatenate([gaps, np.zeros(columns.shape[1])]), rcond=None)[0]
            turn = np.abs(step[self._turning[joints]]).max(initial=0.0)
            step *= min(1.0, _TURN / turn) if turn else 1.0
            trial = np.clip(self.displaced(q, step, joints), *limits)
            gaps_trial, J_trial = self._pulled(trial, guess, pull, rows, joints)
            if gaps_trial @ gaps_trial < size:
                fallen = size - gaps_trial @ gaps_trial
                q, gaps, J, damping = trial, gaps_trial, J_trial, max(damping * min(0.1, size), 1e-14)
                if np.abs(step).max(initial=0.0) < settled or fallen < _LEAST_FALL * size:
                    break
            elif damping > 1e8 or np.abs(step).max(initial=0.0) < 1e-15:
                break
            else:
                damping *= 10
        return q

    @cached_property
    def _turning(self) -> np.ndarray:
        """Whether a displacement is a turn, shape (n,)."""
        units = self.model.position_units
        return np.array([place < 0 or units[place] == "rad" for place in self.places], dtype=bool)

    def _pulled(
        self, q: np.ndarray, guess: np.ndarray, pull: float, rows: np.ndarray, joints: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Gaps of some rows, with the pull towards a guess below them, and their Jacobian by displacements."""
        gaps, J = (part[rows] for part in self.gaps(q))
        if not pull:
            return gaps, J[:, joints]
        way = pull * self.model.displacement(guess, q)[joints]
        return np.concatenate([gaps, way]), np.vstack([J[:, joints], pull * np.eye(joints.size)])


def pivots(matrix: np.ndarray, preferred: Sequence[int] = ()) -> list[int]:
    """Columns of a matrix that span its range, by QR with column pivoting.

    Preferred columns are taken first, if they are well independent.
    """
    rest = np.array(matrix, dtype=float)
    longest = np.linalg.norm(rest, axis=0).max(initial=0.0)
    pivots: list[int] = []
    for group, least in ((list(preferred), PREFER), (list(range(matrix.shape[1])), RANK)):
        while group and len(pivots) < min(matrix.shape):
            pivot = max(group, key=lambda k: 0.0 if k in pivots else float(np.linalg.norm(rest[:, k])))
            length = np.linalg.norm(rest[:, pivot])
            if pivot in pivots or length <= least * longest:
                break
            direction = rest[:, pivot] / length
            rest -= np.outer(direction, direction @ rest)
            rest -= np.outer(direction, direction @ rest)  # what rounding left
            pivots.append(pivot)
    return pivots


def assembled(closures: Closures, guess: np.ndarray) -> np.ndarray:
    """The closed posture nearest to a guess within the limits of joints; InputError if none is found."""
    if (posture := _tried(closures, guess, bounded=True)) is not None:
        return posture
    beyond = _tried(closures, guess, bounded=False)
    if beyond is None:
        gap = described_gap(closures, closures.nearest(guess, bounded=False))
        raise InputError(f"the chain cannot be closed: {gap}{_as_balls(closures, guess)}")
    raise InputError(
        f"the chain closes only beyond limits: {_beyond(closures, beyond)}; give another guess or other limits, "
        'such as limits={"position": None} of from_urdf'
    )


def _as_balls(closures: Closures, guess: np.ndarray) -> str:
    """Advice, as text, where loops close without their rows of rotation."""
    turning = [loop for loop in closures.loops if loop.translations == 3 and loop.rows > 3]
    balls = [replace(loop, forms=loop.forms[:3]) if loop in turning else loop for loop in closures.loops]
    if not turning or _tried(Closures(closures.model, balls), guess, bounded=False) is None:
        return ""
    return "; with every loop a spherical_loop it closes, so that the attitudes of some frames may be wrong"


def _tried(closures: Closures, guess: np.ndarray, *, bounded: bool) -> np.ndarray | None:
    """The closed posture near a guess, from there or from random postures ever farther away; None if there is none."""
    rng, start = np.random.default_rng(0), guess
    for size in (*_SCATTER, 0.0):
        posture = closures.nearest(guess, start, bounded=bounded)
        if np.abs(closures.gaps(posture)[0]).max() <= CLOSED:
            return posture
        start = closures.scattered(guess, size, rng)
    return None


def _beyond(closures: Closures, q: np.ndarray) -> str:
    """The joint farthest beyond its limits, as text."""
    lower, upper = closures.limits
    k = int(np.maximum(lower - q, q - upper).argmax())
    unit = closures.model.position_units[k]
    sides = f"{short(float(lower[k]))} to {short(float(upper[k]))} {unit}"
    return f"joint {closures.model.position_names[k]!r} at {short(float(q[k]))} {unit}, with limits {sides}"


def check_closed(closures: Closures, q: np.ndarray, where: str = "") -> None:
    """InputError naming the loop with the largest gap."""
    if gap := described_gap(closures, q):
        raise InputError(f"the chain cannot be closed{where}: {gap}")


def described_gap(closures: Closures, q: np.ndarray) -> str:
    """The loop with the largest gap, and the gap, as text; empty if all are closed."""
    phi = closures.gaps(q)[0]
    k = int(np.abs(phi).argmax())
    if np.abs(phi[k]) <= CLOSED:
        return ""
    loop = closures.loops[closures.row_loops[k]]
    rows = phi[closures.row_loops == closures.row_loops[k]]
    parts = [(np.linalg.norm(rows[: loop.translations]), "m"), (np.linalg.norm(rows[loop.translations :]), "rad")]
    left = " and ".join(f"{short(float(size))} {unit}" for size, unit in parts if size > CLOSED)
    return f"loop {loop.name!r} stays open by {left}"


def independent_rows(closures: Closures, posture: np.ndarray) -> np.ndarray:
    """Indices of the independent rows, in ascending order.

    The redundant rows must follow from them in a neighbourhood: nearby postures that close the independent rows must
    close the others too. If not, the posture is singular.
    """
    rows = np.sort(np.array(pivots(closures.at(posture)[1].T), dtype=int))
    left_out = np.setdiff1d(np.arange(closures.row_loops.size), rows)
    rng = np.random.default_rng(0)
    for _ in range(3 if left_out.size else 0):
        q = closures.close(closures.scattered(posture, NEARBY, rng), rows)
        phi = closures.gaps(q)[0]
        open_rows = left_out[np.abs(phi[left_out]) > 10 * CLOSED]
        if open_rows.size or np.abs(phi[rows]).max(initial=0.0) > CLOSED:
            names = {closures.loops[k].name for k in closures.row_loops[open_rows if open_rows.size else rows]}
            raise InputError(
                f"the assembly is singular: at this posture, but not near it, rows of loop "
                f"{' and '.join(map(repr, sorted(names)))} depend on others; give another guess or posture"
            )
    return rows
