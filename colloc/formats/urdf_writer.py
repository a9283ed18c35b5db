"""URDF files from models."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import casadi as ca
import numpy as np

from colloc.formats.urdf import ROTOR, UNLIMITED
from colloc.model.ball import BallScrew
from colloc.model.body import Body
from colloc.model.coupling import Coupling
from colloc.model.joint import Limits
from colloc.model.tree import Model
from colloc.support.checks import InputError, instance, spelt
from colloc.support.files import check_writable, write_atomically

_HERE = np.eye(4)
_LEAST = 1e-12  # kg and kg m2, that MuJoCo takes instead of none


@spelt
def to_urdf(model: Model, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a model as a URDF file, which `from_urdf` reads as the same mechanism.

    Bodies keep their names and frames: for a joint with a constant transform behind it, such as a row of Denavit
    and Hartenberg, the file has a massless link before the body, and a fixed joint between them. Joints that follow
    others mimic them, markers are links without mass. The chain of `floating` on a quaternion becomes a floating joint,
    which `from_urdf` reads as the same chain; with three angles it becomes six joints. Armatures are rotors, as Drake
    and `from_urdf` read them. MuJoCo refuses rods without inertia about their axis and moving links without mass: an
    element for its compiler, which others ignore, makes them 1e-12 kg and kg m2.

    Parameters
    ----------
    model : Model
        Without symbols.
    path : str or PathLike

    Returns
    -------
    tuple of str
        Data that the format cannot hold, by name: gravity, springs, armatures (but for Drake), asymmetric limits (of
        which the wider side is written), the velocity below which friction is smoothed, all but the placement of a
        floating joint.

    Raises
    ------
    InputError
        For symbols in the model, helical joints and ball joints on quaternions, which the format does not have, and a
        path that cannot be written.

    See Also
    --------
    from_urdf

    Examples
    --------
    >>> rod = {"mass": 1.0, "com": (0.0, -0.5, 0.0), "inertia": (1 / 12, 0.0, 1 / 12)}
    >>> rods = co.Model([co.Body("rod", co.revolute(passive=co.Passive(damping=0.1, armature=0.2)), **rod)])
    >>> co.formats.to_urdf(rods, "rods.urdf")
    ('gravity (0, -9.81, 0) m/s2', "armature of joint 'rod', but for Drake")
    >>> read = co.formats.from_urdf("rods.urdf", gravity=(0.0, -9.81, 0.0)).model
    >>> co.Evaluator(read).mass_matrix([0.3])  # that of the rod about its end, and of the rotor
    array([[0.53333333]])
    """
    target = check_writable(path)
    if not instance("model", model, Model).bodies:
        raise InputError("model must have bodies, got an empty model")
    if model.symbols:
        raise InputError(f"model {model.name!r} contains symbols, a URDF needs numbers")
    robot = Element("robot", {"name": model.name})
    names = {body.name for body in model.bodies} | set(model.markers)
    root = _root_of(model)
    world = None if root else _unique("world", names)
    if world:
        SubElement(robot, "link", {"name": world})
    floating = _floating(model)
    carried = {link.name for chain in floating.values() for link in chain[:-1]}
    for body in model.bodies:
        if chain := floating.get(body.name):
            label, start = getattr(body.joint, "ball", ""), chain[0]
            before = np.array(ca.DM(start.joint.before))
            _write_joint(robot, label, "floating", start.parent or str(world), body.name, before)
            _write_link(robot, body)
        elif body.name not in carried:
            _write_body(robot, body, model, world, names)
    for body in model.bodies:
        if body.name not in carried | floating.keys() and not body.joint.passive.armature.is_zero():
            _write_rotor(robot, body)
    for name, (body, point) in model.markers.items():
        if name not in {b.name for b in model.bodies}:
            SubElement(robot, "link", {"name": name})
            moved = _HERE.copy()
            moved[:3, 3] = np.array(ca.DM(point)).ravel()
            _write_joint(robot, _unique(f"{name}_joint", names), "fixed", body, name, moved)
    if _too_light([body for body in model.bodies if body.name not in carried]):
        compiler = {"boundmass": _number(_LEAST), "boundinertia": _number(_LEAST)}
        SubElement(SubElement(robot, "mujoco"), "compiler", compiler)
    ElementTree.indent(robot)
    text = '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"
    write_atomically(target, text.encode())
    return tuple(_left_out(model, carried | floating.keys()))


def _write_rotor(robot: Element, body: Body) -> None:
    """The armature of a joint as a rotor without a gear, as Drake has it."""
    robot.set("xmlns:drake", "http://drake.mit.edu")
    transmission = SubElement(robot, "transmission", {"name": f"{body.joint_name}_transmission"})
    SubElement(transmission, "type").text = "transmission_interface/SimpleTransmission"
    SubElement(transmission, "joint", {"name": body.joint_name})
    actuator = SubElement(transmission, "actuator", {"name": f"{body.joint_name}_motor"})
    SubElement(actuator, "mechanicalReduction").text = "1"
    SubElement(actuator, ROTOR, {"value": _number(body.joint.passive.armature)})


def _too_light(bodies: list[Body]) -> bool:
    """Whether MuJoCo refuses some body: one without an inertia about some axis, or a moving one without mass."""
    for body in bodies:
        moments = np.linalg.eigvalsh(np.array(ca.DM(body.inertia)))
        thin = moments[0] <= _LEAST * max(1.0, moments[-1])
        if thin if not body.mass.is_zero() else body.joint.moves:
            return True
    return False


def _floating(model: Model) -> dict[str, list[Body]]:
    """The six links of each body that floats on a quaternion, see `floating`; InputError for other ball joints."""
    chains: dict[str, list[Body]] = {}
    for k, body in enumerate(model.bodies):
        if not isinstance(body.joint, BallScrew) or body.joint.axis_index != 2:
            continue
        chain, ball = list(model.bodies[max(k - 5, 0) : k + 1]), body.joint.ball
        between = {link.name for link in chain[:-1]}
        others = {b.parent for b in model.bodies if b not in chain} | {place for place, _ in model.markers.values()}
        named = [b.joint_name for b in chain[:3]] == [f"{ball}_t{axis}" for axis in "xyz"]
        if not named or not _slides_freely(chain) or between & others:
            raise InputError(
                f"ball joint {ball!r} is on a quaternion, and URDF has no ball joints: make it of three angles, as in "
                "sequence='zyx'"
            )
        chains[body.name] = chain
    return chains


def _slides_freely(chain: list[Body]) -> bool:
    """Whether the links before a body are massless, at one point, on slides along x, y and z and two turns."""
    moved = [np.array(ca.DM(part)) for b in chain for part in (b.joint.before, b.joint.after)][1:]
    axes = [b.joint.axis.tolist() for b in chain[:3] if b.joint.kind == "prismatic"] == np.eye(3).tolist()
    bare = all(b.mass.is_zero() for b in chain[:-1])
    row = all(b.parent == above.name for above, b in pairwise(chain))
    return axes and bare and row and all(np.array_equal(part, _HERE) for part in moved)


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
        raise InputError(f"joint {body.joint_name!r} is helical, which URDF does not support")
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
    _write_link(robot, body)


def _write_link(robot: Element, body: Body) -> None:
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
        raise InputError(f"joint {name!r} follows joint {coupling.joint!r} by a curve, which URDF does not support")
    if coupling is not None:
        mimic = {"joint": coupling.joint, "multiplier": _number(coupling.ratio), "offset": _number(coupling.offset)}
        SubElement(joint, "mimic", mimic)


def _limit(limits: Limits, *, ends: bool) -> dict[str, str]:
    """Attributes of a <limit>, empty without limits."""
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


def _left_out(model: Model, floating: set[str]) -> Iterator[str]:
    """Data that the file cannot hold, with some bodies as links of floating joints."""
    if model.gravity.tolist() != [0.0, 0.0, -9.81]:
        yield f"gravity {_spoken(model.gravity)} m/s2"
    for body in model.bodies:
        label, joint = f"joint {body.joint_name!r}", body.joint
        unsaid = joint.passive.parts if body.name in floating else ("stiffness", "armature")
        for part in joint.passive.parts:
            written = part == "armature" and body.name not in floating
            if part in unsaid:
                yield f"{part} of {label}" + (", but for Drake" if written else "")
        for quantity in ("position", "torque", "velocity", "acceleration") if body.name in floating else ():
            lower, upper = getattr(joint.limits, quantity)
            if math.isfinite(lower) or math.isfinite(upper):
                yield f"{quantity} limits [{lower:g}, {upper:g}] of {label}"
        if body.name in floating:
            continue
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
