"""A whole cycle from half of one: the second half is the mirror image of the first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from colloc.problem import Problem
from colloc.solution.solution import Solution
from colloc.support.checks import InputError, finite_number, instance, mapping, pair, spelt, text, unknown_name
from colloc.transcription import Keyframes
from colloc.transcription.guess import resting_posture

_TIMES = 101  # of each half
_APART = 0.1  # of the range of a velocity: the end of a half that is no mirror image of its start


@spelt
def mirrored(
    solution: Solution,
    problem: Problem,
    *,
    signs: Mapping[str, float] | None = None,
    sides: Sequence[str] = ("_r", "_l"),
) -> dict[str, Any]:
    """A guess for a whole cycle, such as a stride, from a motion over half of it, followed by its mirror image.

    Joints, states, activations and all other signals of one side do in the second half what those of the other side did
    in the first. A coordinate that has gone on by then, such as the place of the pelvis, goes on as far again. So a
    search without symmetry starts from a symmetric motion: a walk with a prosthesis from a walk without.

    Parameters
    ----------
    solution : Solution
        Over half a cycle.
    problem : Problem
        That of the whole cycle, which may lack signals or components of the solution, or have others, which take their
        guesses. Give its duration a guess, as in `co.Free(0.8, 1.4, guess=2 * solution.duration)`.
    signs : mapping of str to float
        Of joints, and of components of signals, that change sign in the mirror, such as ``{"pelvis_list": -1}``; 1 by
        default.
    sides : two str
        Parts of names that change places.

    Returns
    -------
    dict
        Guesses by signal, for `guess=` of `solve`.

    Raises
    ------
    InputError
        For a motion whose final velocities are not the mirror image of the initial ones.

    Examples
    --------
    >>> model = co.Model([co.Body("a", co.revolute(name="hip_r")), co.Body("b", co.revolute(name="hip_l"), mass=1.0)])
    >>> ends = [co.initial(q=(0.3, -0.3), qd=0.0), co.final(q=(-0.3, 0.3), qd=0.0)]
    >>> step = co.solve(co.Problem(model, 0.5, co.integral(lambda now: ca.sumsqr(now.qdd)), ends), co.Radau(8))
    >>> stride = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.qdd)))
    >>> co.solution.mirrored(step, stride)["q"].q[[0, 100, -1]].round(2)
    array([[ 0.3, -0.3],
           [-0.3,  0.3],
           [ 0.3, -0.3]])
    """
    instance("solution", solution, Solution)
    instance("problem", problem, Problem)
    right, left = (text("side", side) for side in pair("sides", sides, "(right, left)"))
    swap = _Swap(right, left, dict(mapping("signs", signs)))
    motion = {"q": solution.problem.model.position_names} | {u.name: u.labels for u in solution.problem.all_unknowns}
    wanted = {"q": problem.model.position_names} | {u.name: u.labels for u in problem.all_unknowns}
    default = {"q": resting_posture(problem)} | {u.name: u.guess for u in problem.all_unknowns}
    swap.check([name for names in motion.values() for name in names])
    _check_ends(solution, swap)
    half = solution.at(np.linspace(0.0, solution.duration, _TIMES))
    constants = {u.name for u in problem.constants}
    guess: dict[str, Any] = {}
    for signal in wanted.keys() & motion.keys():
        first = solution.constants[signal] if signal in solution.constants else getattr(half, signal)
        first = np.broadcast_to(first, (_TIMES, len(motion[signal])))
        values = swap.whole(motion[signal], first, onward=signal == "q")
        frames = np.tile(default[signal], (len(values), 1))
        for k, name in enumerate(wanted[signal]):
            if name in motion[signal]:
                frames[:, k] = values[:, list(motion[signal]).index(name)]
        guess[signal] = frames[0] if signal in constants else Keyframes(np.linspace(0.0, 1.0, len(values)), frames)
    return guess


class _Swap(NamedTuple):
    """The exchange of two sides in names, with signs."""

    right: str
    left: str
    signs: dict[str, Any]

    def partner(self, name: str) -> str:
        """The same name on the other side; the name itself if it has none."""
        other = {self.right: self.left, self.left: self.right}
        patterns = [re.escape(side).join(_boundaries(side)) for side in other]
        return re.sub("|".join(patterns), lambda match: other[match.group()], name)

    def check(self, names: Sequence[str]) -> None:
        """Raise InputError for a name without its partner, and signs of others or other than 1 and -1."""
        for name in names:
            if self.partner(name) not in names:
                raise InputError(f"{name!r} has no counterpart {self.partner(name)!r} on the other side")
        for name, sign in self.signs.items():
            if name not in names:
                raise unknown_name("joint or component that changes sign", name, names)
            if abs(finite_number(f"sign of {name!r}", sign)) != 1:
                raise InputError(f"sign of {name!r} must be 1 or -1, got {sign}")

    def image(self, names: Sequence[str], values: np.ndarray) -> np.ndarray:
        """The mirror image of values, shape (N, len(names))."""
        places = [list(names).index(self.partner(name)) for name in names]
        return values[:, places] * [float(self.signs.get(name, 1.0)) for name in names]

    def whole(self, names: Sequence[str], half: np.ndarray, *, onward: bool) -> np.ndarray:
        """Values followed by their mirror image, shape (2 N - 1, len(names)); from their end on if `onward`."""
        other = self.image(names, half)
        shift = half[-1] - other[0] if onward else 0.0
        return np.vstack([half, other[1:] + shift])


def _boundaries(side: str) -> tuple[str, str]:
    """Patterns before and after a side in a name, so that "_r" is not found in "_rib"."""
    return r"(?<![A-Za-z0-9])" if side[0].isalnum() else "", r"(?![A-Za-z0-9])" if side[-1].isalnum() else ""


def _check_ends(solution: Solution, swap: _Swap) -> None:
    """Raise InputError where the final velocity is not the image of the initial one, among joints of one coordinate."""
    names = [n for n in solution.problem.model.joint_names if n in solution.problem.model.position_names]
    places = [solution.problem.model.joint_names.index(name) for name in names]
    qd = np.asarray(solution.at(np.linspace(0.0, solution.duration, _TIMES)).qd)[:, places]
    apart = np.abs(qd[-1] - swap.image(names, qd[:1])[0]) - _APART * np.abs(qd).max(axis=0, initial=0.0)
    if not (apart > 0).any():
        return
    worst = int(apart.argmax())
    name, end = names[worst], qd[-1, worst]
    start = qd[0, names.index(swap.partner(name))]
    hint = f": try signs={{{name!r}: -1}}" if start * end < 0 else ", as over half of a cycle"
    raise InputError(
        f"velocity of {name!r} must end as that of {swap.partner(name)!r} begins, got {end:.3g} after {start:.3g}{hint}"
    )
