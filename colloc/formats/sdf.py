"""Models from SDF files (SDFormat), with their frames, joints, inertias, limits and loops."""

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
from colloc.formats.mjcf import resolved_couplings, rotation_of
from colloc.formats.reading import LinkShape, Notes, Reading, still_scene
from colloc.formats.urdf import ACCELERATION, GEAR, ROTOR, UNDRIVEN, UNLIMITED, doubt, possible_body, rotor_at_joint
from colloc.formats.xml import by_name, child_of, lines_of, numbers_in, others, read_root, text_of, wrong
from colloc.loops import Frame, Loop, prismatic_loop, revolute_loop, spherical_loop, weld
from colloc.model.ball import BALLS, QUATERNION, ball_chain
from colloc.model.body import Body
from colloc.model.coupling import Coupling
from colloc.model.floating import FREE, free_chain, joint_chain
from colloc.model.joint import Joint, Limits, Screw
from colloc.model.kinds import fixed
from colloc.model.passive import Friction, Passive
from colloc.model.transforms import placement
from colloc.model.tree import Model
from colloc.support.checks import InputError, choice, finite_number, mapping, quoted, spelt, unknown_name, warn
from colloc.support.display import shown
from colloc.support.files import check_readable

_MODEL, _WORLD = "__model__", "world"
_TURNS = ("revolute", "continuous")
_KINDS = ("revolute", "continuous", "prismatic", "fixed", "ball", "universal", "revolute2", "screw")
_LOOPS = ("revolute", "continuous", "prismatic", "fixed", "ball")  # joints that may close a loop
_NONE = np.zeros(3)


@spelt
def from_sdf(
    path: str | os.PathLike[str],
    gravity: Any = None,
    friction_velocity: float = 0.1,
    *,
    base: str = "fixed",
    hold: Mapping[str, float] | None = None,
    inertia: str = "strict",
    balls: str = QUATERNION,
    limits: Mapping[str, Any] | None = None,
) -> Reading:
    """The mechanism of an SDF file with one model, alone or in a world.

    Links become bodies, and frames massless bodies on fixed joints and markers, all where they are in the file: poses
    count from the frames that they are relative to, axes from those that they are expressed in. Joints keep their
    names; a ball joint "j" has those of `spherical`, j_qw to j_qz, one with two axes j_1 and j_2. A
    joint whose child another joint carries, or that closes a circle, becomes one of the `loops`, see `Reading.chain`;
    if the effort of some joints is zero, its actuators are the others.

    Parameters
    ----------
    path : str or PathLike
    gravity : shape (3,) [m/s2], optional
        That of the file's world by default, else (0, 0, -9.81).
    friction_velocity, hold, inertia, balls, limits
        As in `from_urdf`.
    base : "fixed" or "free"
        Whether links that no joint carries are fixed to the world, or move freely. All links of a static model are
        fixed.

    Returns
    -------
    Reading
        With the `model`, under its name in the file, and the report. A file in which nothing moves, such as a static
        model, is a scene of shapes.

    Raises
    ------
    InputError
        With the line: for a file that cannot be read, several models, models within models, and includes; for unknown
        frames, frames in a circle, joints of other types, and a joint with two axes or a screw that closes a loop.

    See Also
    --------
    from_urdf, from_mjcf

    Examples
    --------
    >>> text = '''<sdf version="1.9"><model name="pendulum"><link name="rod"><pose>0 0 1 0 0 0</pose>
    ...   <inertial><pose>0 0 -0.5 0 0 0</pose><mass>1</mass>
    ...     <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.01</izz></inertia></inertial></link>
    ...   <joint name="pivot" type="revolute"><parent>world</parent><child>rod</child>
    ...     <axis><xyz>0 1 0</xyz><limit><lower>-2</lower><upper>2</upper></limit></axis></joint>
    ... </model></sdf>'''
    >>> with open("pendulum.sdf", "w") as file:
    ...     _ = file.write(text)
    >>> reading = co.formats.from_sdf("pendulum.sdf")
    >>> reading.model.joint_names, reading.model.joints[0].limits.position
    (('pivot',), (-2.0, 2.0))
    """
    velocity = finite_number("friction_velocity", friction_velocity, positive=True)
    held, new_limits = mapping("hold", hold), NewLimits(limits)
    choice("base", base, ("fixed", "free"))
    choice("balls", balls, BALLS)
    choice("inertia", inertia, ("strict", "nearest", "given"))
    file = check_readable(path, "SDF")
    root = read_root(file, "SDF", "sdf")
    reader = _SdfReader(root, os.path.dirname(os.path.abspath(file)), new_limits, velocity, inertia, balls)
    top = reader.model
    bodies = list(reader.bodies(free=base == "free"))
    reader.exchanged.check()
    if not any(body.joint.moves for body in bodies):
        return still_scene(top.get("name") or "scene", bodies, reader.shapes(), reader.notes)
    with lines_of(top):
        bodies = new_limits.applied(bodies)
        markers = {name: (name, (0.0, 0.0, 0.0)) for name in reader.markers}
        field = reader.gravity() if gravity is None else gravity
        model = Model(bodies, field, top.get("name") or "model", markers, reader.couplings())
        loops, shapes, notes = reader.loops(), tuple(reader.shapes()), reader.notes
        if reader.weightless and np.any(model.gravity):
            warn(
                f"link {shown(reader.weightless)} has weight, though the file switches its gravity off; a load can "
                "carry it, as in co.Load(link, force=(0, 0, 9.81 * mass), point=com)"
            )
        if not loops:  # where passive joints are usual
            doubt(model)
        model = model.frozen(held) if held else model
    driven = tuple(str(joint.name) for joint in model.joints if joint.moves and joint.limits.torque != UNDRIVEN.torque)
    actuators = driven if loops and len(driven) < model.n else ()
    return Reading(model, tuple(notes.changed), notes.left_out, loops, shapes=shapes, actuators=actuators)


class _SdfReader:
    """Reader of a model, with notes for the report."""

    def __init__(
        self, root: Element, folder: str, limits: NewLimits, friction_velocity: float, inertia: str, balls: str
    ):
        self.notes, self._folder, self._limits, self.exchanged = Notes(), folder, limits, Exchanged()
        self._friction_velocity, self._inertia = friction_velocity, inertia
        self._sequence = QUATERNION if balls == QUATERNION else "zyx"
        self._world = root.find("world")
        self.model = self._only_model(root)
        self._by_model_axes = _version(root) < (1, 5)  # all axes, in the first versions
        self._links, self._joints = by_name(self.model, "link"), by_name(self.model, "joint")
        self._frames = by_name(self.model, "frame")
        self._placed = {**self._links, **self._joints, **self._frames}
        if not self._links:
            raise wrong(self.model, f"model {self.model.get('name')!r} has no link")
        self._static = (self.model.findtext("static") or "").strip() in ("true", "1")
        self._in_world = self._pose(self.model)
        self.markers: list[str] = []
        self.weightless: list[str] = []
        self._known: dict[str, np.ndarray] = {}
        self._closing: list[str] = []
        for tag in others(self.model, ("link", "joint", "frame", "pose", "static")):
            self.notes.leave_out(f"<{tag}>", "the model")

    def _only_model(self, root: Element) -> Element:
        places = [root] if self._world is None else [self._world]
        if self._world is not None and len(root.findall("world")) > 1:
            raise wrong(root.findall("world")[1], "an SDF is read with one world, got several")
        models = places[0].findall("model")
        for place in (*places, *models):
            for include in place.findall("include"):
                raise wrong(include, "an <include> is not read: `gz sdf --print` writes the file with its includes")
        if len(models) != 1:
            names = ", ".join(repr(model.get("name")) for model in models) or "none"
            where = models[1] if models else root
            raise wrong(where, f"an SDF is read with one model, got {names}: write one into a file of its own")
        for nested in models[0].findall("model"):
            raise wrong(nested, f"model {nested.get('name')!r} within a model is not read: give its links to that")
        for tag in others(places[0], ("model", "gravity")):
            self.notes.leave_out(f"<{tag}>", "the world")
        return models[0]

    def gravity(self) -> Any:
        """Gravity of the file's world."""
        if self._world is None or self._world.find("gravity") is None:
            return 0.0, 0.0, -9.81
        return numbers_in(self._world, "gravity", 3, "the world")

    # Frames.

    def _pose(self, element: Element) -> np.ndarray:
        """The transform in the <pose> of an element, shape (4, 4); the identity without one."""
        pose = element.find("pose")
        if pose is None or not (pose.text or "").strip():
            return np.eye(4)
        what = f"<{element.tag}> {element.get('name', '')!r}"
        if pose.get("rotation_format") == "quat_xyzw":
            numbers = numbers_in(element, "pose", 7, what)
            place = np.eye(4)
            place[:3, :3], place[:3, 3] = rotation_of(numbers[[6, 3, 4, 5]]), numbers[:3]
            return place
        numbers = numbers_in(element, "pose", 6, what)
        angles = np.radians(numbers[3:]) if pose.get("degrees") in ("true", "1") else numbers[3:]
        return np.array(ca.DM(placement(numbers[:3], angles)))

    def _of(self, name: str, above: tuple[str, ...] = ()) -> np.ndarray:
        """The transform from a link, joint or frame to the model, shape (4, 4), where nothing has moved."""
        if name == _MODEL:
            return np.eye(4)
        if name == _WORLD:
            return np.linalg.inv(self._in_world)
        if name not in self._known:
            if name in above:
                raise wrong(self._placed[name], f"frames go in a circle: {' -> '.join([*above, name])}")
            element = self._placed[name]
            self._known[name] = self._of(self._relative_to(element), (*above, name)) @ self._pose(element)
        return self._known[name]

    def _relative_to(self, element: Element) -> str:
        pose = element.find("pose")
        name = "" if pose is None else pose.get("relative_to", "")
        if not name and element.tag == "joint":
            name = self._end(element, "child")
        if not name and element.tag == "frame":
            name = element.get("attached_to", "")
        return self._frame(name, element) if name else _MODEL

    def _frame(self, name: str, element: Element) -> str:
        if name not in self._placed and name not in (_MODEL, _WORLD):
            raise wrong(element, str(unknown_name(f"frame (of {element.get('name', '')!r})", name, self._placed)))
        return name

    def _end(self, joint: Element, end: str) -> str:
        what = f"joint {joint.get('name')!r}"
        return self._frame((child_of(joint, end, what).text or "").strip(), joint)

    def _carrier(self, name: str, above: tuple[str, ...] = ()) -> str | None:
        """The link on which a frame is; None for the world."""
        if name in self._links or name == _WORLD:
            return None if name == _WORLD else name
        if name in above:
            raise wrong(self._placed[name], f"frames go in a circle: {' -> '.join([*above, name])}")
        if name in self._joints:
            return self._carrier(self._end(self._joints[name], "child"), (*above, name))
        attached = "" if name == _MODEL else self._frames[name].get("attached_to", "")
        if not attached or attached == _MODEL:
            return self.model.get("canonical_link") or next(iter(self._links))
        return self._carrier(self._frame(attached, self._frames[name]), (*above, name))

    # Bodies.

    def bodies(self, *, free: bool) -> Iterator[Body]:
        """The bodies of links outward from the world, then of frames."""
        for link, joint in self._outward():
            with lines_of(self._links[link] if joint is None else self._joints[joint]):
                yield from self._root(link, free=free) if joint is None else self._carried(link, joint)
        for name, frame in self._frames.items():
            with lines_of(frame):
                if (carrier := self._carrier(name)) is None:
                    self.notes.leave_out("<frame>", "the world", name)
                    continue
                self.markers.append(name)
                yield Body(name, fixed(self._between(carrier, name)), carrier)

    def _between(self, first: str | None, second: str) -> np.ndarray:
        """The transform from the second frame to the first; None is the world."""
        return np.linalg.inv(self._of(first or _WORLD)) @ self._of(second)

    def _outward(self) -> Iterator[tuple[str, str | None]]:
        """Links outward from the world, each with the joint that carries it; other joints close loops.

        Joints that cannot close a loop are taken before others, and otherwise those that are first in the file.
        """
        ends = {name: self._ends(joint) for name, joint in self._joints.items()}
        carriers: dict[str, str] = {}
        for name in sorted(ends, key=lambda name: self._joints[name].get("type") in _LOOPS):
            carriers.setdefault(ends[name][1], name)
        reached: dict[str, str | None] = {}

        def walk(link: str, joint: str | None) -> None:
            waiting: list[tuple[str, str | None]] = [(link, joint)]
            while waiting:
                here, by = waiting.pop()
                reached[here] = by
                on = [name for name, (parent, child) in ends.items() if parent == here and carriers[child] == name]
                waiting += [(ends[name][1], name) for name in reversed(on) if ends[name][1] not in reached]

        for name, (parent, child) in ends.items():
            if parent is None and carriers[child] == name:
                walk(child, name)
        for link in sorted(self._links, key=lambda link: link in carriers):  # then circles, from their first link
            if link not in reached:
                walk(link, None)
        self._closing = [name for name in ends if name not in reached.values()]
        return iter(reached.items())

    def _ends(self, joint: Element) -> tuple[str | None, str]:
        parent, child = (self._carrier(self._end(joint, end)) for end in ("parent", "child"))
        if child is None or parent == child:
            raise wrong(joint, f"joint {joint.get('name')!r} must carry a link other than its parent, got {child!r}")
        kind = joint.get("type", "")
        if kind not in _KINDS:
            hint = "; write it as two joints, of which one has a <mimic>" if kind == "gearbox" else ""
            known = ", ".join(_KINDS)
            raise wrong(joint, f"joint {joint.get('name')!r} is of type {kind!r}; supported are {known}{hint}")
        return parent, child

    def _root(self, link: str, *, free: bool) -> Iterator[Body]:
        body = self._body(link, fixed(self._between(None, link)), None)
        if free and not self._static:
            undriven = {f"{link}_{letters}": UNDRIVEN for letters in FREE}
            yield from free_chain(body, link, self._sequence, undriven)
            return
        if not self._static:
            self.notes.changed.append(f"link {link!r}, which no joint carries, is fixed; base='free' lets it move")
        yield body

    def _carried(self, link: str, name: str) -> list[Body]:
        """The body of a link on its joint, with massless bodies before it if that has several coordinates."""
        joint, kind = self._joints[name], self._joints[name].get("type", "")
        known = ("parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch", GEAR, ROTOR)
        for tag in others(joint, known):
            self.notes.leave_out(f"<{tag}>", "joints", name)
        parent, _ = self._ends(joint)
        before, after = self._between(parent, name), np.linalg.inv(self._of(name)) @ self._of(link)
        if self._static or kind == "fixed":
            if kind != "fixed":
                self.notes.changed.append(f"joint {name!r} is fixed, as the model is static")
            return [self._body(link, fixed(before @ after, name=name), parent)]
        body = self._body(link, fixed(before, name=name), parent)
        if kind == "ball":
            turns = {f"{name}_r{letter}": np.eye(3)["xyz".index(letter)].tolist() for letter in "zyx"}
            quaternion = self._sequence == QUATERNION
            *links, last = ball_chain(body, name, {}) if quaternion else joint_chain(body, {}, turns)
            return [*links, replace(last, joint=replace(last.joint, after=after))]
        tags = ("axis", "axis2") if kind in ("universal", "revolute2") else ("axis",)
        coordinates = [name] if len(tags) == 1 else [f"{name}_{k}" for k in (1, 2)]
        joints = [self._coordinate(joint, tag, label) for tag, label in zip(tags, coordinates, strict=True)]
        joints[0] = replace(joints[0], before=before)
        joints[-1] = replace(joints[-1], after=after)
        if len(joints) == 1:
            return [replace(body, joint=joints[0])]
        return [Body(coordinates[0], joints[0], parent), replace(body, joint=joints[1], parent=coordinates[0])]

    def _coordinate(self, joint: Element, tag: str, name: str) -> Joint:
        """A joint of one coordinate about or along an axis, in the joint frame."""
        axis = self._axis(joint, tag)
        kind, place = joint.get("type", ""), np.eye(4)
        screw = Screw(_NONE, axis) if kind == "prismatic" else Screw(axis, self._pitch(joint) * axis)
        element = joint.find(tag)
        if element is None:
            return Joint(place, screw, place, name=name)
        known = ("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame", "initial_position")
        for other in others(element, known):
            self.notes.leave_out(f"<{other}>", "axes of joints", name)
        passive = replace(self._passive(element, name), armature=self._armature(joint))
        return Joint(place, screw, place, self._limits_of(element, kind, name), name, passive)

    def _armature(self, joint: Element) -> float:
        """Inertia of the rotor of a joint of one coordinate, behind its gear; zero without one."""
        rotor, what = joint.find(ROTOR), f"joint {joint.get('name')!r}"
        if rotor is None or joint.find("axis2") is not None:
            return 0.0
        with lines_of(rotor):
            return rotor_at_joint(_number(joint, ROTOR, what, 0.0), _number(joint, GEAR, what, 1.0))

    def _pitch(self, joint: Element) -> float:
        """Advance of a screw [m/rad]; zero for other joints."""
        name = joint.get("name")
        if joint.get("type") != "screw":
            return 0.0
        if joint.find("screw_thread_pitch") is None and joint.find("thread_pitch") is not None:
            ratio = float(numbers_in(joint, "thread_pitch", 1, f"joint {name!r}")[0])  # rad/m, of a left-handed thread
            if ratio == 0:
                raise wrong(joint, f"<thread_pitch> of joint {name!r} must not be zero")
            return -1 / ratio
        return float(numbers_in(joint, "screw_thread_pitch", 1, f"joint {name!r}", "1")[0]) / (2 * math.pi)

    def _axis(self, joint: Element, tag: str) -> np.ndarray:
        """Unit vector of an axis in the joint frame, shape (3,)."""
        name, element = joint.get("name", ""), joint.find(tag)
        what = f"<{tag}> of joint {name!r}"
        if element is None:
            self.notes.changed.append(f"joint {name!r} has no <{tag}>: it is z, by the rules of the format")
            return np.array([0.0, 0.0, 1.0])
        direction = numbers_in(element, "xyz", 3, what, "0 0 1")
        if not direction.any():
            raise wrong(element, f"{what} must be a non-zero vector, got {direction}")
        xyz = element.find("xyz")
        frame = "" if xyz is None else xyz.get("expressed_in", "")
        by_model = self._by_model_axes or (element.findtext("use_parent_model_frame") or "").strip() in ("true", "1")
        if frame or by_model:
            turn = self._between(self._frame(frame, joint) if frame else _MODEL, name)[:3, :3]
            direction = turn.T @ direction
        return direction / np.linalg.norm(direction)

    def _limits_of(self, axis: Element, kind: str, name: str) -> Limits:
        limit = axis.find("limit")
        if limit is None:
            return Limits()
        what, found = f"joint {name!r}", {}
        for tag in others(limit, ("lower", "upper", "effort", "velocity", ACCELERATION)):
            self.notes.leave_out(f"<{tag}>", "limits of joints", name)
        if kind != "continuous" and not self._limits.replaces(name, "position"):
            with replaceable("position", name):
                found["position"] = _number(limit, "lower", what, -math.inf), _number(limit, "upper", what, math.inf)
        for quantity, tag in (("torque", "effort"), ("velocity", "velocity"), ("acceleration", ACCELERATION)):
            if limit.find(tag) is not None and not self._limits.replaces(name, quantity):
                with replaceable(quantity, name):
                    size = _number(limit, tag, what, math.inf)
                size = math.inf if size < 0 else size  # by the rules of the format
                found[quantity] = -size, size
        return Limits(**self.exchanged.without(found, name, limit))

    def _passive(self, axis: Element, name: str) -> Passive:
        dynamics = axis.find("dynamics")
        if dynamics is None:
            return Passive()
        tags = ("damping", "friction", "spring_stiffness", "spring_reference")
        damping, level, stiffness, rest = (_number(dynamics, tag, f"joint {name!r}", 0.0) for tag in tags)
        friction = Friction(level, self._friction_velocity) if level else None
        return Passive(damping, stiffness, rest, friction=friction)

    def couplings(self) -> dict[str, Coupling]:
        """Joints that follow others."""
        found: dict[str, Coupling] = {}
        for name, joint in self._joints.items():
            for tag in ("axis", "axis2"):
                mimic = joint.find(f"{tag}/mimic")
                if mimic is None or name in self._closing:
                    continue
                what = f"mimic of joint {name!r}"
                leader, second = text_of(mimic, "joint", what), mimic.get("axis") == "axis2"
                names = [
                    f"{label}_{2 if of_second else 1}" if joint.get("type") in ("universal", "revolute2") else label
                    for label, of_second, joint in (
                        (name, tag == "axis2", joint),
                        (leader, second, self._joints.get(leader, joint)),
                    )
                ]
                ratio = _number(mimic, "multiplier", what, 1.0)
                shift = _number(mimic, "offset", what, 0.0) - ratio * _number(mimic, "reference", what, 0.0)
                found[names[0]] = Coupling(names[1], ratio, shift)
        return resolved_couplings(found, self.notes)

    def _body(self, name: str, joint: Joint, parent: str | None) -> Body:
        link, what = self._links[name], f"link {name!r}"
        for tag in others(link, ("pose", "inertial", "visual", "collision", "gravity")):
            self.notes.leave_out(f"<{tag}>", "links", name)
        if (link.findtext("gravity") or "").strip() in ("false", "0"):
            self.notes.leave_out("<gravity>", "links", name)
            self.weightless.append(name)
        inertial = child_of(link, "inertial", what, optional=True)
        if inertial is None:
            self.notes.changed.append(f"{what} has no <inertial>: it has 1 kg and 1 kg m2, by the rules of the format")
            return Body(name, joint, parent, 1.0, _NONE, np.eye(3))
        with lines_of(inertial):
            if inertial.get("auto") in ("true", "1"):
                raise InputError(f"inertial of {what} is computed from its shapes, which is not read: write numbers")
            place, mass = self._pose(inertial), _number(inertial, "mass", what, 1.0)
            tensor = inertial.find("inertia")
            entries = [("ixx", 1.0), ("ixy", 0.0), ("ixz", 0.0), ("iyy", 1.0), ("iyz", 0.0), ("izz", 1.0)]
            xx, xy, xz, yy, yz, zz = (
                rest if tensor is None else _number(tensor, tag, f"inertia of {what}", rest) for tag, rest in entries
            )
            about = place[:3, :3]
            moments = about @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ about.T
            body = Body(name, joint, parent, mass, place[:3, 3], (moments + moments.T) / 2, any_inertia=True)
            return possible_body(body, self._inertia, self.notes)

    # Loops and shapes.

    def loops(self) -> tuple[Loop, ...]:
        """The joints that close loops, after `bodies`."""
        return tuple(self._loop(name) for name in self._closing)

    def _loop(self, name: str) -> Loop:
        joint = self._joints[name]
        kind, (parent, child) = joint.get("type", ""), self._ends(joint)
        if kind not in _LOOPS:
            raise wrong(
                joint, f"joint {name!r} closes a loop, which is read of types {', '.join(_LOOPS)}, got {kind!r}"
            )
        for part in ("limit", "dynamics"):
            if joint.find(f"axis/{part}") is not None:
                self.notes.leave_out(f"<{part}>", "joints that close loops", name)
        ends = [Frame(parent, self._between(parent, name)), Frame(child, self._between(child, name))]
        if kind == "fixed" or self._static:
            return weld(name, *ends)
        if kind == "ball":
            return spherical_loop(name, *ends)
        make = revolute_loop if kind in _TURNS else prismatic_loop
        return make(name, *ends, axis=self._axis(joint, "axis"))

    def shapes(self) -> Iterator[LinkShape]:
        """Visual and collision shapes of links."""
        for name, link in self._links.items():
            for role in ("visual", "collision"):
                for element in link.findall(role):
                    pose = element.find("pose")
                    base = "" if pose is None else pose.get("relative_to", "")
                    place = (self._between(name, self._frame(base, element)) if base else np.eye(4)) @ self._pose(
                        element
                    )
                    geometry = element.find("geometry")
                    for shape in [] if geometry is None else geometry:
                        numbers = {_SIZES.get(part.tag, part.tag): (part.text or "").strip() for part in shape}
                        color = _color(element.find("material"))
                        yield LinkShape(name, role, shape.tag, place, numbers, self._folder, color=color)


_SIZES = {"uri": "filename"}  # names of URDF


def _version(root: Element) -> tuple[int, ...]:
    text = root.get("version", "")
    try:
        return tuple(int(part) for part in text.split("."))
    except ValueError:
        raise wrong(root, f"the version of an SDF must be as 1.9, got {quoted(text)}") from None


def _number(element: Element, tag: str, what: str, default: float) -> float:
    """The number in a child; one of 1e9 or more, or inf, is infinite."""
    text = (element.findtext(tag) or "").strip().lower()
    if not text:
        return default
    if text.lstrip("+-") in ("inf", "infinity"):
        return -math.inf if text.startswith("-") else math.inf
    number = float(numbers_in(element, tag, 1, what)[0])
    return math.copysign(math.inf, number) if abs(number) >= UNLIMITED else number


def _color(material: Element | None) -> tuple[float, float, float, float] | None:
    """Diffuse color of a material; None without a legal one."""
    parts = "" if material is None else material.findtext("diffuse") or ""
    try:
        red, green, blue, *opacity = (float(part) for part in parts.split())
    except ValueError:
        return None
    color = red, green, blue, *(opacity or [1.0])
    return color if len(color) == 4 and all(0 <= part <= 1 for part in color) else None
