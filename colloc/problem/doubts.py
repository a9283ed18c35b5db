"""What a problem may say, but hardly anybody means."""

from __future__ import annotations

import numpy as np

from colloc.problem.instant import Slots
from colloc.problem.joint_constraints import Bounds, EndState
from colloc.problem.statement import Statement
from colloc.problem.track import Tracked
from colloc.problem.unknowns import Free
from colloc.support.checks import angles, warn
from colloc.support.display import short, shown

_LOOSE = 3  # turns that a bound may be away from zero
_FEW = 4  # samples, with which a motion cannot be told from another
_LONG = 100.0  # times the duration of a motion: longer records are hardly of that motion
_MOST = 0.5  # share of a motion that samples should cover


def check_idle(problem: Statement) -> None:
    """InputWarning for torques of joints that move no mass and carry no load: none is needed, whatever they do."""
    model = problem.model
    if problem.coordinates is not None or not model.idle:
        return  # loops load what they close
    loaded = {model.index(load.body) for load in problem.loads}
    for k in reversed(range(len(model.bodies))):
        if k in loaded:
            loaded.add(model.parents[k])
    asked = [fn for _, fn in problem.costs.values()] + [stated.function for stated in problem.rows.values()]
    tau = Slots._fields.index("tau")
    idle = [j for j in model.idle if model.moving[j] not in loaded]
    found = [j for j in idle if any(j in fn.jac_sparsity(0, tau).get_col() for fn in asked)]
    if found:
        some, one = shown([model.joint_names[j] for j in found]), len(found) == 1
        warn(
            f"joint{'' if one else 's'} {some} move{'s' if one else ''} no mass, so that torques there are zero "
            "whatever they do: give mass, centre of mass and inertia to the bodies they carry"
        )


def check_angles(problem: Statement) -> None:
    """InputWarning for end states and bounds that may be in degrees; threads turn as often as they need."""
    turning = np.array(problem.model.hinge_angles, dtype=bool)
    for stated in problem.subject_to:
        if isinstance(stated, Bounds):
            angles("bounds q", np.array(stated.limits_of("q", problem.model))[:, turning], _LOOSE)
        elif isinstance(stated, EndState):
            for quantity, j, value in stated.stated(problem.model):
                if quantity == "q" and turning[j]:
                    angles(f"{stated.name} q[{problem.model.position_names[j]}]", value)


def check_tracks(problem: Statement) -> None:
    """InputWarning for measured samples whose times or values seem to be in other units than the motion's."""
    for name, (term, _) in problem.costs.items():
        if isinstance(term.fn, Tracked):
            _check_times(name, term.fn.record.times, problem.horizon)
            _check_values(name, term.fn, problem)


def _check_times(name: str, t: np.ndarray, horizon: Free) -> None:
    """Samples that hardly lie within a motion, or leave most of it without any."""
    longest, shortest = horizon.upper, horizon.lower
    within = np.count_nonzero((t >= 0) & (t <= longest))
    covered = min(t[-1], shortest) - max(t[0], 0.0)
    motion = f"a motion of {short(longest)} s" if shortest == longest else f"one of at most {short(longest)} s"
    if t[-1] > longest and (within < _FEW or t[-1] > _LONG * longest):
        warn(
            f"times of {name!r} run from {short(t[0])} to {short(t[-1])}, {within} of {t.size} samples in {motion}: "
            "milliseconds, or a clock that does not start with the motion? times are in seconds from its start"
        )
    elif covered < _MOST * shortest:
        warn(
            f"samples of {name!r} cover {max(covered, 0.0) / shortest:.0%} of the motion, {short(t[0])} to "
            f"{short(t[-1])} s of {short(shortest)} s, and nothing holds the rest of it: give more samples, a shorter "
            "duration, or co.initial and co.final"
        )


def _check_values(name: str, tracked: Tracked, problem: Statement) -> None:
    """Joint angles that may be in degrees."""
    now, hinges = problem.instant, problem.model.hinge_angles
    turning = {now.q[j].element_hash() for j, hinge in enumerate(hinges) if hinge}
    measured = tracked.measured(now)
    values = [v for k, v in enumerate(tracked.record.largest) if measured[k].element_hash() in turning]
    if values:
        angles(f"values of {name!r}", values)
