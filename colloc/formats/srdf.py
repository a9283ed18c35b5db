"""Named postures from SRDF files, which complement the URDF file of a robot."""

from __future__ import annotations

import os
from collections import Counter
from xml.etree.ElementTree import Element

from colloc.formats.reading import Notes
from colloc.formats.xml import number_of, others, read_root, text_of
from colloc.model.tree import Model


def read_postures(path: str | os.PathLike[str], model: Model, notes: Notes) -> dict[str, dict[str, float]]:
    """Group states by their names: coordinates of the model's joints [rad, m]; other joints are left out.

    States of several groups under one name are "group/name".
    """
    robot = read_root(path, "SRDF", "robot")
    for tag in others(robot, ("group_state",)):
        notes.leave_out(f"<{tag}>", "the SRDF")
    states = robot.findall("group_state")
    names = [text_of(state, "name", "a group state") for state in states]
    times = Counter(names)
    postures: dict[str, dict[str, float]] = {}
    for name, state in zip(names, states, strict=True):
        label = name if times[name] == 1 else f"{state.get('group', '')}/{name}"
        postures[label] = _posture(state, name, model, notes)
    return postures


def _posture(state: Element, name: str, model: Model, notes: Notes) -> dict[str, float]:
    posture: dict[str, float] = {}
    for joint in state.findall("joint"):
        label = text_of(joint, "name", f"a joint of group state {name!r}")
        if label not in model.joint_names:
            notes.leave_out("joint that the model does not have", f"posture {name!r}", label)
            continue
        values = (joint.get("value") or "").split()
        if len(values) != 1:
            notes.leave_out("joint of several values", f"posture {name!r}", label)
            continue
        posture[label] = number_of(joint, "value", f"joint {label!r} in group state {name!r}")
    return posture
