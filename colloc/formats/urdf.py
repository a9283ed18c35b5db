"""Models from URDF files: their joints, inertias and limits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from colloc.model.body import Body
from colloc.model.joint import Joint
from colloc.model.kinds import fixed, prismatic, revolute
from colloc.model.limits import Limits
from colloc.model.passive import Friction, Passive
from colloc.model.transforms import placement
from colloc.model.tree import Model
from colloc.support.checks import InputError, finite_number, quoted, spelt, unknown_name, warn
from colloc.support.files import check_path

_KINDS = ("revolute", "continuous", "prismatic", "fixed")
_LARGEST = 100_000_000  # bytes
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
    file, velocity = check_path(path), finite_number("friction_velocity", friction_velocity, positive=True)
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            raise InputError(f"{str(path)!r} is no file of at most {_LARGEST // 1_000_000} MB")
        robot = ElementTree.fromstring(file.read_bytes(), ElementTree.XMLParser(target=_WithoutTypes()))
    except (OSError, ElementTree.ParseError, UnicodeError, LookupError) as error:  # unknown encodings are LookupErrors
        raise InputError(f"{str(path)!r} cannot be read as a URDF: {error}") from None
    if robot.tag != "robot":
        raise InputError(f"{str(path)!r} is no URDF: its root is <{robot.tag}>, not <robot>")
    _known(robot, "the robot", ("link", "joint", *_OF_OTHERS))
    links = _by_name(robot, "link")
    joints = _by_name(robot, "joint")
    bodies = [_body(links[link], joint, velocity) for link, joint in _outward(links, joints)]
    return Model(bodies, gravity, robot.get("name") or "robot")


class _WithoutTypes(ElementTree.TreeBuilder):
    """A tree of elements from a file without a document type, and so without entities."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError(f"a URDF has no document type, got <!DOCTYPE {name}>")


def _outward(
    links: dict[str, ElementTree.Element], joints: dict[str, ElementTree.Element]
) -> Iterator[tuple[str, ElementTree.Element | None]]:
    """Links from the root on, each with the joint that carries it."""
    carried: dict[str, str] = {}
    children: dict[str, list[tuple[str, ElementTree.Element]]] = {link: [] for link in links}
    for name, joint in joints.items():
        parent, child = (
            _text(_one(joint, end, f"joint {name!r}"), "link", f"joint {name!r}") for end in ("parent", "child")
        )
        for link in (parent, child):
            if link not in links:
                raise unknown_name(f"link (of joint {name!r})", link, links)
        if child in carried:
            raise InputError(
                f"link {child!r} is carried by two joints, {carried[child]!r} and {name!r}: close loops by co.loops"
            )
        carried[child] = name
        children[parent].append((child, joint))
    roots = [link for link in links if link not in carried]
    if len(roots) != 1:
        raise InputError(f"a URDF has one link that no joint carries, got {', '.join(roots) or 'none'}")
    waiting: list[tuple[str, ElementTree.Element | None]] = [(roots[0], None)]
    reached = 0
    while waiting:
        link, joint = waiting.pop()
        reached += 1
        yield link, joint
        waiting += reversed(children[link])
    if reached < len(links):
        raise InputError(f"{len(links) - reached} links hang on each other in a circle, and not on {roots[0]!r}")


def _body(link: ElementTree.Element, joint: ElementTree.Element | None, friction_velocity: float) -> Body:
    name = link.get("name", "")
    what = f"link {name!r}"
    _known(link, what, _OF_LINK)
    made = fixed() if joint is None else _joint(joint, friction_velocity)
    parent = None if joint is None else _text(_one(joint, "parent", what), "link", what)
    inertial = _one(link, "inertial", what, optional=True)
    if inertial is None:
        return Body(name, made, parent)
    place = _placement(inertial, f"inertial of {what}")
    mass = _number(_one(inertial, "mass", what), "value", f"mass of {what}")
    tensor = _one(inertial, "inertia", what)
    xx, xy, xz, yy, yz, zz = (
        _number(tensor, key, f"inertia of {what}") for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    about = place[:3, :3]
    return Body(name, made, parent, mass, place[:3, 3], about @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ about.T)


def _joint(joint: ElementTree.Element, friction_velocity: float) -> Joint:
    name, kind = joint.get("name", ""), joint.get("type", "")
    what = f"joint {name!r}"
    if kind not in _KINDS:
        raise InputError(f"{what} is of type {kind!r}; what can be read: {', '.join(_KINDS)}")
    _known(joint, what, _OF_JOINT)
    place = ca.SX(_placement(joint, what))
    if kind == "fixed":
        return fixed(place, name=name)
    axis = _one(joint, "axis", what, optional=True)
    direction = np.array([1.0, 0.0, 0.0]) if axis is None else _vector(axis, "xyz", f"axis of {what}")
    dynamics = _one(joint, "dynamics", what, optional=True)
    damping, level = (0.0 if dynamics is None else _number(dynamics, key, what, 0.0) for key in ("damping", "friction"))
    make = prismatic if kind == "prismatic" else revolute
    passive = Passive(damping, friction=Friction(level, friction_velocity) if level else None)
    made = make(direction.tolist(), place, _limits(joint, kind, what), name=name, passive=passive)
    if axis is None:
        warn(f"{what} has no <axis>: it is taken to be x, (1, 0, 0), by the rules of the format")
    return made


def _limits(joint: ElementTree.Element, kind: str, what: str) -> Limits:
    limit = _one(joint, "limit", what, optional=kind == "continuous")
    if limit is None:
        return Limits()
    position = (-math.inf, math.inf)
    if kind != "continuous":
        position = _number(limit, "lower", f"limit of {what}", 0.0), _number(limit, "upper", f"limit of {what}", 0.0)
    symmetric = {}
    for quantity, key in (("torque", "effort"), ("velocity", "velocity"), ("acceleration", "acceleration")):
        if limit.get(key) is not None:
            size = _number(limit, key, f"limit of {what}")
            symmetric[quantity] = (-size, size)
    if symmetric.get("velocity") == (0.0, 0.0):
        warn(f"{what} cannot move: its velocity limit is 0")
    if symmetric.get("torque") == (0.0, 0.0):
        warn(f"{what} has no motor: its effort limit is 0, which holds its torque at zero; state one, or leave it out")
    return Limits(position, **symmetric)


def _known(element: ElementTree.Element, what: str, legal: tuple[str, ...]) -> None:
    for child in element:
        if child.tag not in legal:
            raise InputError(f"{what} has a <{child.tag}>, which is not read (read or passed over: {', '.join(legal)})")


def _by_name(robot: ElementTree.Element, tag: str) -> dict[str, ElementTree.Element]:
    found: dict[str, ElementTree.Element] = {}
    for element in robot.findall(tag):
        name = _text(element, "name", f"a {tag}")
        if name in found:
            raise InputError(f"two {tag}s are named {name!r}; names must be unique")
        found[name] = element
    return found


def _one(element: ElementTree.Element, tag: str, what: str, *, optional: bool = False) -> Any:
    found = element.findall(tag)
    if len(found) > 1 or (not found and not optional):
        raise InputError(f"{what} must have one <{tag}>, got {len(found)}")
    return found[0] if found else None


def _placement(element: ElementTree.Element, what: str) -> np.ndarray:
    """Transform of the <origin> of an element, shape (4, 4); the identity without one."""
    origin = _one(element, "origin", what, optional=True)
    if origin is None:
        return np.eye(4)
    xyz, rpy = (_vector(origin, key, f"origin of {what}", "0 0 0") for key in ("xyz", "rpy"))
    return np.array(ca.DM(placement(xyz, rpy)))


def _text(element: ElementTree.Element, key: str, what: str) -> str:
    value = element.get(key)
    if not value:
        raise InputError(f"{what} must have {key}=, got <{element.tag}> with {dict(element.attrib)}")
    return value


def _number(element: ElementTree.Element, key: str, what: str, default: float | None = None) -> float:
    value = element.get(key)
    if value is None and default is not None:
        return default
    return float(_numbers(value, 1, f"{key} of {what}")[0])


def _vector(element: ElementTree.Element, key: str, what: str, default: str | None = None) -> np.ndarray:
    return _numbers(element.get(key, default), 3, f"{key} of {what}")


def _numbers(value: str | None, count: int, what: str) -> np.ndarray:
    try:
        found = np.array([float(part) for part in (value or "").split()])
    except ValueError:
        found = np.array([])
    if found.size != count or not np.isfinite(found).all():
        wanted = "a finite number" if count == 1 else f"{count} finite numbers"
        raise InputError(f"{what} must be {wanted}, got {quoted(value)}")
    return found
