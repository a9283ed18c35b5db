"""What a problem may say, but hardly anybody means."""

from __future__ import annotations

from typing import Any

import numpy as np

from colloc.checks import angles, doubt
from colloc.display import shown
from colloc.problem.instant import Slots
from colloc.problem.joint_constraints import Bounds, EndState

_LOOSE = 3  # turns that a bound may be away from zero


def check_idle(problem: Any) -> None:
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
        doubt(
            f"joint{'' if one else 's'} {some} move{'s' if one else ''} no mass, so that torques there are zero "
            "whatever they do: give mass, centre of mass and inertia to the bodies they carry"
        )


def check_angles(problem: Any) -> None:
    """InputWarning for end states and bounds that may be in degrees; threads turn as often as they need."""
    turning = [joint.kind == "revolute" for joint in problem.model.joints]
    for stated in problem.subject_to:
        if isinstance(stated, Bounds):
            angles("bounds q", np.array(stated.limits_of("q", problem.model))[:, turning], _LOOSE)
        elif isinstance(stated, EndState):
            for quantity, j, value in stated.stated(problem.model):
                if quantity == "q" and turning[j]:
                    angles(f"{stated.name} q[{problem.model.joint_names[j]}]", value)
