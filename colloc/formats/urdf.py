"""Models from URDF files: their joints, inertias and limits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

import casadi as ca
import numpy as np

from colloc.formats.xml import by_name, check_children, child_of, number_of, read_root, text_of, vector_of
from colloc.model.body import Body
from colloc.model.joint import Joint, Limits
from colloc.model.kinds import fixed, prismatic, revolute
from colloc.model.passive import Friction, Passive
from colloc.model.transforms import placement
from colloc.model.tree import Model
from colloc.support.checks import InputError, finite_number, spelt, unknown_name, warn

_KINDS = ("revolute", "continuous", "prismatic", "fixed")
# What says nothing of the mechanism: looks, collisions, simulators, controllers.
_OF_OTHERS = ("gazebo", "material", "transmission", "ros2_control", "sensor")
_OF_JOINT = ("origin", "parent", "child", "axis", "limit", "dynamics", "calibration", "safety_controller")
_OF_LINK = ("inertial", "visual", "collision", "sensor")


@spelt
def from_urdf(path: str | os.PathLike[str], gravity: Any = (0.0, 0.0, -9.81), friction_velocity: float = 0.1) -> Model:
    """The mechanism that a URDF file describes, on a base fixed to the world.

    Bodies are the links, joints keep their names and the order in which a walk from the root meets them. Read are
    joints that are revolute, continuous, prismatic or fixed, their origins and axes, limits of position, effort,
    velocity and acceleration, damping and friction, and the inertials of links. What says nothing of rigid-body
    mechanics is passed over: visual and collision shapes, materials, sensors, transmissions, what is meant for
    simulators and controllers.

    Parameters
    ----------
    path : str or PathLike
    gravity : shape (3,) [m/s2]
    friction_velocity : float [rad/s, m/s]
        Rate below which the friction of joints is smoothed, see `Friction`; the format has none.

    Returns
    -------
    Model
        Its name is that of the robot.

    Raises
    ------
    InputError
        For a file that cannot be read, that is no URDF or has a document type (entities could make it grow beyond all
        measure); for what the model cannot have, by name: floating and planar joints, mimic joints, links with two
        parents, elements of other kinds.

    See Also
    --------
    Model : A mechanism from bodies.

    Examples
    --------
    >>> text = '''<robot name="pendulum"><link name="stand"/>
    ...   <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    ...     <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
    ...   <joint name="pivot" type="continuous"><parent link="stand"/><child link="rod"/><axis xyz="0 1 0"/></joint>
    ... </robot>'''
    >>> with open("pendulum.urdf", "w") as file:
    ...     _ = file.write(text)
    >>> co.formats.from_urdf("pendulum.urdf").joint_names
    ('pivot',)
    """
    velocity = finite_number("friction_velocity", friction_velocity, positive=True)
    robot = read_root(path, "URDF", "robot")
    check_children(robot, "the robot", ("link", "joint", *_OF_OTHERS))
    links = by_name(robot, "link")
    joints = by_name(robot, "joint")
    bodies = [_body(links[link], joint, velocity) for link, joint in _outward(links, joints)]
    return Model(bodies, gravity, robot.get("name") or "robot")


def _outward(links: dict[str, Element], joints: dict[str, Element]) -> Iterator[tuple[str, Element | None]]:
    """Links from the root on, each with the joint that carries it."""
    carriers: dict[str, str] = {}
    children: dict[str, list[tuple[str, Element]]] = {link: [] for link in links}
    for name, joint in joints.items():
        parent, child = (
            text_of(child_of(joint, end, f"joint {name!r}"), "link", f"joint {name!r}") for end in ("parent", "child")
        )
        for link in (parent, child):
            if link not in links:
                raise unknown_name(f"link (of joint {name!r})", link, links)
        if child in carriers:
            raise InputError(
                f"link {child!r} is carried by two joints, {carriers[child]!r} and {name!r}: close loops by co.loops"
            )
        carriers[child] = name
        children[parent].append((child, joint))
    roots = [link for link in links if link not in carriers]
    if len(roots) != 1:
        raise InputError(f"a URDF has one link that no joint carries, got {', '.join(roots) or 'none'}")
    waiting: list[tuple[str, Element | None]] = [(roots[0], None)]
    reached = 0
    while waiting:
        link, joint = waiting.pop()
        reached += 1
        yield link, joint
        waiting += reversed(children[link])
    if reached < len(links):
        raise InputError(f"{len(links) - reached} links hang on each other in a circle, and not on {roots[0]!r}")


def _body(link: Element, joint: Element | None, friction_velocity: float) -> Body:
    name = link.get("name", "")
    what = f"link {name!r}"
    check_children(link, what, _OF_LINK)
    mount = fixed() if joint is None else _joint(joint, friction_velocity)
    parent = None if joint is None else text_of(child_of(joint, "parent", what), "link", what)
    inertial = child_of(link, "inertial", what, optional=True)
    if inertial is None:
        return Body(name, mount, parent)
    place = _placement(inertial, f"inertial of {what}")
    mass = number_of(child_of(inertial, "mass", what), "value", f"mass of {what}")
    tensor = child_of(inertial, "inertia", what)
    xx, xy, xz, yy, yz, zz = (
        number_of(tensor, key, f"inertia of {what}") for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    about = place[:3, :3]
    return Body(name, mount, parent, mass, place[:3, 3], about @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ about.T)


def _joint(joint: Element, friction_velocity: float) -> Joint:
    name, kind = joint.get("name", ""), joint.get("type", "")
    what = f"joint {name!r}"
    if kind not in _KINDS:
        raise InputError(f"{what} is of type {kind!r}; what can be read: {', '.join(_KINDS)}")
    check_children(joint, what, _OF_JOINT)
    place = ca.SX(_placement(joint, what))
    if kind == "fixed":
        return fixed(place, name=name)
    axis = child_of(joint, "axis", what, optional=True)
    direction = np.array([1.0, 0.0, 0.0]) if axis is None else vector_of(axis, "xyz", f"axis of {what}")
    dynamics = child_of(joint, "dynamics", what, optional=True)
    parts = ("damping", "friction")
    damping, level = (0.0 if dynamics is None else number_of(dynamics, part, what, 0.0) for part in parts)
    make = prismatic if kind == "prismatic" else revolute
    passive = Passive(damping, friction=Friction(level, friction_velocity) if level else None)
    moving = make(direction.tolist(), place, _limits(joint, kind, what), name=name, passive=passive)
    if axis is None:
        warn(f"{what} has no <axis>: it is taken to be x, (1, 0, 0), by the rules of the format")
    return moving


def _limits(joint: Element, kind: str, what: str) -> Limits:
    limit = child_of(joint, "limit", what, optional=kind == "continuous")
    if limit is None:
        return Limits()
    position = (-math.inf, math.inf)
    if kind != "continuous":
        lower, upper = (number_of(limit, side, f"limit of {what}", 0.0) for side in ("lower", "upper"))
        position = lower, upper
    symmetric = {}
    for quantity, key in (("torque", "effort"), ("velocity", "velocity"), ("acceleration", "acceleration")):
        if limit.get(key) is not None:
            size = number_of(limit, key, f"limit of {what}")
            symmetric[quantity] = (-size, size)
    if symmetric.get("velocity") == (0.0, 0.0):
        warn(f"{what} cannot move: its velocity limit is 0")
    if symmetric.get("torque") == (0.0, 0.0):
        warn(f"{what} has no motor: its effort limit is 0, which holds its torque at zero; state one, or leave it out")
    return Limits(position, **symmetric)


def _placement(element: Element, what: str) -> np.ndarray:
    """Transform of the <origin> of an element, shape (4, 4); the identity without one."""
    origin = child_of(element, "origin", what, optional=True)
    if origin is None:
        return np.eye(4)
    xyz, rpy = (vector_of(origin, key, f"origin of {what}", "0 0 0") for key in ("xyz", "rpy"))
    return np.array(ca.DM(placement(xyz, rpy)))
