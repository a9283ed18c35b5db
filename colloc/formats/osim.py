"""Models from OpenSim's files: a skeleton whose joints are chains of slides and hinges that follow its coordinates."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import casadi as ca
import numpy as np

from colloc.formats.limits import NewLimits
from colloc.formats.numbers import parse_numbers
from colloc.formats.osim_document import Component, OsimDocument, PlacedFrame, coupling_of, function_in
from colloc.formats.osim_forces import OsimForces
from colloc.formats.osim_joints import (
    GLIDING,
    PLAIN,
    QUATERNIONS,
    Axis,
    arc_steps,
    ellipsoid_steps,
    plain_steps,
    scapular_steps,
)
from colloc.formats.reading import Notes, Reading
from colloc.formats.xml import lines_of, numbers_in, wrong
from colloc.loops import Frame, Loop, spherical_loop, weld
from colloc.model.body import Body
from colloc.model.coupling import Coupling
from colloc.model.functions import Polynomial, RoundedLine, polynomial_near
from colloc.model.joint import Limits
from colloc.model.kinds import fixed, prismatic, revolute
from colloc.model.transforms import homogeneous, inverse, rotation_about
from colloc.model.tree import Model
from colloc.support.checks import InputError, InputWarning, finite_number, spelt, unknown_name
from colloc.support.display import short, shown

_FRAMES = ("PhysicalOffsetFrame",)
_ROTATIONS = ("rotation1", "rotation2", "rotation3")
_TRANSLATIONS = ("translation1", "translation2", "translation3")
_JOINTS = (*PLAIN, *GLIDING, "CustomJoint")
_LOOPS = ("WeldConstraint", "PointConstraint")
# Elements that are read, or that the report lists under another name.
_SILENT = ("Coordinate", "FrameGeometry", "Marker", "Body", *_FRAMES, *_JOINTS, *_LOOPS, "CoordinateCouplerConstraint")
_WHERE = ("point1", "point2", "point", "line_direction_vec", "point_on_line")  # places, not sizes
_GRAVITY = "0 -9.80665 0"


@spelt
def from_osim(
    path: str | os.PathLike[str], *, smooth: float | None = None, limits: Mapping[str, Any] | None = None
) -> Reading:
    """The skeleton of an OpenSim file, with its muscles, contact, springs, motors and loops.

    Bodies, frames and joints are read (weld, pin, slider, universal, gimbal, ball, planar, free, custom,
    scapulothoracic and ellipsoid ones, and those of constant curvature), with coordinates under their names. A custom
    joint becomes a chain of slides and hinges on massless links, each of which follows a coordinate by its function in
    the file: `Model.couplings`. Dependent coordinates of couplers follow others in the same way, locked ones are held.
    Corners of piecewise linear functions are rounded. Ranges of coordinates become limits of position, as in Moco,
    whether the file clamps them or not; forces of coordinate actuators become limits of torque. Markers are the
    model's, constraints that weld frames or pin points are `loops`, default values are the posture "initial".
    `muscles`, `contact`, `springs`, `ligaments` and `motors` of the reading are parts of a problem; the data of the
    first two, muscles with their paths, contact shapes and the laws of contact, are attributes as well.

    Parameters
    ----------
    path : str or PathLike
        Of version 4 of the format; released versions 2 and 3 are read too.
    smooth : float, optional [m] and [rad]
        For optimisation: joints follow polynomials of the lowest degree within this distance of the file's splines over
        the ranges of the coordinates. The third derivative of a cubic spline jumps at its points, and with it the
        slopes of torques, at which solvers stall. 1e-4 is more exact than knees are known. By default the file's
        functions.
    limits : mapping of str to value, or of str to mapping of joint to value, optional
        Limits that replace, scale or lift those in the file, as of `from_urdf`.

    Returns
    -------
    Reading
        The report lists elements of OpenSim's model that are not read, such as controllers.

    Raises
    ------
    InputError
        With the line: for a file that cannot be read or has a document type, text in place of numbers, joints of other
        kinds, bodies without a joint or with two, and axes that follow several coordinates.

    Warns
    -----
    InputWarning
        For forces and constraints that are left out, with the numbers that the file has for them.

    Notes
    -----
    Generalised forces are those of the coordinates' rates. OpenSim's agree except for ball and free joints, whose
    speeds there are components of the angular velocity.

    See Also
    --------
    from_urdf, from_mjcf, read_table

    Examples
    --------
    >>> text = '''<OpenSimDocument Version="40000"><Model name="pendulum">
    ...   <BodySet name="bodyset"><objects><Body name="rod"><mass>1</mass><mass_center>0 -0.5 0</mass_center>
    ...     <inertia>0.1 0.01 0.1 0 0 0</inertia></Body></objects></BodySet>
    ...   <JointSet name="jointset"><objects><PinJoint name="hinge">
    ...     <socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/rod</socket_child_frame>
    ...     <coordinates><Coordinate name="angle"><range>-1.5 1.5</range></Coordinate></coordinates>
    ...   </PinJoint></objects></JointSet></Model></OpenSimDocument>'''
    >>> with open("pendulum.osim", "w") as file:
    ...     _ = file.write(text)
    >>> reading = co.formats.from_osim("pendulum.osim")
    >>> reading.model.joint_names, reading.model.limits("position")[1]
    (('angle',), array([1.5]))
    """
    if smooth is not None:
        smooth = finite_number("smooth", smooth, positive=True)
    reader = _OsimReader(OsimDocument(path))
    with warnings.catch_warnings():  # the reading names ranges of more than a turn, once for all
        warnings.filterwarnings("ignore", "position limit .* more than a turn", InputWarning)
        reading = reader.reading(smooth, NewLimits(limits))
    reader.notes.warn_of_acting(path)
    return reading


class _OsimReader:
    """Reader of components, with notes for the report."""

    def __init__(self, document: OsimDocument):
        self.document, self.notes = document, Notes()
        self._coordinates: dict[str, Component] = {}
        for part in document.all("Coordinate"):
            if part.name in self._coordinates:
                raise wrong(part.element, f"two coordinates are named {part.name!r}; names must be unique")
            self._coordinates[part.name] = part
        self._forces = OsimForces(document, self.notes, self.frame, self._coordinates)
        self._torques = self._forces.torque_limits()
        self._dependent = self._couplers()
        self._taken = {part.name for part in document.all("Body")}
        self._couplings: dict[str, Coupling] = {}
        self._wide: dict[str, str] = {}  # coordinates with ranges of more than a turn
        notes_of_names = [f"marker {old!r} is there twice: the other one is {new!r}" for old, new in document.renamed]
        self.notes.changed += notes_of_names

    def reading(self, smooth: float | None, limits: NewLimits) -> Reading:
        document, notes = self.document, self.notes
        bodies = limits.applied(body for joint, part in self._outward() for body in self._bodies(joint, part))
        gravity = numbers_in(document.model, "gravity", 3, "the model", _GRAVITY)
        name = document.model.get("name") or "opensim"
        with lines_of(document.model):
            model = Model(bodies, gravity, name, self._markers(), self._couplings)
        if self._wide:
            notes.changed.append(
                f"ranges of {len(self._wide)} coordinates are more than a turn, in radians as OpenSim reads them: "
                f"{shown([*self._wide.values()], 40)}"
            )
        for joint, coupling in model.couplings.items():
            if isinstance(coupling.curve, RoundedLine):
                off = short(abs(coupling.ratio) * coupling.curve.off)
                notes.changed.append(f"joint {joint!r} follows straight pieces, whose corners are rounded by {off}")
        if smooth is not None:
            model = replace(model, couplings=self._smoothed(model, smooth))
        initial = {joint: self._start(joint) for joint in model.joint_names}
        locked = [joint for joint in model.joint_names if document.flag(self._coordinates[joint], "locked")]
        held = {joint: initial.pop(joint) for joint in locked}
        notes.changed += [f"coordinate {joint!r} is locked: it is held at {short(held[joint])}" for joint in locked]
        for joint in model.joint_names:
            part = self._coordinates[joint]
            if document.flag(part, "prescribed") and joint not in held:
                notes.leave_out("function of time", "coordinates that are prescribed", joint)
        still = dict(held)  # with what follows it
        for joint, coupling in model.couplings.items():
            if coupling.joint in held:
                still[joint] = float(coupling.derivatives(ca.SX(held[coupling.joint]), 0)[0])
        for coordinate in self._coordinates:  # which nothing moves by
            if coordinate not in self._dependent and coordinate not in model.tree.joint_names:
                still[coordinate] = self._start(coordinate)
        apart = {name: coupling for name, coupling in self._dependent.items() if name not in model.tree.joint_names}
        model = model.frozen(held) if held else model
        muscles = tuple(self._forces.muscles(model, apart, still))
        shapes, laws, loops = tuple(self._forces.shapes()), tuple(self._forces.laws()), tuple(self._loops())
        units = {joint: unit for joint, unit in zip(model.joint_names, model.position_units, strict=True)}
        springs = tuple(self._forces.springs(units, held))
        ligaments = tuple(self._forces.ligaments(model, apart, still))
        self._unread()
        return Reading(
            model, tuple(notes.changed), notes.left_out, loops, {"initial": initial},
            muscle_data=muscles, contact_shapes=shapes, contact_laws=laws, springs=springs,
            ligament_data=ligaments,
        )  # fmt: skip

    def _smoothed(self, model: Model, tolerance: float) -> dict[str, Coupling]:
        """Couplings by polynomials in place of splines, within a tolerance at the following joints."""
        ends = dict(zip(model.position_names, zip(*model.limits("position"), strict=True), strict=True))
        couplings, changed, worst = dict(model.couplings), [], 0.0
        for joint, coupling in model.couplings.items():
            if coupling.curve is None or isinstance(coupling.curve, Polynomial):
                continue
            low, high = map(float, ends[coupling.joint])
            size, near = abs(coupling.ratio), None
            if math.isfinite(low) and math.isfinite(high) and low < high:
                near = polynomial_near(coupling.curve, (low, high), tolerance / size)
            if near is None:
                self.notes.leave_out("polynomial in place of a spline", "joints, which are as the file has them", joint)
                continue
            couplings[joint] = replace(coupling, curve=near[0])
            changed.append(joint)
            worst = max(worst, size * near[1])
        if changed:
            self.notes.changed.append(
                f"{len(changed)} joints follow polynomials, at most {short(worst)} from the splines: "
                f"{shown(changed, 40)}"
            )
        return couplings

    def frame(self, owner: Component, path: str) -> PlacedFrame:
        """The frame with a path, in its body."""
        place, passed = ca.SX.eye(4), [path]
        while path != "/ground":
            part = self.document.parts[path]
            if part.element.tag == "Body":
                return PlacedFrame(None if part.name == "ground" else part.name, place)
            if part.element.tag not in _FRAMES:
                raise wrong(
                    owner.element, f"frame {path!r} is a {part.element.tag}; supported are {', '.join(_FRAMES)}"
                )
            place = self._offset(part, "translation", "orientation") @ place
            path = self.document.socket(part, "parent")
            if path in passed:
                raise wrong(part.element, f"frame {part.path!r} is fixed in no body")
            passed.append(path)
        return PlacedFrame(None, place)

    def _offset(self, part: Component, translation: str, orientation: str) -> ca.SX:
        """Transform by a translation and three angles about the frame's moving x, y and z, in this order."""
        document = self.document
        angles = document.numbers(part, orientation, 3, "0 0 0")
        rotation = ca.SX.eye(3)
        for axis, angle in enumerate(angles.tolist()):
            rotation = rotation @ rotation_about(axis, ca.SX(angle))
        return homogeneous(rotation, ca.SX(ca.DM(document.numbers(part, translation, 3, "0 0 0"))))

    def _ends(self, joint: Component) -> tuple[PlacedFrame, PlacedFrame]:
        document = self.document
        if not document.old:
            parent, child = (self.frame(joint, document.socket(joint, end)) for end in ("parent_frame", "child_frame"))
            return parent, child
        parent = self.frame(joint, document.socket(joint, "parent_frame", "parent_body"))
        carried = [part.name for part in document.all("Body") if joint.element in part.element.findall("Joint/*")]
        if not carried:
            raise wrong(joint.element, f"joint {joint.name!r} is in no body, as joints of old versions are")
        here = self._offset(joint, "location", "orientation")
        there = self._offset(joint, "location_in_parent", "orientation_in_parent")
        return PlacedFrame(parent.body, parent.placement @ there), PlacedFrame(carried[0], here)

    def _outward(self) -> Iterator[tuple[Component, Component]]:
        """Joints with the bodies that they carry, from the world outward."""
        document = self.document
        bodies = {part.name: part for part in document.all("Body") if part.name != "ground"}
        carriers: dict[str, Component] = {}
        children: dict[str | None, list[str]] = {}
        for joint in document.parts.values():
            if not joint.element.tag.endswith("Joint"):
                continue
            if joint.element.tag not in _JOINTS:
                raise wrong(
                    joint.element,
                    f"joint {joint.name!r} is a {joint.element.tag}; supported are {', '.join(_JOINTS)}",
                )
            if document.flag(joint, "reverse"):
                raise wrong(
                    joint.element,
                    f"joint {joint.name!r} is reversed, a feature of old versions: save it with a new one",
                )
            parent, child = self._ends(joint)
            if child.body is None:
                raise wrong(joint.element, f"joint {joint.name!r} carries the ground: exchange its frames")
            if child.body in carriers:
                others = f"{carriers[child.body].name!r} and {joint.name!r}"
                raise wrong(
                    joint.element, f"body {child.body!r} is carried by two joints, {others}: make one a constraint"
                )
            carriers[child.body] = joint
            children.setdefault(parent.body, []).append(child.body)
        waiting, reached = list(reversed(children.get(None, []))), set()
        while waiting:
            name = waiting.pop()
            reached.add(name)
            yield carriers[name], bodies[name]
            waiting += reversed(children.get(name, []))
        for name, part in bodies.items():
            if name not in reached:
                raise wrong(
                    part.element, f"body {name!r} is not connected to the ground by joints: give it a FreeJoint"
                )

    def _bodies(self, joint: Component, part: Component) -> list[Body]:
        """A body on the chain of its joint, with massless bodies before it if there are several axes."""
        with lines_of(joint.element):
            parent, child = self._ends(joint)
            steps = [parent.placement, *self._steps(joint), inverse(child.placement)]
            body, links = self._rigid(part, parent.body), self._leaders(joint, steps, parent.body)
            place, carrier = ca.SX.eye(4), parent.body
            chain: list[Body] = []
            for step in steps:
                if not isinstance(step, Axis):
                    place = place @ step
                    continue
                chain.append(Body(self._unique(step.label), step.joint(place, self._limits(step)), carrier))
                place, carrier = ca.SX.eye(4), chain[-1].name
            if not chain:
                return [*links, replace(body, joint=fixed(place))]
            last = replace(chain[-1].joint, after=place)
            return [*links, *chain[:-1], replace(body, joint=last, parent=chain[-1].parent)]

    def _leaders(self, joint: Component, steps: list[Any], parent: str | None) -> list[Body]:
        """Massless bodies for coordinates that are of no axis, and that axes follow.

        Axes get names, that of their coordinate if they have it unchanged, and couplings.
        """
        names: dict[str, str] = {}
        for step in (step for step in steps if isinstance(step, Axis)):
            if step.plain and step.follows.joint not in names:
                names[step.follows.joint] = step.label = step.follows.joint
                if (leading := self._dependent.get(step.label)) is not None:
                    self._couplings[step.label] = leading
        alone: list[Body] = []
        for step in (step for step in steps if isinstance(step, Axis)):
            coordinate = step.follows.joint
            if step.label != coordinate:
                leading = self._dependent.get(coordinate)
                self._couplings[step.label] = step.follows if leading is None else step.follows.after(leading)
            if coordinate not in names and coordinate not in self._dependent:
                names[coordinate] = coordinate
                turns = any(isinstance(s, Axis) and s.follows.joint == coordinate and not s.slides for s in steps)
                make: Any = revolute if turns else prismatic
                carried = make(limits=self._range(coordinate, turns), name=coordinate)
                alone.append(Body(self._unique(coordinate), carried, parent))
                self.notes.changed.append(
                    f"coordinate {coordinate!r} moves a massless body alone, which axes of joint {joint.name!r} follow"
                )
        return alone

    def _limits(self, step: Axis) -> Limits:
        """Limits of the joint of an axis; only leading joints have any."""
        return Limits() if step.label in self._couplings else self._range(step.label, not step.slides)

    def _range(self, coordinate: str, turns: bool) -> Limits:
        """Limits of a coordinate."""
        part = self._coordinates[coordinate]
        position = (-math.inf, math.inf)
        if self.document.value(part, "range"):
            low, high = self.document.numbers(part, "range", 2).tolist()
            position = (low, high)
            if turns and max(abs(low), abs(high)) > math.tau:
                self._wide[coordinate] = f"{coordinate} ({short(low)} to {short(high)} rad)"
        return Limits(position, torque=self._torques.get(coordinate, (-math.inf, math.inf)))

    def _start(self, coordinate: str) -> float:
        return self.document.number(self._coordinates[coordinate], "default_value", 0.0)

    def _unique(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _rigid(self, part: Component, parent: str | None) -> Body:
        document = self.document
        with lines_of(part.element):
            mass = document.number(part, "mass", 0.0)
            com = document.numbers(part, "mass_center", 3, "0 0 0")
            if part.element.find("inertia_xx") is not None:
                entries = [
                    document.number(part, f"inertia_{pair}", 0.0) for pair in ("xx", "yy", "zz", "xy", "xz", "yz")
                ]
            else:
                entries = document.numbers(part, "inertia", 6, "0 0 0 0 0 0").tolist()
            if not mass and any(entries):
                self.notes.changed.append(f"inertia of body {part.name!r} has no effect, as the body has no mass")
                entries = [0.0] * 6
            xx, yy, zz, xy, xz, yz = entries
            body = Body(
                part.name, fixed(), parent, mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], any_inertia=True
            )
            try:
                return replace(body, any_inertia=False)
            except InputError:
                moments = ", ".join(map(short, np.linalg.eigvalsh(np.array(ca.DM(body.inertia)))))
                self.notes.changed.append(
                    f"inertia of body {part.name!r}, which no body has, is as it is: moments {moments}"
                )
                return body

    def _steps(self, joint: Component) -> list[Any]:
        """Axes of a joint, and constant transforms between them, from the parent outward."""
        kind = joint.element.tag
        if kind == "CustomJoint":
            return list(self._custom(joint))
        names = [part.name for part in self._coordinates.values() if part.path == f"{joint.path}/{part.name}"]
        count = len(PLAIN[kind]) if kind in PLAIN else GLIDING[kind]
        if len(names) != count:
            raise InputError(f"joint {joint.name!r} is a {kind} and has {count} coordinates, got {len(names)}")
        if kind in QUATERNIONS:
            self.notes.changed.append(
                f"joint {joint.name!r} ({kind}) is a chain of axes x, y, z, with torques of the rates of its angles"
            )
        if kind in PLAIN:
            return plain_steps(kind, names)
        if kind == "ScapulothoracicJoint":
            return scapular_steps(self.document, joint, names)
        if kind == "EllipsoidJoint":
            return ellipsoid_steps(self.document, joint, names)
        ranges = [self._range(name, turns=True).position for name in names[:2]]
        steps, error = arc_steps(self.document, joint, names, ranges)
        self.notes.changed.append(
            f"joint {joint.name!r} ({kind}) is a chain of slides and axes x, z, y: exact where it bends about one of x "
            f"and z, and at most {short(error)} m off where it bends about both"
        )
        return steps

    def _custom(self, joint: Component) -> Iterator[Any]:
        """Slides along axes of the parent frame, then hinges, each axis turned by those before it."""
        transform = joint.element.find("SpatialTransform")
        if transform is None:
            raise InputError(f"joint {joint.name!r} must have a <SpatialTransform>")
        by_name = {axis.get("name", ""): axis for axis in transform.findall("TransformAxis")}
        for name in (*_TRANSLATIONS, *_ROTATIONS):
            if (element := by_name.get(name)) is None:
                continue
            with lines_of(element):
                yield from self._axis(joint, element, name, slides=name in _TRANSLATIONS)

    def _axis(self, joint: Component, element: Element, name: str, *, slides: bool) -> Iterator[Any]:
        what = f"{name} of joint {joint.name!r}"
        coordinates = (element.findtext("coordinates") or "").split()
        function = _function_of(element, what)
        if function is None:
            return
        if len(coordinates) > 1:
            raise InputError(f"{what} follows {' and '.join(coordinates)}; an axis can follow one coordinate")
        follows = coupling_of(function, coordinates[0] if coordinates else joint.name, what)
        direction = numbers_in(element, "axis", 3, what)
        if not direction.any():
            raise InputError(f"axis of {what} must be a non-zero vector, got {direction.tolist()}")
        axis = Axis(f"{joint.name}_{name}", slides, direction / np.linalg.norm(direction), follows)
        if follows.ratio == 0:
            yield axis.transform(follows.offset)
            return
        if not coordinates or coordinates[0] not in self._coordinates:
            raise InputError(f"{what} follows {coordinates or 'no coordinate'}, which the file does not have")
        if follows.curve is None and abs(follows.ratio) == 1:
            # The same axis, or the opposite one, with the coordinate itself, from where the offset brings it.
            yield replace(axis, direction=follows.ratio * axis.direction, follows=Coupling(coordinates[0]))
            yield axis.transform(follows.offset)
            return
        if slides:
            # From where it is at the default value, so that pictures show it there: a slide may go first or last.
            start = float(follows.derivatives(ca.SX(self._start(coordinates[0])), 0)[0])
            yield axis.transform(start)
            axis = replace(axis, follows=replace(follows, offset=follows.offset - start))
        yield axis

    def _couplers(self) -> dict[str, Coupling]:
        """Couplings of dependent coordinates to independent ones."""
        document, notes = self.document, self.notes
        direct: dict[str, Coupling] = {}
        for part in document.all("CoordinateCouplerConstraint"):
            what = f"coordinate coupler {part.name!r}"
            with lines_of(part.element):
                if document.value(part, "isEnforced", "true") == "false" or document.flag(part, "isDisabled"):
                    notes.leave_out("coordinate coupler that is not enforced", "the file", part.name)
                    continue
                leaders = document.value(part, "independent_coordinate_names").split()
                dependent = document.value(part, "dependent_coordinate_name")
                for coordinate in (*leaders, dependent):
                    if coordinate not in self._coordinates:
                        raise unknown_name(f"coordinate (of {what})", coordinate, self._coordinates)
                if len(leaders) != 1 or dependent in direct:
                    why = "coordinate coupler of several coordinates, or a second one"
                    notes.leave_out(why, "the file", part.name, acting=f"{why}, {part.name!r}")
                    continue
                function = function_in(part.element, what, "coupled_coordinates_function")
                follows, scale = coupling_of(function, leaders[0], what), document.number(part, "scale_factor", 1.0)
                direct[dependent] = Coupling(leaders[0], scale * follows.ratio, scale * follows.offset, follows.curve)
        resolved: dict[str, Coupling] = {}
        for name, coupling in direct.items():
            path = [name]
            while coupling.joint in direct:
                if coupling.joint in path:
                    raise InputError(
                        f"coordinates follow each other in a circle: {' -> '.join([*path, coupling.joint])}"
                    )
                path.append(coupling.joint)
                coupling = coupling.after(direct[coupling.joint])
            resolved[name] = coupling
        return resolved

    def _loops(self) -> Iterator[Loop]:
        document = self.document
        for part in document.all(*_LOOPS):
            off = document.value(part, "isEnforced", "true") == "false"
            if off or document.old:
                why = "constraint that is not enforced" if off else f"<{part.element.tag}> of old versions"
                acting = "" if off or document.flag(part, "isDisabled") else f"{part.element.tag} {part.name!r}"
                self.notes.leave_out(why, "the file", part.name, acting=acting)
                continue
            ends = ("frame1", "frame2") if part.element.tag == "WeldConstraint" else ("body_1", "body_2")
            frames = []
            for end in ends:
                frame = self.frame(part, document.socket(part, end))
                point = ca.SX(ca.DM(document.numbers(part, f"location_{end}", 3, "0 0 0")))
                frames.append(Frame(frame.body, frame.placement @ homogeneous(ca.SX.eye(3), point)))
            yield (weld if part.element.tag == "WeldConstraint" else spherical_loop)(part.name, *frames)

    def _markers(self) -> dict[str, tuple[str, ca.SX]]:
        document = self.document
        markers: dict[str, tuple[str, ca.SX]] = {}
        for part in document.all("Marker"):
            with lines_of(part.element):
                frame = self.frame(part, document.socket(part, "parent_frame", "body"))
                point = ca.vertcat(ca.SX(ca.DM(document.numbers(part, "location", 3, "0 0 0"))), 1)
                if frame.body is None:
                    self.notes.leave_out("marker on the ground", "the file", part.name)
                else:
                    markers[part.name] = frame.body, (frame.placement @ point)[:3]
        return markers

    def _unread(self) -> None:
        """Note the other elements of the file as left out."""
        known = {*_SILENT, *self._forces.known}
        for part in self.document.parts.values():
            if part.element.tag not in known:
                self.notes.leave_out(f"<{part.element.tag}>", "the file", part.name, acting=self._acting(part))
        for child in self.document.model:
            if child.get("file"):
                self.notes.leave_out(f"<{child.tag}> in a file of its own", "the file", child.get("file", ""))

    def _acting(self, part: Component) -> str:
        """A force or constraint with its numbers, or nothing for other components and what is switched off."""
        document, kind = self.document, part.element.tag
        if "Constraint" in kind:
            off = document.value(part, "isEnforced", "true") == "false" or document.flag(part, "isDisabled")
        else:  # what an actuator does is up to its control
            off = not part.path.startswith("/forceset/") or kind.endswith("Actuator") or self._forces.is_off(part)
        if off:
            return ""
        sizes = []
        for child in part.element:
            try:
                numbers = parse_numbers(child.text or "")
            except ValueError:
                continue
            if any(numbers) and child.tag not in _WHERE:
                sizes.append(f"{child.tag} {' '.join(map(short, numbers))}")
        return f"{kind} {part.name!r}" + (f" ({', '.join(sizes[:4])})" if sizes else "")


def _function_of(axis: Element, what: str) -> Element | None:
    """The function of an axis: a child of its kind or, in old versions, within a <function>."""
    functions = [child for child in axis if child.tag not in ("coordinates", "axis")]
    if not functions:
        return None
    return function_in(axis, what, "function") if functions[0].tag == "function" else functions[0]
