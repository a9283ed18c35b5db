"""The active bounds of an optimum, decided where a solver with a barrier leaves them open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from colloc.optimality.active_set import SharpOptimum
from colloc.optimality.kkt import KKTSystem
from colloc.transcription import BaseNLP

_DECIDED = 1e-10  # of natural sizes: excess over a bound, or multiplier of the wrong sign, that counts as zero
_UNDECIDED = 1e-9  # of natural sizes: a bound is weak if distance and multiplier are both smaller
_MOVED = 1e-4  # of natural sizes: a step of this length leads to another optimum
_CHANGES = 10  # of the active set, besides two for each weak bound


def crossover(nlp: BaseNLP, parameters: np.ndarray, optimum: SharpOptimum) -> KKTSystem:
    """The conditions of an optimum with its weakly active bounds decided, at the exact optimum.

    A solver with a barrier cannot tell a bound at a relative distance of 1e-7 from one with a multiplier of 1e-7, and a
    limit on a fine grid may have more rows near it than there are variables. Such bounds are left out at first. Then
    the one that a step of Newton's method violates most is added, or one whose multiplier has the wrong sign is left
    out again, until neither exists. Bounds stay weak that hold without a multiplier up to rounding, and all do if the
    steps lead elsewhere or in a circle. Where a solver has left a larger barrier, so do bounds that it leaves open if
    the optimum with its active bounds is elsewhere.

    Parameters
    ----------
    nlp : BaseNLP
    parameters : ndarray, shape (n_p,)
    optimum : SharpOptimum
    """
    given = KKTSystem(nlp, parameters, optimum)
    weak = np.append(optimum.weak_rows, optimum.weak_variables)
    if not weak.any():
        unsure = optimum.unsure
        return given if unsure is None or not unsure.any() else _checked(given, unsure)
    lower, upper = (np.append(*pair) for pair in zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True))
    size, rows = np.append(nlp.scale_g, nlp.scale_x), nlp.n_g
    sides = np.where(weak, 0, np.append(optimum.rows, optimum.variables))
    tried: set[bytes] = set()
    while sides.tobytes() not in tried and len(tried) < _CHANGES + 2 * int(weak.sum()):
        tried.add(sides.tobytes())
        held = optimum.without(sides[:rows] == 0)
        system = KKTSystem(nlp, parameters, replace(held, rows=sides[:rows], variables=sides[rows:]))
        x, values, pushes = system.newton_step()
        push = pushes * size / optimum.scale.cost
        above, below = (values - upper) / size, (lower - values) / size
        beyond = np.where(sides == 0, np.maximum(above, below), 0.0)
        wrong = np.where((sides != 0) & (sides != 2), -sides * push, 0.0)
        if beyond.max() > _DECIDED:
            k = int(beyond.argmax())
            sides[k] = 1 if above[k] > below[k] else -1
        elif wrong.max() > _DECIDED:
            sides[int(wrong.argmax())] = 0
        elif (np.abs(x - optimum.x) > _MOVED * nlp.scale_x).any():
            break
        else:
            distance = np.minimum(-above, -below)
            open_still = weak & (np.maximum(np.abs(push), distance) < _UNDECIDED)
            return KKTSystem(
                nlp,
                parameters,
                SharpOptimum(
                    sides[:rows], sides[rows:], open_still[:rows], open_still[rows:], x, pushes[:rows], optimum.scale
                ),
            )
    return given


def _checked(system: KKTSystem, unsure: np.ndarray) -> KKTSystem:
    """The conditions of an optimum, with unsure bounds called weak if a step of Newton's method leads elsewhere."""
    optimum, nlp = system.optimum, system.nlp
    x, *_ = system.newton_step()
    if (np.abs(x - optimum.x) <= _MOVED * nlp.scale_x).all():
        return system
    weak = replace(optimum, weak_rows=unsure[: nlp.n_g], weak_variables=unsure[nlp.n_g :])
    return KKTSystem(nlp, system.parameters, weak)
