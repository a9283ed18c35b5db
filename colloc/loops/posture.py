"""Closing a chain numerically: residual and Jacobian of all rows at a posture, least squares, independent rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.loops.closure import joint_path, loop_jacobian, moving, residual
from colloc.loops.loop import Loop
from colloc.model import Model
from colloc.support.checks import InputError
from colloc.support.display import short
from colloc.support.lazy import cached_property

CLOSED = 1e-10  # m, rad: largest residual of a closed chain
RANK = 1e-7  # of the longest column: what is shorter counts as none
NEARBY = 0.02  # rad, m: how far postures are displaced that tell a singular posture from its neighbours
PREFER = 1e-2  # likewise: preferred columns that are longer are taken before others


@dataclass(frozen=True, eq=False)
class Closures:
    """All rows of some loops, as functions of numbers."""

    model: Model  # without symbols
    loops: Sequence[Loop]

    @cached_property
    def _function(self) -> ca.Function:
        q, still = ca.SX.sym("q", self.model.n_q), ca.SX(self.model.n, 1)
        paths = [joint_path(self.model, loop, q) for loop in self.loops]
        phi = [residual(loop, p.transform) for loop, p in zip(self.loops, paths, strict=True)]
        J = [
            loop_jacobian(loop, self.model.n, moving(p, still, still)).value
            for loop, p in zip(self.loops, paths, strict=True)
        ]
        upright = [ca.trace(p.transform[:3, :3] @ loop.upright) for loop, p in zip(self.loops, paths, strict=True)]
        outputs = [ca.vertcat(*phi), ca.vertcat(*J), ca.vertcat(*upright)]
        return ca.Function("closures", [q], list(map(ca.densify, outputs)))

    @cached_property
    def row_loops(self) -> np.ndarray:
        """Index of the loop of every row, shape (rows,)."""
        return np.repeat(np.arange(len(self.loops)), [loop.rows for loop in self.loops])

    def at(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residual, shape (rows,), and Jacobian by displacements, shape (rows, n)."""
        phi, J, _ = self._function(q)
        return np.array(phi).ravel(), np.array(J)

    def inverted(self, q: np.ndarray) -> list[str]:
        """Names of the loops that are closed at half a turn from their frames' alignment."""
        upright = np.array(self._function(q)[2]).ravel()
        return [loop.name for loop, value in zip(self.loops, upright, strict=True) if value < 0]

    def displaced(self, q: np.ndarray, step: np.ndarray, joints: Sequence[int] | slice = slice(None)) -> np.ndarray:
        """The posture with some joints displaced, all by default."""
        x = np.zeros(self.model.n)
        x[joints] = step
        return self.model.displaced(q, x)

    def close(
        self, q: np.ndarray, rows: np.ndarray | slice = slice(None), joints: Sequence[int] | slice = slice(None)
    ) -> np.ndarray:
        """The posture near q with the least residual (Levenberg-Marquardt, coordinates unscaled).

        The residual may be restricted to some rows, and the motion to some joints.
        """
        damping = 1e-6
        phi, J = (part[rows] for part in self.at(q))
        for _ in range(100):
            if np.abs(phi).max(initial=0.0) < 1e-3 * CLOSED:
                break
            columns, size = J[:, joints], phi @ phi
            damped = np.vstack([columns, np.sqrt(damping) * np.eye(columns.shape[1])])
            step = np.linalg.lstsq(damped, -np.concatenate([phi, np.zeros(columns.shape[1])]), rcond=None)[0]
            trial = self.displaced(q, step, joints)
            phi_trial, J_trial = (part[rows] for part in self.at(trial))
            if phi_trial @ phi_trial < size:
                q, phi, J, damping = trial, phi_trial, J_trial, max(damping * min(0.1, size), 1e-14)
            elif damping > 1e8 or np.abs(step).max(initial=0.0) < 1e-15:
                break
            else:
                damping *= 10
        return q


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
    """The closed posture near a guess; InputError if none is found."""
    rng = np.random.default_rng(0)
    q = closures.close(guess)
    for _ in range(4):  # away from where least squares rests without a closure, such as links in one line
        if np.abs(closures.at(q)[0]).max() <= CLOSED:
            break
        q = closures.close(closures.displaced(guess, rng.uniform(-0.1, 0.1, closures.model.n)))
    check_closed(closures, q)
    return q


def check_closed(closures: Closures, q: np.ndarray, where: str = "") -> None:
    """InputError naming the loop with the largest gap, or one that is closed at half a turn."""
    if gap := described_gap(closures, q):
        raise InputError(f"the chain cannot be closed{where}: {gap}")
    if inverted := closures.inverted(q):
        raise InputError(
            f"loop {inverted[0]!r} closes at half a turn from the alignment of its frames{where}; give another guess"
        )


def described_gap(closures: Closures, q: np.ndarray) -> str:
    """The loop with the largest gap, and the gap, as text; empty if all are closed."""
    phi = closures.at(q)[0]
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
        q = closures.close(closures.displaced(posture, rng.uniform(-NEARBY, NEARBY, closures.model.n)), rows)
        phi = closures.at(q)[0]
        open_rows = left_out[np.abs(phi[left_out]) > 10 * CLOSED]
        if open_rows.size or np.abs(phi[rows]).max(initial=0.0) > CLOSED:
            names = {closures.loops[k].name for k in closures.row_loops[open_rows if open_rows.size else rows]}
            raise InputError(
                f"the assembly is singular: at this posture, but not near it, rows of loop "
                f"{' and '.join(map(repr, sorted(names)))} depend on others; give another guess or posture"
            )
    return rows
