"""The result of reading a file: a model, what else it says, and a report of what was read, changed and left out."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from colloc.formats.contact_data import ContactLaw, ContactShape
from colloc.formats.muscle_data import MuscleData
from colloc.formats.numbers import parse_numbers
from colloc.model import Body, Model
from colloc.support.checks import InputError, count, quoted, text, unknown_name, warn
from colloc.support.display import Table, Tabular, shown
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable

if TYPE_CHECKING:
    from colloc.loops import ClosedChain, Loop
    from colloc.muscles.ligaments import Ligament, Ligaments
    from colloc.muscles.muscles import Muscles
    from colloc.problem.contact_sphere import GroundContact
    from colloc.problem.force_parts import Thruster
    from colloc.problem.joint_parts import Motors, Spring
    from colloc.problem.joint_torque import JointTorque


@dataclass(frozen=True, eq=False)
class LinkShape(Portable):
    """A visual or collision shape of a link in a file; see `collision_shapes`.

    Parameters
    ----------
    body : str or None
        Name of the body; None for the world.
    role : str
        "visual" or "collision".
    kind : str
        Such as "mesh", "box", "cylinder" or "sphere".
    placement : ndarray, shape (4, 4)
        Of the shape in the body's link frame.
    numbers : mapping of str to str
        Texts of the file, such as the "filename" of a mesh or the "size" of a box.
    folder : str
        Of the file, where meshes are searched.
    vertices : ndarray, shape (N, 3), optional [m]
        Of a mesh, in the frame of the shape, if known.
    faces : ndarray, shape (M, 3), optional
        Indices of the vertices of its triangles.
    color : (float, float, float, float), optional
        Red, green, blue and opacity from 0 to 1, if the file has them.
    name : str
        Of a shape in a scene: that of its link.

    Examples
    --------
    >>> shape = co.formats.LinkShape("hand", "visual", "mesh", np.eye(4), {"filename": "package://arm/hand.dae"})
    >>> shape.numbers["filename"]
    'package://arm/hand.dae'
    >>> shape.file is None  # there is no such file here
    True
    """

    body: str | None
    role: str
    kind: str
    placement: Any
    numbers: Mapping[str, str]
    folder: str = ""
    vertices: Any = None
    faces: Any = None
    color: tuple[float, float, float, float] | None = None
    name: str = ""

    @property
    def file(self) -> Path | None:
        """The file of a mesh, or None.

        A package is searched in the folder of the file that names it and in all folders above.
        """
        return next((path for path in self._places() if path.is_file()), None)

    def _places(self) -> Iterator[Path]:
        name, folder = self.numbers.get("filename", ""), Path(self.folder)
        for prefix in ("package://", "model://"):
            if name.startswith(prefix):
                path = Path(name.removeprefix(prefix))
                for above in (folder, *folder.parents):
                    yield above / path
                    yield above.joinpath(*path.parts[1:])
                return
        yield folder / name.removeprefix("file://")

    def entries(self, key: str, size: int) -> np.ndarray:
        """The numbers of the file under a name; InputError unless there are `size` of them."""
        count("size", size, at_least=0)
        said = self.numbers.get(text("key", key), "")
        try:
            values = np.array(parse_numbers(said))
        except ValueError:
            values = np.zeros(0)
        if values.shape != (size,) or not np.isfinite(values).all():
            raise InputError(
                f"{key} of the {self.kind} of {self.body!r} must be {size} number{'s' * (size > 1)}, got {quoted(said)}"
            )
        return values


@dataclass(frozen=True, eq=False, repr=False)
class Reading(Tabular, Portable):
    """The result of reading another program's file; its text is the report.

    Readers return all that they understand of a file, and report all that they change or leave out.

    Parameters
    ----------
    model : Model
        Empty if nothing in the file moves: its shapes are then those of a scene, see `collision_shapes`.
    changed : tuple of str
        Differences between the model and the file, by name.
    left_out : tuple of str
        Contents of the file that colloc does not support, by name.
    loops : tuple of Loop
        Closures of the tree, for `colloc.loops.ClosedChain`.
    postures : mapping of str to mapping of str to float
        Named postures: coordinates by their joints' names [rad, m], for `initial(q=...)`.
    gears : mapping of str to float
        Gear ratios of transmissions by the joints' names, motor per joint.
    shapes : tuple of LinkShape
        Meshes and simple bodies, for looks and collisions.
    muscle_data : tuple of MuscleData
    contact_shapes : tuple of ContactShape
    contact_laws : tuple of ContactLaw
        Forces between contact shapes.
    springs : tuple of Spring and JointTorque
        Springs, dampers, limit forces and forces by expressions at joints: parts of a problem, like `muscles`,
        `ligaments`, `contact` and `motors`.
    ligament_data : tuple of Ligament
    actuators : tuple of str
        Joints that motors drive, in a file that names them.
    thrusters : tuple of Thruster
        Motors at sites, for `colloc.problem.Thrusters`.

    Examples
    --------
    >>> text = '''<robot name="pendulum"><link name="stand"/><gazebo/>
    ...   <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    ...     <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
    ...   <joint name="pivot" type="continuous"><parent link="stand"/><child link="rod"/></joint>
    ... </robot>'''
    >>> with open("pendulum.urdf", "w") as file:
    ...     _ = file.write(text)
    >>> reading = co.formats.from_urdf("pendulum.urdf")
    >>> reading
    pendulum: read 2 bodies, 1 joint that moves
      changed   joint 'pivot' has no <axis>: it is x, (1, 0, 0), by the rules of the format
      left out  1 <gazebo> of the robot
    >>> reading.model.joint_names
    ('pivot',)
    """

    model: Model
    changed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    loops: tuple[Loop, ...] = ()
    postures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    gears: Mapping[str, float] = field(default_factory=dict)
    shapes: tuple[LinkShape, ...] = ()
    muscle_data: tuple[MuscleData, ...] = ()
    contact_shapes: tuple[ContactShape, ...] = ()
    contact_laws: tuple[ContactLaw, ...] = ()
    springs: tuple[Spring | JointTorque, ...] = ()
    actuators: tuple[str, ...] = ()
    thrusters: tuple[Thruster, ...] = ()
    ligament_data: tuple[Ligament, ...] = ()

    def __post_init__(self):
        for name in ("postures", "gears"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def chain(self, guess: Any = None, **options: Any) -> ClosedChain:
        """The closed chain of the model and its loops, driven by the motors of the file.

        Parameters
        ----------
        guess : str, float or shape (n_q,) [rad, m], optional
            Where the search for the assembly starts: the name of a posture of the file, or as in `ClosedChain`; by
            default the posture "initial" if the file has one, else zero.
        **options
            As in `ClosedChain`; by default its `actuators` are those of the file, and all others are passive.

        Raises
        ------
        InputError
            For a file without loops, an unknown posture, and as in `ClosedChain`.

        Examples
        --------
        >>> reading = co.formats.Reading(chain.model, loops=chain.loops, actuators=("crank",))
        >>> closed = reading.chain(guess=(1.0, -0.5, 1.5))
        >>> closed.mobility, closed.actuators
        (1, ('crank',))
        """
        from colloc.loops import ClosedChain  # most files have none

        if not self.loops:
            raise InputError(f"the file of {self.model.name!r} has no loops")
        if guess is None:
            guess = "initial" if "initial" in self.postures else 0.0
        if isinstance(guess, str):
            if guess not in self.postures:
                raise unknown_name("posture", guess, self.postures)
            known = {**dict(zip(self.model.position_names, self.model.neutral, strict=True)), **self.postures[guess]}
            guess = [known[name] for name in self.model.position_names]
        options = {"actuators": self.actuators or None} | options
        return ClosedChain(self.model, self.loops, guess=guess, **options)

    @cached_property
    def muscles(self) -> Muscles:
        """The muscles: a part of a problem, with rigid tendons and implicit activation.

        ``dataclasses.replace(reading.muscles, tendons="compliant")`` changes that.

        Raises
        ------
        InputError
            For a file without muscles, and muscles with paths that are not read.
        """
        from colloc.muscles.files import from_file  # most files have none
        from colloc.muscles.muscles import Muscles

        if not self.muscle_data:
            raise InputError(f"the file of {self.model.name!r} has no muscles")
        return Muscles(self.model, [from_file(record) for record in self.muscle_data])

    @cached_property
    def ligaments(self) -> Ligaments:
        """The ligaments: a part of a problem.

        Raises
        ------
        InputError
            For a file without ligaments.
        """
        from colloc.muscles.ligaments import Ligaments  # most files have none

        if not self.ligament_data:
            raise InputError(f"the file of {self.model.name!r} has no ligaments")
        return Ligaments(self.model, self.ligament_data)

    @cached_property
    def motors(self) -> Motors:
        """Motors at the joints with torque limits in the file, with these limits: a part of a problem.

        Raises
        ------
        InputError
            For a file without such limits.
        """
        from colloc.problem.joint_parts import Motors  # most scripts have none

        lower, upper = self.model.limits("torque")
        limits = zip(self.model.joint_names, lower.tolist(), upper.tolist(), strict=True)
        driven = {joint: (low, high) for joint, low, high in limits if np.isfinite([low, high]).all() and low < high}
        if not driven:
            raise InputError(f"the file of {self.model.name!r} limits no torque: give co.Motors(joints)")
        units = dict(zip(self.model.joint_names, self.model.torque_units, strict=True))
        return Motors(driven, unit=[units[joint] for joint in driven])

    @cached_property
    def contact(self) -> GroundContact:
        """Contact of balls with half-spaces, such as the ground: a part of a problem.

        Raises
        ------
        InputError
            For contact laws of another kind, and between other shapes.
        """
        from colloc.problem.contact_sphere import contact_of_records  # most scripts have none

        return contact_of_records(self.contact_shapes, self.contact_laws)

    def _table(self) -> Table:
        counts = (
            ("body", "bodies", len(self.model.bodies)),
            ("joint that moves", "joints that move", self.model.n),
            ("joint that follows another", "joints that follow others", len(self.model.couplings)),
            ("marker", "markers", len(self.model.markers)),
            ("loop", "loops", len(self.loops)),
            ("posture", "postures", len(self.postures)),
            ("gear ratio", "gear ratios", len(self.gears)),
            ("shape", "shapes", len(self.shapes)),
            ("muscle", "muscles", len(self.muscle_data)),
            ("contact shape", "contact shapes", len(self.contact_shapes)),
            ("contact law", "contact laws", len(self.contact_laws)),
            ("spring or torque of a joint", "springs and torques of joints", len(self.springs)),
            ("ligament", "ligaments", len(self.ligament_data)),
            ("motor", "motors", len(self.actuators)),
            ("thruster", "thrusters", len(self.thrusters)),
        )
        read = ", ".join(f"{count} {one if count == 1 else many}" for one, many, count in counts if count)
        rows = [("changed", line) for line in self.changed] + [("left out", line) for line in self.left_out]
        return Table(f"{self.model.name}: read {read}", ("", ""), rows)


def still_scene(
    name: str, bodies: Sequence[Body], shapes: Iterable[LinkShape], notes: Notes, hint: str = ""
) -> Reading:
    """The result of reading a file in which nothing moves: its shapes in the world, without a mechanism."""
    places: dict[str | None, np.ndarray] = {None: np.eye(4)}
    for body in bodies:
        places[body.name] = places[body.parent] @ np.array(ca.DM(body.joint.before @ body.joint.after))
    placed = tuple(
        replace(shape, body=None, placement=places[shape.body] @ shape.placement, name=shape.body or name)
        for shape in shapes
    )
    notes.changed.append(f"no body of {name!r} moves: its shapes are fixed to the world, and there is no model{hint}")
    return Reading(Model.empty(), tuple(notes.changed), notes.left_out, shapes=placed)


class Notes:
    """Notes for the report, collected while a reader reads."""

    def __init__(self):
        self.changed: list[str] = []
        self._left_out: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.acting: list[str] = []  # forces and constraints that are left out, with names and sizes

    def leave_out(self, what: str, of: str, name: str = "", *, acting: str = "") -> None:
        """Note a kind of content, such as "<contact>", of elements such as "links", one with a name, as left out.

        If motions differ without it, `acting` says what it is, for the warning.
        """
        self._left_out[what, of].append(name)
        self.acting += [acting] if acting else []

    def warn_of_acting(self, path: str | os.PathLike[str]) -> None:
        """Issue one warning for all forces and constraints that are left out."""
        if self.acting:
            listed = "; ".join(self.acting[:8]) + ("; ..." if len(self.acting) > 8 else "")
            warn(f"forces and constraints in {os.fspath(path)!r} that are left out: {listed}")

    @property
    def left_out(self) -> tuple[str, ...]:
        """One line for each kind of content."""
        lines = []
        for (what, of), names in self._left_out.items():
            listed = shown([name for name in dict.fromkeys(names) if name], 40)
            lines.append(f"{len(names)} {what} of {of}" + (f": {listed}" if listed else ""))
        return tuple(lines)
