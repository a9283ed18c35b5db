"""URDF files from models."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import casadi as ca
import numpy as np

from colloc.formats.urdf import UNLIMITED
from colloc.model.body import Body
from colloc.model.coupling import Coupling
from colloc.model.joint import Limits
from colloc.model.tree import Model, plain_only
from colloc.support.checks import InputError, instance, spelt
from colloc.support.files import check_path

_HERE = np.eye(4)


@spelt
def to_urdf(model: Model, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a model as a URDF file, which `from_urdf` reads as the same mechanism.

    Bodies keep their names and frames: where a joint has a constant transform behind it, as rows of Denavit and
    Hartenberg have, the file has a massless link before the body, and a fixed joint between them. Joints that follow
    others mimic them, markers are links without mass.

    Parameters
    ----------
    model : Model
        Without symbols.
    path : str or PathLike

    Returns
    -------
    tuple of str
        What the format has no word for, by name: gravity, springs, armature, limits that are not symmetric (of which
        the wider side is written), the velocity from which friction is smoothed.

    Raises
    ------
    InputError
        For symbols in the model, and helical joints, which the format does not have.

    See Also
    --------
    from_urdf : The way back.

    Examples
    --------
    >>> rod = {"mass": 1.0, "com": (0.0, -0.5, 0.0), "inertia": (1 / 12, 0.0, 1 / 12)}
    >>> rods = co.Model([co.Body("rod", co.revolute(passive=co.Passive(damping=0.1, armature=0.2)), **rod)])
    >>> co.formats.to_urdf(rods, "rods.urdf")
    ('gravity (0, -9.81, 0) m/s2', "armature of joint 'rod'")
    >>> co.formats.from_urdf("rods.urdf", gravity=(0.0, -9.81, 0.0)).model.joint_names
    ('rod',)
    """
    if not instance("model", model, Model).bodies:
        raise InputError("model must have bodies, got no mechanism at all")
    plain_only("a URDF", model)
    if model.symbols:
        raise InputError(f"model {model.name!r} contains symbols, a URDF needs numbers")
    robot = Element("robot", {"name": model.name})
    names = {body.name for body in model.bodies} | set(model.markers)
    root = _root_of(model)
    world = None if root else _unique("world", names)
    if world:
        SubElement(robot, "link", {"name": world})
    for body in model.bodies:
        _write_body(robot, body, model, world, names)
    for name, (body, point) in model.markers.items():
        if name not in {b.name for b in model.bodies}:
            SubElement(robot, "link", {"name": name})
            moved = _HERE.copy()
            moved[:3, 3] = np.array(ca.DM(point)).ravel()
            _write_joint(robot, _unique(f"{name}_joint", names), "fixed", body, name, moved)
    ElementTree.indent(robot)
    Path(check_path(path)).write_text(
        '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n", encoding="utf-8"
    )
    return tuple(_left_out(model))


def _root_of(model: Model) -> bool:
    """Whether the first body is the root link itself, fixed to the world, and carries all others."""
    first, *rest = model.bodies
    place = np.array(ca.DM(first.joint.before @ first.joint.after))
    return not first.joint.moves and np.array_equal(place, _HERE) and all(body.parent is not None for body in rest)


def _unique(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    names.add(name)
    return name


def _write_body(robot: Element, body: Body, model: Model, world: str | None, names: set[str]) -> None:
    """The link of a body and the joint that carries it."""
    joint = body.joint
    if joint.turns and joint.slides:
        raise InputError(f"joint {body.joint_name!r} is helical, which URDF does not have")
    parent = body.parent or world
    if parent is not None:
        before, after = np.array(ca.DM(joint.before)), np.array(ca.DM(joint.after))
        label = joint.name or (body.name if joint.moves else _unique(f"{body.name}_joint", names))
        if not joint.moves:
            _write_joint(robot, label, "fixed", parent, body.name, before @ after)
        elif np.array_equal(after, _HERE):
            _write_moving(robot, label, parent, body.name, before, body, model.couplings.get(label))
        else:
            between = _unique(f"{body.name}_before", names)
            SubElement(robot, "link", {"name": between})
            _write_moving(robot, label, parent, between, before, body, model.couplings.get(label))
            _write_joint(robot, _unique(f"{body.name}_joint", names), "fixed", between, body.name, after)
    link = SubElement(robot, "link", {"name": body.name})
    tensor = np.array(ca.DM(body.inertia))
    if not body.mass.is_zero() or tensor.any():
        inertial = SubElement(link, "inertial")
        SubElement(inertial, "origin", {"xyz": _numbers(np.array(ca.DM(body.com)).ravel())})
        SubElement(inertial, "mass", {"value": _number(body.mass)})
        entries = {f"i{'xyz'[a]}{'xyz'[b]}": _number(tensor[a, b]) for a in range(3) for b in range(a, 3)}
        SubElement(inertial, "inertia", entries)


def _write_joint(robot: Element, name: str, kind: str, parent: str, child: str, place: np.ndarray) -> Element:
    joint = SubElement(robot, "joint", {"name": name, "type": kind})
    SubElement(joint, "parent", {"link": parent})
    SubElement(joint, "child", {"link": child})
    if not np.array_equal(place, _HERE):
        SubElement(joint, "origin", {"xyz": _numbers(place[:3, 3]), "rpy": _numbers(_rpy(place[:3, :3]))})
    return joint


def _write_moving(
    robot: Element, name: str, parent: str, child: str, place: np.ndarray, body: Body, coupling: Coupling | None
) -> None:
    limits, passive = body.joint.limits, body.joint.passive
    endless = limits.position == (-math.inf, math.inf)
    kind = ("continuous" if endless else "revolute") if body.joint.turns else "prismatic"
    joint = _write_joint(robot, name, kind, parent, child, place)
    SubElement(joint, "axis", {"xyz": _numbers(body.joint.axis)})
    if numbers := _limit(limits, ends=kind != "continuous"):
        SubElement(joint, "limit", numbers)
    level = 0.0 if passive.friction is None else passive.friction.level
    dynamics = {
        key: _number(value) for key, value in (("damping", passive.damping), ("friction", level)) if float(value)
    }
    if dynamics:
        SubElement(joint, "dynamics", dynamics)
    if coupling is not None and coupling.curve is not None:
        raise InputError(f"joint {name!r} follows joint {coupling.joint!r} by a curve, which URDF does not have")
    if coupling is not None:
        mimic = {"joint": coupling.joint, "multiplier": _number(coupling.ratio), "offset": _number(coupling.offset)}
        SubElement(joint, "mimic", mimic)


def _limit(limits: Limits, *, ends: bool) -> dict[str, str]:
    """Attributes of a <limit>, empty where there is none."""
    sides = (("lower", limits.position[0]), ("upper", limits.position[1])) if ends else ()
    numbers = {side: _number(math.copysign(min(abs(end), UNLIMITED), end)) for side, end in sides}
    sizes = {
        key: max(-pair[0], pair[1])
        for key, pair in (
            ("effort", limits.torque),
            ("velocity", limits.velocity),
            ("acceleration", limits.acceleration),
        )
    }
    if not numbers and not any(map(math.isfinite, sizes.values())):
        return {}
    for key, size in sizes.items():
        if math.isfinite(size) or key != "acceleration":  # the format wants the others in every <limit>
            numbers[key] = _number(min(size, UNLIMITED))
    return numbers


def _rpy(rotation: np.ndarray) -> list[float]:
    """Roll, pitch and yaw about fixed axes [rad], of R = Rz(yaw) Ry(pitch) Rx(roll)."""
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[1, 0], rotation[0, 0]))
    # From what the yaw leaves: where it turns about the same axis as roll, rounding decides it, and roll makes up.
    across = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    return [math.atan2(-across @ rotation[:, 2], across @ rotation[:, 1]), pitch, yaw]


def _left_out(model: Model) -> Iterator[str]:
    if model.gravity.tolist() != [0.0, 0.0, -9.81]:
        yield f"gravity {_spoken(model.gravity)} m/s2"
    for body in model.bodies:
        label, joint = f"joint {body.joint_name!r}", body.joint
        yield from (f"{part} of {label}" for part in joint.passive.parts if part in ("stiffness", "armature"))
        if joint.passive.friction is not None:
            yield f"velocity {float(joint.passive.friction.velocity):g} of the friction of {label}"
        for quantity in ("torque", "velocity", "acceleration"):
            lower, upper = getattr(joint.limits, quantity)
            if lower != -upper:
                yield f"{quantity} limits [{lower:g}, {upper:g}] of {label}"


def _spoken(vector: np.ndarray) -> str:
    return f"({', '.join(f'{x:g}' for x in vector)})"


def _number(value: Any) -> str:
    return repr(float(value) + 0.0)


def _numbers(values: Any) -> str:
    return " ".join(map(_number, values))
