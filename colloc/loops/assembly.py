"""Postures of a closed chain from its independent coordinates: Newton's method along a path of postures."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from colloc.loops.mechanism import ClosedChain
from colloc.loops.posture import CLOSED, NEARBY, assembled, check_closed, described_gap, pivots
from colloc.support.checks import InputError, finite_array, instance
from colloc.support.display import short, shown

SHORTEST = 2.0**-16  # of the way between two samples: a shorter step means that there is no way on
NEWTON = 8  # corrections of one step
SAMPLES = 31  # postures of a way
_NEWTON_STEPS = 40
_BEND = 0.3  # rad, m: by which a way begins away from a straight line, on which chains may be singular
_LONGEST = 0.3  # rad, m: largest step of a joint
_STRAIGHT = 1e-2  # rad, m: step of a joint after which a way is short enough for a guess
_SINGULAR = 1e-9  # keeps the equations of a way regular where rows are dependent


def assemble(chain: ClosedChain, u: Any, guess: Any = None) -> np.ndarray:
    """All coordinates from the independent ones.

    From the guess to the first sample, and from each sample to the next, the independent coordinates move in a straight
    line and the dependent ones follow on their branch: a step along the motion that the loops allow, corrected by
    Newton's method, and halved until the correction is small against the step and the determinant of J_d keeps its
    sign.

    Parameters
    ----------
    chain : ClosedChain
    u : shape (mobility,) or (N, mobility) [rad, m]
        In the order of `chain.independent`; a ball joint on a quaternion has its four positions in place of its first
        turn, and takes the shorter turn.
    guess : shape (n_q,), optional
        A posture on the wanted branch, which is closed first if necessary; `chain.posture` by default.

    Returns
    -------
    ndarray, shape (n_q,) or (N, n_q)

    Raises
    ------
    InputError
        For a guess that cannot be closed, or a sample that cannot be reached on the branch, with the remaining gap;
        for a ball joint of which only some turns are independent.

    Examples
    --------
    >>> q = co.loops.assemble(chain, [[0.5], [1.0]])
    >>> q.shape, bool(co.loops.closure_error(chain, q).max() < 1e-9)
    ((2, 3), True)
    """
    instance("chain", chain, ClosedChain)
    u, size = finite_array("u", u), len(chain.independent_places)
    single = u.ndim < 2
    samples = np.atleast_2d(finite_array("u", u, (size,) if single else (None, size)))
    q = chain.posture
    if guess is not None:
        q = assembled(chain.closures, chain.model.of_unit_length(finite_array("guess", guess, (chain.model.n_q,))))
    postures = np.empty((len(samples), chain.model.n_q))
    for k, target in enumerate(samples):
        q = postures[k] = _follow(chain, q, target, "" if single else f" at sample {k}")
        check_closed(chain.closures, q, "" if single else f" at sample {k}")
        q = postures[k] = _of_sign(chain, q, target)
    return postures[0] if single else postures


def closure_error(chain: ClosedChain, q: Any) -> np.ndarray:
    """Opening of the loops: the largest residual of all their rows.

    Parameters
    ----------
    chain : ClosedChain
    q : shape (N, n_q) [rad, m]

    Returns
    -------
    ndarray, shape (N,) [m, rad]
        Distances, and angles.

    Examples
    --------
    >>> bool(co.loops.closure_error(chain, chain.posture[None])[0] < 1e-9)
    True
    """
    instance("chain", chain, ClosedChain)
    postures = np.atleast_2d(finite_array("q", q))
    postures = finite_array("q", postures, (None, chain.model.n_q))
    return np.array([np.abs(chain.closures.gaps(posture)[0]).max() for posture in postures])


def on_one_branch(chain: ClosedChain, q: np.ndarray, other: np.ndarray) -> bool:
    """Whether the way of the independent joints from one closed posture to another ends there, each shape (n_q,).

    True as well where this way leads through singular postures, at which branches meet.
    """
    try:
        there = assemble(chain, q[chain.independent_places], other)
    except InputError:
        return True
    return bool(np.abs(chain.model.displacement(there, q)).max() < NEARBY)


def nearby(chain: ClosedChain, q: np.ndarray) -> np.ndarray:
    """Closed postures near given ones within limits, each shape (N, n_q), the first the nearest.

    The search for each other one begins at the one before.
    """
    postures, closures = np.empty_like(q), chain.closures
    lower, upper = closures.limits
    for k, wanted in enumerate(q):
        if k:
            postures[k] = closures.projected(wanted, postures[k - 1])
            within = (lower <= postures[k]).all() and (postures[k] <= upper).all()
            if within and not described_gap(closures, postures[k]):
                continue
        postures[k] = closures.nearest(wanted, postures[k - 1] if k else None)
        if described_gap(closures, postures[k]):
            postures[k] = assembled(closures, wanted)
    return postures


def closed_way(chain: ClosedChain, prescribed: np.ndarray) -> np.ndarray:
    """A short way through closed postures between prescribed ends, shape (N, n_q).

    The discrete geodesic near the straight line, by Newton's method, where that converges; else the closed postures
    nearest to the line.

    Parameters
    ----------
    chain : ClosedChain
    prescribed : ndarray, shape (2, n_q) [rad, m]
        NaN for coordinates that are not prescribed: they are near those of the chain's posture, at the end near those
        of the start.
    """
    model = chain.model
    start = closed_end(chain, prescribed[0], chain.posture)
    way = model.displacement(start, closed_end(chain, prescribed[1], start))
    s = np.linspace(0, 1, SAMPLES)[:, None]
    q = chain.model.displaced(np.tile(start, (SAMPLES, 1)), s * way)
    bent = model.displaced(q, _BEND * np.sin(np.pi * s) * np.random.default_rng(0).normal(size=model.n))
    for _ in range(_NEWTON_STEPS):
        bent, step = _straightened(chain, bent)
        if step < _STRAIGHT:
            return np.array([chain.closures.close(posture) for posture in bent])
    return nearby(chain, q)


def _straightened(chain: ClosedChain, q: np.ndarray) -> tuple[np.ndarray, float]:
    """A way after a step of Newton's method towards the shortest closed one, and the length of the step."""
    model, inner = chain.model, len(q) - 2
    n, r = model.n, chain.rows.size
    moves = np.array([model.displacement(*pair) for pair in pairwise(q)])
    shape = 2 * np.eye(inner) - np.eye(inner, k=1) - np.eye(inner, k=-1)
    system = np.zeros((inner * (n + r), inner * (n + r)))
    right = np.zeros(inner * (n + r))
    system[: inner * n, : inner * n] = np.kron(shape, np.eye(n))
    right[: inner * n] = (moves[1:] - moves[:-1]).ravel()
    for k, posture in enumerate(q[1:-1]):
        gaps, J = (part[chain.rows] for part in chain.closures.gaps(posture))
        rows, columns = slice(inner * n + k * r, inner * n + (k + 1) * r), slice(k * n, (k + 1) * n)
        system[rows, columns], system[columns, rows] = J, J.T
        right[rows] = -gaps
    system[range(inner * n, len(system)), range(inner * n, len(system))] = -_SINGULAR
    step = np.linalg.solve(system, right)[: inner * n].reshape(inner, n)
    longest = float(np.abs(step).max())
    moved = q.copy()
    moved[1:-1] = model.displaced(q[1:-1], min(1.0, _LONGEST / longest if longest else 1.0) * step)
    return moved, longest


def closed_end(chain: ClosedChain, prescribed: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The closed posture near another with prescribed coordinates, shape (n_q,); NaN for others.

    Prescribed coordinates that do not close the loops move as well.
    """
    known = ~np.isnan(prescribed)
    q = chain.model.of_unit_length(np.where(known, prescribed, near))
    free = np.flatnonzero(~known_dofs(chain, known))
    closed = chain.closures.close(q, joints=free.tolist()) if free.size else q
    return closed if not described_gap(chain.closures, closed) else assembled(chain.closures, q)


def known_dofs(chain: ClosedChain, known: np.ndarray) -> np.ndarray:
    """Which joints have known coordinates, shape (n,), from which coordinates are known, shape (n_q,)."""
    joints = np.where(chain.closures.places >= 0, known[chain.closures.places], False)
    for places, dofs in chain.model.balls.values():
        joints[dofs] = known[places].all()
    return joints


def implied(chain: ClosedChain, q: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Joints, shape (n,), whose positions or rates follow from those of the other known ones at a closed posture."""
    J = chain.closures.at(q)[1][chain.rows]
    dependent = np.zeros(chain.model.n, dtype=bool)
    dependent[pivots(J, np.flatnonzero(~known).tolist())] = True
    return dependent & known


def implied_ends(chain: ClosedChain, prescribed: np.ndarray, still: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`Part.implied` of a chain; nothing follows where few values are prescribed."""
    positions, velocities = np.zeros(prescribed.shape, dtype=bool), np.zeros(still.shape, dtype=bool)
    near = chain.posture
    for end in range(2):
        known = known_dofs(chain, ~np.isnan(prescribed[end]))
        if max(known.sum(), still[end].sum()) <= chain.mobility:
            continue
        near = closed_end(chain, prescribed[end], near)
        follow = implied(chain, near, known)
        places = chain.closures.places[follow & (chain.closures.places >= 0)]
        positions[end, places] = True
        velocities[end] = implied(chain, near, still[end])
    return positions, velocities


def _follow(chain: ClosedChain, start: np.ndarray, target: np.ndarray, where: str) -> np.ndarray:
    """The closed posture with the target's independent coordinates, on the branch of `start`."""
    places, way = chain.independent_places, _way(chain, start, target)
    q, done, step = start, 0.0, 1.0
    side = _side(chain, start)
    while done < 1.0:
        move = chain.basis(q) @ (step * way)
        trial = chain.closures.displaced(q, move)
        there = chain.closures.displaced(start, min(done + step, 1.0) * way, chain.independent_dofs)
        trial[places] = there[places]
        move[chain.independent_dofs] = step * way
        closed = _corrected(chain, trial, most=0.5 * float(np.linalg.norm(move)))
        if closed is not None and _side(chain, closed) == side:
            q, done = closed, done + step
            step = min(2 * step, 1.0 - done)
        elif (step := step / 2) < SHORTEST:
            raise _unreachable(chain, q, target, where)
    return q


def _way(chain: ClosedChain, start: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Displacements of the independent joints, shape (mobility,), to the target's coordinates, by the shorter turns."""
    there = start.copy()
    there[chain.independent_places] = target
    there = chain.model.of_unit_length(there)
    for places, _ in chain.model.balls.values():
        if there[places] @ start[places] < 0:
            there[places] *= -1
    return chain.model.displacement(start, there)[chain.independent_dofs]


def _of_sign(chain: ClosedChain, q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The posture with the target's signs of independent joints' quaternions."""
    wanted = q.copy()
    wanted[chain.independent_places] = target
    for places, _ in chain.model.balls.values():
        if wanted[places] @ q[places] < 0:
            q = q.copy()
            q[places] *= -1
    return q


def _corrected(chain: ClosedChain, q: np.ndarray, most: float) -> np.ndarray | None:
    """The closed posture near q with the same independent coordinates; None if none is near enough."""
    moved = np.zeros(len(chain.dependent_dofs))
    for _ in range(NEWTON):
        phi, J = (part[chain.rows] for part in chain.closures.at(q))
        if np.abs(phi).max() < 1e-3 * CLOSED:
            return q
        step = np.linalg.lstsq(J[:, chain.dependent_dofs], -phi, rcond=None)[0]
        moved += step
        if np.linalg.norm(moved) > most:
            return None
        q = chain.closures.displaced(q, step, chain.dependent_dofs)
    return q if np.abs(chain.closures.at(q)[0][chain.rows]).max() < CLOSED else None


def _side(chain: ClosedChain, q: np.ndarray) -> float:
    """Sign of the determinant of J_d, which differs between intersecting branches."""
    J = chain.closures.at(q)[1][chain.rows]
    return float(np.sign(np.linalg.det(J[:, chain.dependent_dofs])))


def _unreachable(chain: ClosedChain, q: np.ndarray, target: np.ndarray, where: str) -> InputError:
    wanted = q.copy()
    wanted[chain.independent_places] = target
    wanted = chain.closures.close(chain.model.of_unit_length(wanted), joints=chain.dependent_dofs)
    names = [chain.model.position_names[k] for k in chain.independent_places]
    last = ", ".join(f"{name} = {short(q[k])}" for name, k in zip(names, chain.independent_places, strict=True))
    gap = described_gap(chain.closures, wanted)
    why = f"{gap} there" if gap else "only another branch closes there"
    return InputError(
        f"the chain cannot be closed{where} on the branch of the guess: the way to {shown(names)} = "
        f"{', '.join(map(short, target))} ends at a singular posture with {last}; {why}"
    )
