"""Postures of a closed chain from its independent coordinates: Newton's method along a path of postures."""

from __future__ import annotations

from typing import Any

import numpy as np

from colloc.loops.mechanism import ClosedChain
from colloc.loops.posture import CLOSED, assembled, check_closed, described_gap
from colloc.support.checks import InputError, finite_array, instance
from colloc.support.display import short, shown

SHORTEST = 2.0**-16  # of the way between two samples: a shorter step means that there is no way on
NEWTON = 8  # corrections of one step


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
