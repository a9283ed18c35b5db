"""Forces in OpenSim's files: muscles with their paths, contact, actuators of coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

import casadi as ca
import numpy as np

from colloc.formats.contact_data import ContactLaw, ContactShape
from colloc.formats.muscle_data import MuscleData, PathPoint
from colloc.formats.numbers import parse_number
from colloc.formats.osim_document import Component, OsimDocument, PlacedFrame, coupling_of, function_in
from colloc.formats.osim_passive import ExpressionTorque, LimitTorque
from colloc.formats.reading import Notes
from colloc.formats.xml import lines_of
from colloc.model import Model
from colloc.model.coupling import Coupling
from colloc.model.functions import CubicSpline
from colloc.model.transforms import homogeneous, rotation_about
from colloc.muscles.files import FileWrap, from_file, place_wraps
from colloc.muscles.ligaments import Ligament
from colloc.muscles.wrapping import Cylinder, Ellipsoid, Sphere, Surface, Torus
from colloc.problem.joint_parts import Spring
from colloc.problem.joint_torque import JointTorque
from colloc.support.checks import InputError, unknown_name
from colloc.support.display import shown
from colloc.support.lazy import cached_property

# Time constants of activation and deactivation [s], and the least excitation, by the kinds of muscles that have any.
_MUSCLES: Mapping[str, tuple[float | None, float | None, float]] = {
    "Thelen2003Muscle": (0.015, 0.05, 0.01),
    "Millard2012EquilibriumMuscle": (0.01, 0.04, 0.01),
    "DeGrooteFregly2016Muscle": (0.015, 0.06, 0.0),
    "Millard2012AccelerationMuscle": (None, None, 0.0),
    "RigidTendonMuscle": (None, None, 0.0),
    "Schutte1993Muscle": (None, None, 0.0),
    "Schutte1993Muscle_Deprecated": (None, None, 0.0),
    "Delp1990Muscle": (None, None, 0.0),
    "Delp1990Muscle_Deprecated": (None, None, 0.0),
}
# Damping of the fiber by the kinds of muscles that have any.
_DAMPING = {"Millard2012EquilibriumMuscle": 0.1, "DeGrooteFregly2016Muscle": 0.0}
_POINTS = {"PathPoint", "ConditionalPathPoint", "MovingPathPoint"}
_SHAPES = {"ContactSphere": "sphere", "ContactHalfSpace": "half-space"}
_LAWS = ("SmoothSphereHalfSpaceForce", "HuntCrossleyForce")
_ACTUATORS = ("CoordinateActuator", "ActivationCoordinateActuator")
_SURFACES = ("WrapCylinder", "WrapSphere", "WrapEllipsoid", "WrapTorus")
_SPRING, _LIMIT, _EXPRESSION = "SpringGeneralizedForce", "CoordinateLimitForce", "ExpressionBasedCoordinateForce"
_LIGAMENTS = ("Blankevoort1991Ligament", "Ligament")
# Of OpenSim's ligaments: force in units of pcsa_force, by the length over the resting length.
_LIGAMENT_CURVE = CubicSpline(
    (-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0),
    (0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0),
)
_WITHIN = 1e-5  # rad or m, by which OpenSim's conditional points are there beyond their range


class OsimForces:
    """Reader of forces, by the frames and coordinates of their file."""

    known = (*_MUSCLES, *_SHAPES, *_LAWS, *_ACTUATORS, _SPRING, _LIMIT, _EXPRESSION, *_LIGAMENTS)

    def __init__(
        self,
        document: OsimDocument,
        notes: Notes,
        frame: Callable[[Component, str], PlacedFrame],
        coordinates: Mapping[str, Component],
    ):
        self._document, self._notes, self._frame, self._coordinates = document, notes, frame, coordinates
        self._inside: list[str] = []  # muscles with an end inside of a surface

    def torque_limits(self) -> dict[str, tuple[float, float]]:
        """Limits of coordinate actuators, by the names of coordinates."""
        document, limits = self._document, dict[str, tuple[float, float]]()
        for part in document.all(*_ACTUATORS):
            with lines_of(part.element):
                name = document.value(part, "coordinate")
                if name not in self._coordinates:
                    raise unknown_name(f"coordinate (of actuator {part.name!r})", name, self._coordinates)
                if self._skipped(part, "coordinate actuator"):
                    continue
                force = document.number(part, "optimal_force", 1.0)
                ends = [self._control(part, "min", -math.inf), self._control(part, "max", math.inf)]
                low, high = sorted(force * end for end in ends) if force else (0.0, 0.0)
                old = limits.get(name, (0.0, 0.0))
                limits[name] = (old[0] + low, old[1] + high)
                if part.element.tag != _ACTUATORS[0]:
                    self._notes.leave_out("activation", "coordinate actuators", part.name)
        return limits

    def _control(self, part: Component, side: str, default: float) -> float:
        """Least or largest control, which may be infinite."""
        endless = self._document.value(part, f"{side}_control", "inf").lower().lstrip("+-") in ("inf", "infinity")
        return default if endless else self._document.number(part, f"{side}_control")

    def muscles(
        self, model: Model, dependent: Mapping[str, Coupling], held: Mapping[str, float]
    ) -> Iterator[MuscleData]:
        """Muscles in the order of the file.

        Dependent coordinates that are no joints are replaced by their leaders, held ones by their values.
        """
        for part in self._document.all(*_MUSCLES):
            if not self._skipped(part, "muscle"):
                with lines_of(part.element):
                    yield self._muscle(model, part, dependent, held)
        if self._inside:
            self._notes.changed.append(
                "ends of muscles lie inside of a surface in some postures, where they are taken as on it and OpenSim's "
                f"path is straight: {shown(self._inside, 12)}"
            )

    def _muscle(
        self, model: Model, part: Component, dependent: Mapping[str, Coupling], held: Mapping[str, float]
    ) -> MuscleData:
        document, kind = self._document, part.element.tag
        activation, deactivation, least = _MUSCLES.get(kind, (None, None, 0.0))
        path = next(iter(part.element.findall("GeometryPath") or part.element.findall("path/GeometryPath")), None)
        if path is None:
            self._notes.leave_out("path by functions", "muscles", part.name)
        points = [] if path is None else path.findall("PathPointSet/objects/*")
        named = [Component(f"{part.path}/{point.get('name', '')}", point) for point in points]
        read = [self._point(part, point, dependent, held) for point in named]
        kept = [point for point in read if point is not None]
        wraps = [] if path is None or not kept else self._wraps(part, path, read)
        placed = place_wraps(model, kept, wraps)
        for name in placed.untouched:
            self._notes.leave_out("wrapping surface that they touch in no posture", "muscles", f"{name} of {part.name}")
        self._inside += [f"{part.name} ({where})" for where in placed.inside]
        self._notes.changed += [
            f"muscle {part.name!r} wraps round a surface between the same points in all postures; in the file "
            f"between others too: {where} postures"
            for where in placed.elsewhere
        ]
        if document.flag(part, "ignore_activation_dynamics"):
            self._notes.leave_out("<ignore_activation_dynamics>", "muscles", part.name)
        number = document.number
        return MuscleData(
            part.name,
            kind,
            number(part, "max_isometric_force", 1000.0),
            number(part, "optimal_fiber_length", 0.1),
            number(part, "tendon_slack_length", 0.2),
            number(part, "pennation_angle_at_optimal", number(part, "pennation_angle", 0.0)),
            number(part, "max_contraction_velocity", 10.0),
            None if activation is None else number(part, "activation_time_constant", activation),
            None if deactivation is None else number(part, "deactivation_time_constant", deactivation),
            document.flag(part, "ignore_tendon_compliance") or kind == "RigidTendonMuscle",
            (number(part, "min_control", least), number(part, "max_control", 1.0)),
            placed.points,
            (),
            number(part, "fiber_damping", _DAMPING[kind]) if kind in _DAMPING else None,
        )

    def _point(
        self, muscle: Component, point: Component, dependent: Mapping[str, Coupling], held: Mapping[str, float]
    ) -> PathPoint | None:
        """A point of a path; None if its range is empty."""
        document, kind = self._document, point.element.tag
        with lines_of(point.element):
            if kind not in _POINTS:
                raise InputError(
                    f"a point of muscle {muscle.name!r} is a {kind}; supported are {', '.join(sorted(_POINTS))}"
                )
            frame = self._frame(point, document.socket(point, "parent_frame", "body"))
            if kind == "MovingPathPoint":
                return PathPoint(frame.body, self._moving(muscle, point, frame, dependent, held))
            local = ca.vertcat(ca.SX(ca.DM(document.numbers(point, "location", 3, "0 0 0"))), 1)
            place = tuple(np.array(ca.DM(frame.placement @ local)).ravel()[:3].tolist())
            if kind == "PathPoint":
                return PathPoint(frame.body, place)
            low, high = document.numbers(point, "range", 2).tolist()
            coordinate = self._coordinate(point, "coordinate")
            low, high = low - _WITHIN, high + _WITHIN
            if coordinate in held:
                return PathPoint(frame.body, place) if low <= held[coordinate] <= high else None
            leading = dependent.get(coordinate)
            if leading is not None and (leading.curve is not None or not leading.ratio):
                self._notes.leave_out(
                    "condition on a coordinate that follows by a curve", "points of muscles", point.path
                )
                return PathPoint(frame.body, place)
            if leading is not None:
                low, high = sorted((end - leading.offset) / leading.ratio for end in (low, high))
                coordinate = leading.joint
            return PathPoint(frame.body, place, coordinate, (low, high))

    def _wraps(self, muscle: Component, path: Element, points: Sequence[PathPoint | None]) -> list[FileWrap]:
        """Surfaces round which a muscle may wrap, with the points between which it may, of those that are kept."""
        wraps = []
        for element in path.findall("PathWrapSet/objects/*"):
            part = Component(f"{muscle.path}/{element.get('name', '')}", element)
            with lines_of(element):
                name = self._document.value(part, "wrap_object")
                if name not in self.surfaces:
                    raise unknown_name(f"wrapping surface (of muscle {muscle.name!r})", name, self.surfaces)
                first, last = self._document.numbers(part, "range", 2, "-1 -1").astype(int).tolist()
                first, last = max(first - 1, 0), len(points) - 1 if last < 1 else min(last - 1, len(points) - 1)
                first, last = (sum(point is not None for point in points[:end]) for end in (first, last))
                owner, surface = self.surfaces[name]
                if self._document.value(surface, "active", "true").lower() == "true":
                    method = self._document.value(part, "method", "hybrid").lower()
                    wraps.append(FileWrap(name, self._surface(owner, surface, method), first, last))
        return wraps

    @cached_property
    def surfaces(self) -> dict[str, tuple[Component, Component]]:
        """Frames with their wrapping surfaces, by the names of these."""
        ground = [Component("/ground", element) for element in self._document.model.findall("Ground")]
        found: dict[str, tuple[Component, Component]] = {}
        for owner in (*self._document.parts.values(), *ground):
            for element in owner.element.findall("WrapObjectSet/objects/*"):
                name = element.get("name", "")
                found.setdefault(name, (owner, Component(f"{owner.path}/{name}", element)))
        return found

    def _surface(self, owner: Component, part: Component, method: str) -> Surface:
        document, kind = self._document, part.element.tag
        with lines_of(part.element):
            frame = self._frame(part, owner.path)
            rotation = ca.SX.eye(3)
            for axis, angle in enumerate(document.numbers(part, "xyz_body_rotation", 3, "0 0 0").tolist()):
                rotation = rotation @ rotation_about(axis, ca.SX(angle))
            offset = homogeneous(rotation, ca.SX(ca.DM(document.numbers(part, "translation", 3, "0 0 0"))))
            pose = np.array(ca.DM(frame.placement @ offset))
            center, axes = pose[:3, 3], pose[:3, :3]
            side: Any = "shorter"
            quadrant = document.value(part, "quadrant", "all").lower()
            if quadrant not in ("all", "unassigned"):
                way = quadrant.lstrip("+-")
                if way not in ("x", "y", "z"):
                    raise InputError(
                        f"quadrant of {part.path!r} must be all, or x, y or z with a sign, got {quadrant!r}"
                    )
                side = axes[:, "xyz".index(way)] * (-1 if quadrant.startswith("-") else 1)
            if kind == "WrapCylinder":
                radius, length = document.number(part, "radius"), document.number(part, "length")
                return Cylinder(frame.body, center, axes[:, 2], radius, side, length)
            if kind == "WrapSphere":
                return Sphere(frame.body, center, document.number(part, "radius"), side)
            if kind == "WrapEllipsoid":
                radii = document.numbers(part, "dimensions", 3)
                return Ellipsoid(frame.body, center, radii, axes, side, method)
            if kind == "WrapTorus":
                tube, radius = document.number(part, "inner_radius"), document.number(part, "outer_radius")
                return Torus(frame.body, center, axes[:, 2], radius, tube, side)
            raise InputError(f"{part.path!r} is a {kind}; supported are {', '.join(_SURFACES)}")

    def _moving(
        self,
        muscle: Component,
        point: Component,
        frame: PlacedFrame,
        dependent: Mapping[str, Coupling],
        held: Mapping[str, float],
    ) -> tuple[float | Coupling, ...]:
        """Position of a point that moves in its body, within the ranges of coordinates."""
        place = np.array(ca.DM(frame.placement))
        if not np.array_equal(place[:3, :3], np.eye(3)):
            raise InputError(f"a moving point of muscle {muscle.name!r} is in a frame that is turned in its body")
        entries: list[float | Coupling] = []
        for axis, shift in zip("xyz", place[:3, 3].tolist(), strict=True):
            what = f"{axis}_location of {point.path!r}"
            coordinate = self._coordinate(point, f"{axis}_coordinate")
            coupling = coupling_of(function_in(point.element, what, f"{axis}_location"), coordinate, what)
            coupling = Coupling(coordinate, coupling.ratio, coupling.offset + shift, coupling.curve)
            if coordinate in dependent:
                coupling = coupling.after(dependent[coordinate])
            if coupling.joint in held:
                entries.append(float(coupling.derivatives(ca.SX(held[coupling.joint]), 0)[0]))
            else:
                entries.append(coupling if coupling.ratio else coupling.offset)
        return tuple(entries)

    def _coordinate(self, owner: Component, name: str) -> str:
        text = owner.element.findtext(f"socket_{name}") or owner.element.findtext(name) or ""
        coordinate = text.strip().rsplit("/", 1)[-1]
        if coordinate not in self._coordinates:
            raise unknown_name(f"coordinate (of {owner.path!r})", coordinate, self._coordinates)
        return coordinate

    def springs(self, units: Mapping[str, str], held: Mapping[str, float]) -> Iterator[Spring | JointTorque]:
        """Springs, limit forces and forces by expressions of coordinates that are moving joints, with their units."""
        document = self._document
        for part in document.all(_SPRING, _LIMIT, _EXPRESSION):
            with lines_of(part.element):
                coordinate = document.value(part, "coordinate")
                kind = "spring" if part.element.tag == _SPRING else f"<{part.element.tag}>"
                if coordinate not in self._coordinates:
                    raise unknown_name(f"coordinate (of {kind} {part.name!r})", coordinate, self._coordinates)
                if self.is_off(part):
                    self._notes.leave_out(f"{kind} that is switched off", "coordinates", part.name)
                elif coordinate in held or coordinate not in units:
                    follows = coordinate not in held  # what is held needs no force
                    acting = f"{kind} {part.name!r} at {coordinate!r}, which follows another" if follows else ""
                    self._notes.leave_out(kind, "coordinates that are held, or follow others", part.name, acting=acting)
                elif part.element.tag == _SPRING:
                    stiffness, rest, damping = (
                        document.number(part, name, 0.0) for name in ("stiffness", "rest_length", "viscosity")
                    )
                    yield Spring(coordinate, stiffness, rest, damping, name=part.name or "spring")
                elif part.element.tag == _LIMIT:
                    yield JointTorque(coordinate, self._limit(part, units[coordinate]), name=part.name or "limit force")
                else:
                    yield JointTorque(
                        coordinate, ExpressionTorque(document.value(part, "expression", "0")), name=part.name or "force"
                    )

    def is_off(self, part: Component) -> bool:
        """Whether the file switches a force off."""
        applied = self._document.value(part, "appliesForce", "true").lower()
        return self._document.flag(part, "isDisabled") or applied == "false"

    def _skipped(self, part: Component, kind: str) -> bool:
        """Whether the file switches a force off; such a force is in the report."""
        if off := self.is_off(part):
            self._notes.leave_out(f"{kind} that is switched off", "the file", part.name)
        return off

    def _limit(self, part: Component, unit: str) -> LimitTorque:
        """The law of a limit force, whose file has degrees, and N m per degree, for hinges."""
        scale = math.pi / 180 if unit == "rad" else 1.0
        defaults = {"lower_limit": 0.0, "upper_limit": 0.0, "transition": 0.1}
        lower, upper, transition = (scale * self._document.number(part, *pair) for pair in defaults.items())
        stiff = {"lower_stiffness": 1.0, "upper_stiffness": 1.0, "damping": 0.001}
        below, above, damping = (self._document.number(part, *pair) / scale for pair in stiff.items())
        return LimitTorque(lower, upper, below, above, damping, transition)

    def ligaments(
        self, model: Model, dependent: Mapping[str, Coupling], held: Mapping[str, float]
    ) -> Iterator[Ligament]:
        """Ligaments in the order of the file, with paths as muscles have them."""
        number = self._document.number
        for part in self._document.all(*_LIGAMENTS):
            with lines_of(part.element):
                if self._skipped(part, "ligament"):
                    continue
                path = from_file(self._muscle(model, part, dependent, held)).path
                if part.element.tag == _LIGAMENTS[0]:
                    self._notes.leave_out("damping", "ligaments", part.name)
                    slack, stiffness = number(part, "slack_length", 0.0), number(part, "linear_stiffness", 1.0)
                    yield Ligament(part.name, path, slack, stiffness, number(part, "transition_strain", 0.06))
                else:
                    curve: Any = _LIGAMENT_CURVE
                    if part.element.find("force_length_curve") is not None:
                        what = f"curve of ligament {part.name!r}"
                        curve = coupling_of(
                            function_in(part.element, what, "force_length_curve"), part.name, what
                        ).curve
                    slack, stiffness = number(part, "resting_length", 0.0), number(part, "pcsa_force", 0.0)
                    yield Ligament(part.name, path, slack, stiffness, curve=curve)

    def shapes(self) -> Iterator[ContactShape]:
        document = self._document
        for part in document.all(*_SHAPES):
            with lines_of(part.element):
                frame = self._frame(part, document.socket(part, "frame", "body_name"))
                rotation = ca.SX.eye(3)
                for axis, angle in enumerate(document.numbers(part, "orientation", 3, "0 0 0").tolist()):
                    rotation = rotation @ rotation_about(axis, ca.SX(angle))
                offset = homogeneous(rotation, ca.SX(ca.DM(document.numbers(part, "location", 3, "0 0 0"))))
                kind = _SHAPES[part.element.tag]
                radius = document.number(part, "radius", 0.0) if kind == "sphere" else None
                yield ContactShape(part.name, kind, frame.body, np.array(ca.DM(frame.placement @ offset)), radius)

    def laws(self) -> Iterator[ContactLaw]:
        for part in self._document.all(*_LAWS):
            if self._skipped(part, "contact law"):
                continue
            numbers = dict[str, float]()
            shapes: list[str] = []
            for element in part.element.iter():
                text = (element.text or "").strip()
                if element.tag in ("socket_sphere", "socket_half_space", "geometry"):
                    shapes += _shape_names(element.tag, text)
                elif (value := _number(text)) is not None and not len(element):
                    numbers[element.tag] = value
            yield ContactLaw(part.name, part.element.tag, tuple(shapes), numbers)


def _shape_names(tag: str, text: str) -> list[str]:
    return text.split() if tag == "geometry" else [text.rsplit("/", 1)[-1]]


def _number(text: str) -> Any:
    try:
        return parse_number(text)
    except ValueError:
        return None
