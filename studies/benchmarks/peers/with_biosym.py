"""Its own standing model in biosym: JAX, IPOPT without second derivatives.

It reads MuJoCo's format with files of its own beside it; they are written here from the same numbers.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

FINEST = 1
ABOVE = 1.0  # m, of its pelvis at a coordinate of zero
PARTS = ("hip", "knee", "ankle")


def stand(task: Any, effort: int) -> dict[str, Any]:
    """A posture at rest, at one node; see `Stand`."""
    file = written(task, Path(home().name))
    # [stand
    from biosym.model.model import load_model
    from biosym.ocp.collocation import Collocation

    settings = {
        "settings": {"model": file, "nnodes": 1, "tol": 5e-4},
        "objectives": [{"name": "effort_term", "weight": 1, "args": {"exponent": 2}}],
        "constraints": [{"name": "dynamics", "weight": 1}],
        "bounds": {"from_model": True, "start_at_origin": True},
    }
    solution = Collocation(load_model(file), settings).solve()
    # stand]
    import numpy as np

    posture = np.array(solution.states.q)[0]
    posture[1] += ABOVE
    return {
        "posture": posture.tolist(),
        "torque": np.array(solution.states.actuator_model)[0].tolist(),
        "cost": float(solution.info["obj_val"]),
        "iterations": None,
        "solved": solution.info["status"] == 0,
        "status": solution.info["status_msg"].decode(),
    }


@cache
def home() -> tempfile.TemporaryDirectory[str]:
    """A folder of this process in place of the user's, where the tool keeps models and compiled functions."""
    folder = tempfile.TemporaryDirectory()
    os.environ["HOME"] = folder.name
    return folder


def written(task: Any, folder: Path) -> str:
    """The path of its model of a `Stand`, with what it reads beside."""
    joints = ("pelvis_tx", "pelvis_ty", "pelvis_tilt", *(f"{part}_{side}" for side in "rl" for part in PARTS))
    bodies = (None, None, "pelvis", *(f"{part}_{side}" for side in "rl" for part in ("femur", "tibia", "foot")))
    laws = {"stiffness": task.stop, "damping": 1.0}

    def hinge(k: int, kind: str, axis: str) -> str:
        law = laws if k > 2 else dict.fromkeys(laws, 0.0)
        more = " ".join(f'{name}="{value!r}"' for name, value in law.items())
        low, high = (values[k] - (ABOVE if k == 1 else 0.0) for values in (task.low, task.high))
        return f'<joint name="{joints[k]}" type="{kind}" axis="{axis}" range="{low!r} {high!r}" {more}/>'

    def body(k: int) -> str:
        link = task.links[k]
        place = link["xyz"] if k > 2 else (0.0, ABOVE, 0.0)
        inside = hinge(k, "hinge", "0 0 1")
        if k == 2:
            inside = hinge(0, "slide", "1 0 0") + hinge(1, "slide", "0 1 0") + inside
        inertia = " ".join([repr(link["inertia"][2])] * 3)
        inside = (
            f'<inertial pos="{_text(link["com"])}" mass="{link["mass"]!r}" fullinertia="{inertia} 0 0 0"/>' + inside
        )
        inside += "".join(body(other) for other, parent in enumerate(task.parents) if parent == k)
        return f'<body name="{bodies[k]}" pos="{_text(place)}">{inside}</body>'

    floor = '<geom name="floor" type="plane" pos="0 0 0" size="10 10 0.125"/>'
    motors = "".join(
        f'<general name="{joint}_torque" joint="{joint}" gear="{task.motor!r}" ctrllimited="true" ctrlrange="-1 1"/>'
        for joint in joints[3:]
    )
    weight = sum(link["mass"] for link in task.links) * abs(task.gravity[1])
    law = f'k="{task.stiffness / weight!r}" b="0.75" mu="1"'
    points = "".join(
        f'<contact_point name="point{k}" body="{bodies[link]}" pos="{_text(place)}"/>'
        for k, (link, place) in enumerate(task.points)
    )
    texts = {
        "stand.xml": f'<mujoco model="stand"><compiler angle="radian"/><option gravity="{_text(task.gravity)}"/>'
        f'<default><joint limited="true"/></default><worldbody>{floor}{body(2)}</worldbody>'
        f"<actuator>{motors}</actuator></mujoco>",
        "contact.xml": f'<ground_contact_model type="contact_points"><default><contact_point name="default"'
        f' body="default" pos="0 0 0" {law}/></default>{points}</ground_contact_model>',
        "actuators.xml": f'<actuators type="general">{motors}</actuators>',
        "stand.yaml": "model:\n  name: stand.xml\n  additional_parameters:\n"
        "    ground_contact: {replace_existing: true, file: contact.xml}\n"
        "    actuators: {replace_existing: true, file: actuators.xml}\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return str(folder / "stand.yaml")


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
