"""Models from URDF files, with their joints, inertias and limits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import casadi as ca
import numpy as np

from colloc.formats.limits import Exchanged, NewLimits, replaceable
from colloc.formats.loop_files import Companion, read_companion
from colloc.formats.numbers import parse_number, parse_numbers
from colloc.formats.reading import LinkShape, Notes, Reading, still_scene
from colloc.formats.srdf import read_postures
from colloc.formats.xml import (
    by_name,
    child_of,
    lines_of,
    number_of,
    others,
    read_root,
    root_of,
    text_of,
    vector_of,
    wrong,
)
from colloc.model.ball import BALLS, QUATERNION, ball_chain
from colloc.model.body import Body
from colloc.model.coupling import Coupling
from colloc.model.floating import FREE, free_chain, joint_chain
from colloc.model.joint import Joint, Limits
from colloc.model.kinds import fixed, prismatic, revolute
from colloc.model.passive import Friction, Passive
from colloc.model.transforms import placement
from colloc.model.tree import Model
from colloc.support.checks import InputError, choice, finite_number, mapping, spelt, unknown_name, warn
from colloc.support.display import short, shown
from colloc.support.files import check_path, refused

UNLIMITED = 1e9  # what limits as large as this say is that there are none
_KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_ENDS = "parent", "child"
GEAR, ROTOR, ACCELERATION = "drake:gear_ratio", "drake:rotor_inertia", "drake:acceleration"  # as Drake writes them
_BOUNDS = {"boundmass", "boundinertia"}  # of MuJoCo's compiler, which `to_urdf` writes
Color = tuple[float, float, float, float]
UNDRIVEN = Limits(torque=(0.0, 0.0))  # of a free base
_LISTED = 6  # joints that a hint names


@spelt
def from_urdf(
    path: str | os.PathLike[str],
    gravity: Any = (0.0, 0.0, -9.81),
    friction_velocity: float = 0.1,
    *,
    base: str = "fixed",
    hold: Mapping[str, float] | None = None,
    inertia: str = "strict",
    srdf: str | os.PathLike[str] | None = None,
    balls: str = QUATERNION,
    limits: Mapping[str, Any] | None = None,
    loops: str | os.PathLike[str] | None = None,
) -> Reading:
    """The mechanism of a URDF file.

    Links become bodies; joints keep their names, in the order of a walk from the root. Joints of all types are read,
    with origins, axes, limits of position, effort, velocity and acceleration, damping, friction, and mimicked joints
    (`Model.couplings`), the inertials of links, and the rotors of Drake's files as armatures. A floating joint "j" has
    the coordinates of `floating`, from j_tx on, a planar one j_t1 and j_t2 in its plane and j_r about its normal. Links
    without mass at the tips, on fixed joints, are frames and become markers of the model as well. The one parent that a
    file of a tool does not have, such as the hand that carries a gripper, is its base. Where nothing moves, as in the
    file of a table, the shapes are a scene, without a model. The report lists elements of other programs.

    Parameters
    ----------
    path : str or PathLike
        A file with the suffix .xacro is expanded first by the package xacro, which runs code in the file.
    gravity : shape (3,) [m/s2]
    friction_velocity : float [rad/s, m/s]
        Rate below which the friction of joints is smoothed, see `Friction`; the format has none.
    base : "fixed" or "free"
        Whether the root link is fixed to the world, or moves freely, without a motor (torque limits of zero), with
        coordinates that begin with its name.
    hold : mapping of joint name to number [rad, m], optional
        Joints that are held at a value: they have no coordinate.
    inertia : "strict", "nearest" or "given"
        How to treat an inertia that no body can have, because a principal moment exceeds the sum of the other two or
        is negative: refuse it, replace it by that of the nearest distribution of mass, or keep it. That of a link which
        nothing moves is kept.
    srdf : str or PathLike, optional
        An SRDF file with named postures (group states).
    balls : "quaternion" or "angles"
        Whether floating bodies, including a free base, have a unit quaternion, or three angles: see `spherical`.
    limits : mapping of str to value, or of str to mapping of joint to value, optional
        Changes of "position", "velocity", "acceleration" or "torque" limits, of all joints or by joint: (lower, upper)
        replaces those in the file, a factor scales them, and None lifts them. Many files write an effort of 0 for one
        that nobody knows: ``limits={"torque": None}``.
    loops : str or PathLike, optional
        A companion file with the loops of the robot, which a URDF cannot have, for `Reading.chain`: JSON, or YAML with
        PyYAML (extra `yaml`). It maps "closed_loop" to pairs of links or joints whose frames coincide, "type" to a "6d"
        (weld) or "3d" (ball joint) for each, "name_mot" to the joints with motors, and "joint_name" to joints that are
        of another kind, "joint_type": "SPHERICAL", "FIXED" at zero, or about two axes of the joint, as "UJOINT_XY".

    Returns
    -------
    Reading
        With the `model`, under the name of the robot, and the report.

    Raises
    ------
    InputError
        With the line: for a file that cannot be read, that is no URDF or has a document type (whose entities could
        expand without limit), text in place of numbers, exchanged or negative limits, links with two parents, circles
        of links or of mimic joints, joints of unknown types. The message names an argument that accepts the file, if
        there is one.

    See Also
    --------
    from_mjcf, from_sdf, to_urdf

    Examples
    --------
    >>> text = '''<robot name="hand"><link name="palm"/><link name="left"/><link name="right"/>
    ...   <joint name="left" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
    ...     <limit lower="0" upper="0.04" effort="20" velocity="0.1"/></joint>
    ...   <joint name="right" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="0 -1 0"/>
    ...     <limit lower="0" upper="0.04" effort="20" velocity="0.1"/><mimic joint="left"/></joint>
    ... </robot>'''
    >>> with open("hand.urdf", "w") as file:
    ...     _ = file.write(text)
    >>> reading = co.formats.from_urdf("hand.urdf")
    >>> reading.model.joint_names, str(reading.model.couplings["right"])
    (('left',), '1 left')
    >>> co.formats.from_urdf("hand.urdf", limits={"velocity": 0.5, "torque": {"left": None}}).model.joints[0].limits
    Limits(position=(0.0, 0.04), velocity=(-0.05, 0.05), torque=(-inf, inf), acceleration=(-inf, inf))
    """
    velocity = finite_number("friction_velocity", friction_velocity, positive=True)
    held = mapping("hold", hold)
    choice("base", base, ("fixed", "free"))
    choice("balls", balls, BALLS)
    choice("inertia", inertia, ("strict", "nearest", "given"))
    new_limits = NewLimits(limits)
    robot = _root(path)
    colors = {material.get("name", ""): rgba for material in robot.iter("material") if (rgba := _rgba(material))}
    reader = _UrdfReader(new_limits, velocity, inertia, os.path.dirname(os.path.abspath(path)), balls, colors)
    links, joints = by_name(robot, "link"), by_name(robot, "joint")
    links = {**links, **reader.mount(links, joints)}
    known = "link", "joint", "transmission", "material"
    bounds = [set(compiler.keys()) <= _BOUNDS for compiler in robot.iterfind("mujoco/*")]
    for tag in others(robot, (*known, "mujoco") if all(bounds) else known):
        reader.notes.leave_out(f"<{tag}>", "the robot")
    gears = reader.transmissions(robot, joints)
    ends: dict[str, Coupling] = {}
    couplings = {name: _coupling(name, joints, ends) for name in joints if reader.mimics(name, joints)}
    companion = Companion() if loops is None else read_companion(loops)
    companion.check(joints)
    reader.kinds = companion.kinds
    bodies: list[Body] = []
    for link, joint in _outward(robot, links, joints):
        with lines_of(links[link] if joint is None else joint):
            bodies += reader.bodies(links[link], joint, free=base == "free")
    reader.exchanged.check()
    if not any(body.joint.moves for body in bodies):
        free = '; base="free" makes it a free body'
        return still_scene(robot.get("name") or "scene", bodies, reader.shapes, reader.notes, free)
    with lines_of(robot):
        bodies = new_limits.applied(bodies)
        tips = {body.name for body in bodies} - {body.parent for body in bodies}
        frames = [b.name for b in bodies if b.name in tips and not b.joint.moves and b.mass.is_zero() and b.parent]
        markers = {name: (name, (0.0, 0.0, 0.0)) for name in frames}
        model = Model(bodies, gravity, robot.get("name") or "robot", markers, couplings)
        doubt(model)
        model = model.frozen(held) if held else model
    postures = {} if srdf is None else read_postures(srdf, model, reader.notes)
    children = {name: child_of(joint, "child", f"joint {name!r}").get("link", "") for name, joint in joints.items()}
    ties, motors = companion.loops(links, children), companion.driven(model.joint_names, joints, reader.notes)
    changed, left_out = tuple(reader.notes.changed), reader.notes.left_out
    return Reading(model, changed, left_out, ties, postures, gears, tuple(reader.shapes), actuators=motors)


def _root(path: str | os.PathLike[str]) -> Element:
    """The root of a file, after expansion of xacro macros."""
    if check_path(path).suffix != ".xacro":
        return read_root(path, "URDF", "robot")
    read_root(path, "URDF", "robot")
    try:
        import xacro  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(
            f"{str(path)!r} needs the package xacro, which is not installed: pip install 'colloc[xacro]'"
        ) from None
    with refused(path, "cannot be expanded by xacro"):
        try:
            document: Any = xacro.process_file(os.fspath(path))
            text = document.toxml()
        except RecursionError:
            raise RecursionError("includes or macros go in a circle") from None
        except Exception as error:
            if "ament_index" in str(error):
                raise ValueError("$(find ...) asks ROS, which is not there: write folders in place of it") from None
            raise
    return root_of(text.encode(), path, "URDF", "robot")


def _outward(
    robot: Element, links: Mapping[str, Element], joints: Mapping[str, Element]
) -> Iterator[tuple[str, Element | None]]:
    """Links outward from the root, each with the joint that carries it."""
    carriers: dict[str, str] = {}
    children: dict[str, list[tuple[str, Element]]] = {link: [] for link in links}
    for name, joint in joints.items():
        with lines_of(joint):
            parent, child = (_end(joint, end, links) for end in _ENDS)
            if child in carriers:
                raise InputError(
                    f"link {child!r} is carried by two joints, {carriers[child]!r} and {name!r}: "
                    "close loops by the argument loops"
                )
        carriers[child] = name
        children[parent].append((child, joint))
    roots = [link for link in links if link not in carriers]
    if len(roots) != 1:
        macros = any(child.tag.startswith("xacro:") for child in robot)
        hint = "; it has macros, which are expanded in files whose names end in .xacro" if macros else ""
        hint = hint or ("" if links else "; it has no link at all: macros are read with the file that uses them")
        raise wrong(robot, f"a URDF has one link that no joint carries, got {', '.join(roots) or 'none'}{hint}")
    waiting: list[tuple[str, Element | None]] = [(roots[0], None)]
    reached = 0
    while waiting:
        link, joint = waiting.pop()
        reached += 1
        yield link, joint
        waiting += reversed(children[link])
    if reached < len(links):
        raise wrong(robot, f"{len(links) - reached} links form a circle that is not connected to {roots[0]!r}")


def _end(joint: Element, end: str, links: Mapping[str, Element]) -> str:
    what = f"joint {joint.get('name')!r}"
    name = text_of(child_of(joint, end, what), "link", what)
    if name not in links:
        raise unknown_name(f"link (of {what})", name, links)
    return name


def _coupling(name: str, joints: Mapping[str, Element], known: dict[str, Coupling]) -> Coupling:
    """The coupling of a joint to a joint that mimics none; couplings of joints between them are added to `known`."""
    path: dict[str, tuple[float, float]] = {}  # ratio and offset by which each follows the next
    last = name
    while last not in known and (mimic := joints[last].find("mimic")) is not None:
        what = f"mimic of joint {last!r}"
        leader = text_of(mimic, "joint", what)
        if leader not in joints:
            raise wrong(mimic, str(unknown_name(f"joint ({what})", leader, joints)))
        path[last] = number_of(mimic, "multiplier", what, 1.0), number_of(mimic, "offset", what, 0.0)
        if leader in path:
            raise wrong(mimic, f"joints mimic each other in a circle: {' -> '.join([*path, leader])}")
        last = leader
    end = known.get(last, Coupling(last, 1.0, 0.0))
    for follower, (ratio, offset) in reversed(path.items()):
        end = known[follower] = Coupling(end.joint, ratio * end.ratio, offset + ratio * end.offset)
    return end


class _UrdfReader:
    """Reader of links and joints, with notes for the report."""

    def __init__(
        self,
        limits: NewLimits,
        friction_velocity: float,
        inertia: str,
        folder: str,
        balls: str,
        colors: Mapping[str, Color],
    ):
        self.notes, self._limits, self.exchanged = Notes(), limits, Exchanged()
        self._folder, self._colors = folder, colors
        self.shapes: list[LinkShape] = []
        self.kinds: Mapping[str, str] = {}
        self._armatures: dict[str, float] = {}
        self._friction_velocity, self._inertia = friction_velocity, inertia
        self._sequence = QUATERNION if balls == QUATERNION else "zyx"
        self._still: set[str] = set()  # links that nothing moves

    def mount(self, links: Mapping[str, Element], joints: Mapping[str, Element]) -> dict[str, Element]:
        """The link on which a file without a root mounts its robot, such as the hand that carries a gripper."""
        ends = {end: {of.get("link", "") for j in joints.values() for of in j.findall(end)} for end in _ENDS}
        unknown = ends["parent"] - links.keys()
        if len(unknown) != 1 or links.keys() - ends["child"] or not all(unknown):
            return {}
        (name,) = unknown
        self.notes.changed.append(f"link {name!r}, which is not in the file, is the base, without mass")
        return {name: Element("link", name=name)}

    def mimics(self, name: str, joints: Mapping[str, Element]) -> bool:
        """Whether a joint follows another; a fixed one cannot."""
        if joints[name].find("mimic") is None:
            return False
        if joints[name].get("type") == "fixed":
            self.notes.leave_out("<mimic>", "joints that are fixed", name)
            return False
        return True

    def bodies(self, link: Element, joint: Element | None, *, free: bool) -> list[Body]:
        """The body of a link on its joint, with massless bodies before it if the joint has several coordinates."""
        name = link.get("name", "")
        what = f"link {name!r}"
        for tag in others(link, ("inertial", "visual", "collision")):
            self.notes.leave_out(f"<{tag}>", "links", name)
        self.shapes += _shapes(link, name, self._folder, self._colors)
        if joint is None:
            self._still |= set() if free else {name}
            body = self._body(link, fixed(), None)
            undriven = {f"{name}_{letters}": UNDRIVEN for letters in FREE}
            return free_chain(body, name, self._sequence, undriven) if free else [body]
        parent, kind, label = child_of(joint, "parent", what).get("link"), joint.get("type", ""), joint.get("name", "")
        if kind not in _KINDS:
            raise InputError(f"joint {label!r} is of type {kind!r}; supported are {', '.join(_KINDS)}")
        known = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
        for tag in others(joint, known):
            self.notes.leave_out(f"<{tag}>", "joints", label)
        if other := self.kinds.get(label):
            self.notes.changed.append(f"joint {label!r}, {kind}, is {other}, as the companion file has it")
            return self._replaced(self._body(link, fixed(_placement(joint, what), name=label), parent), label, other)
        if kind in ("floating", "planar"):
            body = self._body(link, fixed(_placement(joint, f"joint {label!r}")), parent)
            return free_chain(body, label, self._sequence) if kind == "floating" else self._planar(body, joint, label)
        carrier = self._joint(joint, label, kind)
        if not carrier.moves and parent in self._still:
            self._still.add(name)
        return [self._body(link, carrier, parent)]

    def _replaced(self, body: Body, label: str, kind: str) -> list[Body]:
        """A body on a joint of a companion file: a ball joint, two hinges, or fixed."""
        if kind == "FIXED":
            return [body]
        if kind == "SPHERICAL" and self._sequence == QUATERNION:
            return ball_chain(body, label, {})
        letters = self._sequence if kind == "SPHERICAL" else kind[-2:].lower()
        return joint_chain(
            body, {}, {f"{label}_r{letter}": np.eye(3)["xyz".index(letter)].tolist() for letter in letters}
        )

    def _planar(self, body: Body, joint: Element, label: str) -> list[Body]:
        """Two slides in the plane and a turn about its normal."""
        normal = self._axis(joint, label)
        normal = normal / np.linalg.norm(normal)
        first = np.cross(np.roll(np.eye(3)[np.argmax(np.abs(normal))], -1), normal)  # x where z is the normal
        first /= np.linalg.norm(first)
        slides = {f"{label}_t1": first.tolist(), f"{label}_t2": np.cross(normal, first).tolist()}
        return joint_chain(body, slides, {f"{label}_r": normal.tolist()})

    def _body(self, link: Element, joint: Joint, parent: str | None) -> Body:
        name = link.get("name", "")
        what = f"link {name!r}"
        inertial = child_of(link, "inertial", what, optional=True)
        if inertial is None:
            return Body(name, joint, parent)
        with lines_of(inertial):
            place = _placement(inertial, f"inertial of {what}")
            mass = number_of(child_of(inertial, "mass", what), "value", f"mass of {what}")
            tensor = child_of(inertial, "inertia", what)
            xx, xy, xz, yy, yz, zz = (
                number_of(tensor, key, f"inertia of {what}") for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            )
            about = place[:3, :3]
            moments = about @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ about.T
            kept = (
                "given" if name in self._still and self._inertia == "strict" else self._inertia
            )  # as nothing moves it
            if mass == 0 and moments.any() and kept != self._inertia:
                self.notes.changed.append(f"{what} has no mass: its inertia, which nothing moves, is left out")
                return Body(name, joint, parent)
            body = Body(name, joint, parent, mass, place[:3, 3], moments, any_inertia=True)
            return possible_body(body, kept, self.notes)

    def _axis(self, joint: Element, label: str) -> np.ndarray:
        axis = child_of(joint, "axis", f"joint {label!r}", optional=True)
        if axis is None:
            self.notes.changed.append(f"joint {label!r} has no <axis>: it is x, (1, 0, 0), by the rules of the format")
            return np.array([1.0, 0.0, 0.0])
        direction = vector_of(axis, "xyz", f"axis of joint {label!r}")
        if not direction.any():
            raise wrong(axis, f"axis of joint {label!r} must be a non-zero vector, got {axis.get('xyz')!r}")
        return direction

    def _joint(self, joint: Element, name: str, kind: str) -> Joint:
        what = f"joint {name!r}"
        place = ca.SX(_placement(joint, what))
        if kind == "fixed":
            return fixed(place, name=name)
        direction = self._axis(joint, name).tolist()
        dynamics = child_of(joint, "dynamics", what, optional=True)
        parts = ("damping", "friction")
        damping, level = (0.0 if dynamics is None else number_of(dynamics, part, what, 0.0) for part in parts)
        friction = Friction(level, self._friction_velocity) if level else None
        make = prismatic if kind == "prismatic" else revolute
        return make(
            direction,
            place,
            _limits(joint, kind, name, self._limits, self.exchanged),
            name=name,
            passive=Passive(damping, armature=self._armatures.get(name, 0.0), friction=friction),
        )

    def transmissions(self, robot: Element, joints: Mapping[str, Element]) -> dict[str, float]:
        """Ratios of transmissions, by joints; rotors become armatures of joints, and other elements are left out."""
        ratios: dict[str, float] = {}
        for transmission in robot.iter("transmission"):
            name = transmission.get("name", "")
            driven = [joint.get("name", "") for joint in transmission.iter("joint")]
            rotors, gears = (list(transmission.iter(tag)) for tag in (ROTOR, GEAR))
            one = len(driven) == 1 and driven[0] in joints and len(rotors) <= 1 and len(gears) <= 1
            kept = "gear ratios and rotors" if one and rotors else "gear ratios"
            self.notes.leave_out(f"<transmission> but for {kept}", "the robot", name)
            if not one:
                continue
            reductions = {_ratio(reduction) for reduction in transmission.iter("mechanicalReduction")}
            if gears:
                reductions = {number_of(gears[0], "value", f"{GEAR} of transmission {name!r}")}
            if len(reductions) == 1 and (ratio := reductions.pop()):
                ratios[driven[0]] = ratio
            if rotors:
                rotor = number_of(rotors[0], "value", f"{ROTOR} of transmission {name!r}")
                with lines_of(rotors[0]):
                    self._armatures[driven[0]] = rotor_at_joint(rotor, ratios.get(driven[0], 1.0) if gears else 1.0)
        return ratios


def rotor_at_joint(rotor: float, gear: float) -> float:
    """Inertia of a rotor behind a gear, at the joint, as Drake has it: the ratio squared times that of the rotor."""
    if rotor < 0:
        raise InputError(f"{ROTOR} must not be negative, got {rotor:g}")
    return gear**2 * rotor


def possible_body(body: Body, inertia: str, notes: Notes) -> Body:
    """The body with a legal inertia, or as the argument `inertia` of a reader has it."""
    try:
        return replace(body, any_inertia=False)
    except InputError as error:
        if inertia == "strict":
            raise InputError(f'{error}; inertia="nearest" or "given" accepts it') from None
    tensor = np.array(ca.DM(body.inertia))
    printed = ", ".join(map(short, np.linalg.eigvalsh(tensor)))
    if inertia == "given":
        notes.changed.append(f"inertia of link {body.name!r}, which no body has, is as it is: moments {printed}")
        return body
    nearest = nearest_inertia(tensor) if float(body.mass) else np.zeros((3, 3))
    moments = ", ".join(map(short, np.linalg.eigvalsh(nearest)))
    notes.changed.append(f"inertia of link {body.name!r}, which no body has: moments {printed} are {moments}")
    return replace(body, inertia=nearest, any_inertia=False)


def doubt(model: Model) -> None:
    """Issue warnings for joints that cannot move or have no motor, one for all joints of a kind."""
    driven = [joint for joint in model.joints if joint.moves and joint.limits is not UNDRIVEN]

    def zero(quantity: str) -> tuple[str, str]:
        """Joints whose limits are zero, and the argument that lifts these, as text; empty if there are none."""
        names = [joint.name or "" for joint in driven if getattr(joint.limits, quantity) == (0.0, 0.0)]
        lifted = "None" if len(names) == len(driven) else f"{{{', '.join(f'{n!r}: None' for n in names[:_LISTED])}"
        lifted += "" if lifted == "None" else ", ...}" if len(names) > _LISTED else "}"
        return shown(names) if names else "", f"limits={{{quantity!r}: {lifted}}}"

    for quantity, said in (("position", "position limits are 0 to 0"), ("velocity", "the velocity limit is 0")):
        names, lifting = zero(quantity)
        if names:
            warn(f"joint {names} cannot move: {said}; {lifting} lifts {'them' if quantity == 'position' else 'it'}")
    names, lifting = zero("torque")
    if names:
        warn(
            f"joint {names} has no motor: the effort limit is 0, which holds the torque at zero; if it is unknown, "
            f"{lifting} lifts it"
        )


def nearest_inertia(tensor: np.ndarray) -> np.ndarray:
    """The tensor of the nearest distribution of mass, ndarray, shape (3, 3) [kg m2].

    The second moments of a body's mass about the centre, tr(I) 1/2 - I, have no negative eigenvalue (Wensing, Kim and
    Slotine 2018, section III); negative ones become zero, which is nearest in the sum of squares of its entries.
    """
    moments, axes = np.linalg.eigh(np.trace(tensor) / 2 * np.eye(3) - (tensor + tensor.T) / 2)
    second = (axes * np.maximum(moments, 0.0)) @ axes.T
    return np.trace(second) * np.eye(3) - second


def _ratio(element: Element) -> float | None:
    """The number in an element; None for other text, such as variables of macros."""
    try:
        ratio = parse_number((element.text or "").strip())
    except ValueError:
        return None
    return ratio if math.isfinite(ratio) else None


def _rgba(material: Element | None) -> Color | None:
    """Red, green, blue and opacity of a material; None without a legal color."""
    color = None if material is None else material.find("color")
    try:
        red, green, blue, opacity = parse_numbers(color.get("rgba", "") if color is not None else "")
    except ValueError:
        return None
    return (red, green, blue, opacity) if all(0 <= part <= 1 for part in (red, green, blue, opacity)) else None


def _shapes(link: Element, name: str, folder: str, colors: Mapping[str, Color]) -> Iterator[LinkShape]:
    """Visual and collision shapes of a link."""
    for role in ("visual", "collision"):
        for element in link.findall(role):
            geometry = child_of(element, "geometry", f"{role} of link {name!r}", optional=True)
            material = element.find("material")
            color = _rgba(material) or (None if material is None else colors.get(material.get("name", "")))
            for shape in [] if geometry is None else geometry:
                place = _placement(element, f"{role} of link {name!r}")
                yield LinkShape(name, role, shape.tag, place, dict(shape.attrib), folder, color=color)


def _limits(joint: Element, kind: str, name: str, new: NewLimits, exchanged: Exchanged) -> Limits:
    """Limits in the file, as far as no others replace them."""
    what = f"joint {name!r}"
    with replaceable("position", name):
        limit = child_of(joint, "limit", what, optional=kind == "continuous" or new.replaces(name, "position"))
    if limit is None:
        return Limits()
    limits: dict[str, tuple[float, float]] = {}
    if kind != "continuous" and not new.replaces(name, "position"):
        with replaceable("position", name):
            lower, upper = (number_of(limit, side, f"limit of {what}", 0.0) for side in ("lower", "upper"))
        limits["position"] = _unlimited(lower), _unlimited(upper)
    keys = (
        ("torque", "effort"),
        ("velocity", "velocity"),
        ("acceleration", "acceleration"),
        ("acceleration", ACCELERATION),
    )
    for quantity, key in keys:
        if limit.get(key) is not None and not new.replaces(name, quantity):
            with replaceable(quantity, name):
                size = _unlimited(number_of(limit, key, f"limit of {what}"))
            limits[quantity] = (-size, size)
    return Limits(**exchanged.without(limits, name, limit))


def _unlimited(number: float) -> float:
    return math.copysign(math.inf, number) if abs(number) >= UNLIMITED else number


def _placement(element: Element, what: str) -> np.ndarray:
    """Transform of the <origin> of an element, shape (4, 4); the identity without one."""
    origin = child_of(element, "origin", what, optional=True)
    if origin is None:
        return np.eye(4)
    xyz, rpy = (vector_of(origin, key, f"origin of {what}", "0 0 0") for key in ("xyz", "rpy"))
    return np.array(ca.DM(placement(xyz, rpy)))
