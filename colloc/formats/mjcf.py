"""Models from MuJoCo's files, compiled by MuJoCo, which resolves defaults, includes and frames."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.formats.limits import NewLimits
from colloc.formats.mjcf_muscles import is_muscle, muscles_of_mjcf, switched_off
from colloc.formats.mjcf_omissions import omitted_forces
from colloc.formats.reading import LinkShape, Notes, Reading, still_scene
from colloc.loops import Frame, Loop, spherical_loop, weld
from colloc.model.ball import BALLS, QUATERNION, BallScrew
from colloc.model.body import Body
from colloc.model.coupling import Coupling
from colloc.model.floating import FREE, free_chain
from colloc.model.functions import Polynomial
from colloc.model.joint import Joint, Limits, Screw
from colloc.model.kinds import fixed
from colloc.model.passive import Friction, Passive
from colloc.model.transforms import placement
from colloc.model.tree import Model
from colloc.problem.force_parts import Thruster
from colloc.support.checks import InputError, choice, finite_number, spelt
from colloc.support.files import check_readable, refused

_UNDRIVEN = (0.0, 0.0)
_HERE = np.eye(4)
_ALIGNED = 1e-9  # of rotation matrices, below which axes are those of the body
# Bits by which files disable parts of MuJoCo.
_DISABLED = {
    "constraint": 0, "equality": 1, "frictionloss": 2, "limit": 3, "spring": 5, "damper": 6, "gravity": 7,
    "actuation": 11,
}  # fmt: skip
# Kinds of MuJoCo's joints, of what actuators drive, and of equality constraints, by their numbers.
_FREE, _BALL, _SLIDE, _HINGE = range(4)
_CONNECT, _WELD, _JOINT = range(3)
_GRAY = (0.5, 0.5, 0.5, 1.0)  # of what the file gives no colour
_GEOMS = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}  # others have no end
_ON_JOINT, _AT_SITE = (0, 1), 4  # a joint, in its own frame or in its parent's


@spelt
def from_mjcf(
    path: str | os.PathLike[str],
    friction_velocity: float = 0.1,
    *,
    balls: str = QUATERNION,
    limits: Mapping[str, Any] | None = None,
) -> Reading:
    """The mechanism of a MuJoCo file: MJCF, or any other format of MuJoCo's compiler.

    MuJoCo compiles the file, so that defaults, includes, frames and masses from shapes are MuJoCo's. Bodies are read
    with hinges and slides anywhere in them, one or several, free and ball joints as the chains of `floating` and
    `spherical`, references, ranges, armature, damping, springs, friction loss, sites as markers, and those with axes of
    their own as bodies without mass as well, shapes of bodies, gravity, keyframes as postures, and the posture of the
    file as "initial". Passive parts of free and ball joints are read except for springs; those of their turns are
    left out with three angles.
    Connects and welds become `loops`, couplings of joints those of the model. Motors and other actuators of joints give
    limits of torque and `gears`; in a file with actuators other joints have no torque, or in one with loops are passive
    in `Reading.chain`. Motors at sites become `thrusters`, and those that only turn a free body limits of the torque
    about its axes.

    Parameters
    ----------
    path : str or PathLike
    friction_velocity : float [rad/s, m/s]
        Rate below which the friction of joints is smoothed, see `Friction`.
    balls : "quaternion" or "angles"
        Whether free and ball joints have a unit quaternion, as in MuJoCo, or three angles: see `spherical`.
    limits : mapping of str to value, or of str to mapping of joint to value, optional
        Limits that replace, scale or lift those in the file, as of `from_urdf`.

    Returns
    -------
    Reading
        The report lists what is left out: contacts, tendons without muscles, fluids and so on.

    Raises
    ------
    InputError
        Without the package mujoco (extra `mujoco`), and for files that its compiler refuses.

    Warns
    -----
    InputWarning
        For forces that are left out and change torques, with the change in a sample state: a medium, springs and
        dampers of tendons, springs of free and ball joints, gravity compensation. For friction and limits of tendons
        and for equality constraints that are left out, by name.

    See Also
    --------
    from_urdf

    Examples
    --------
    >>> text = '''<mujoco model="pendulum"><worldbody><body name="rod" pos="0 0 1">
    ...   <joint name="pivot" axis="0 1 0" damping="0.1" armature="0.02"/>
    ...   <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="1"/>
    ...   <site name="tip" pos="0 0 -0.5"/>
    ... </body></worldbody></mujoco>'''
    >>> with open("pendulum.xml", "w") as file:
    ...     _ = file.write(text)
    >>> reading = co.formats.from_mjcf("pendulum.xml")
    >>> reading.model.joint_names, list(reading.model.markers)
    (('pivot',), ['tip'])
    """
    velocity = finite_number("friction_velocity", friction_velocity, positive=True)
    choice("balls", balls, BALLS)
    compiled, warnings = _compiled(path)
    reader = _MjcfReader(compiled, velocity, balls == QUATERNION)
    reader.notes.changed += [f"MuJoCo warns: {' '.join(warning.split())}" for warning in dict.fromkeys(warnings)]
    reading = reader.reading(NewLimits(limits))
    if reading.model.n:
        reader.notes.acting += omitted_forces(compiled)
        reader.notes.warn_of_acting(path)
    return reading


def _compiled(path: str | os.PathLike[str]) -> tuple[Any, list[str]]:
    """MuJoCo's model, and its warnings, which it would write into a file in the current folder."""
    file = check_readable(path, "model of MuJoCo")
    try:
        import mujoco
    except ImportError:
        raise InputError("MuJoCo's files are compiled by MuJoCo: pip install 'colloc[mujoco]'") from None
    library: Any = mujoco
    warnings: list[str] = []
    before = library.get_mju_user_warning()
    library.set_mju_user_warning(warnings.append)
    try:
        with refused(path, "is refused by MuJoCo"):  # by an error that names the element and the line
            return library.MjModel.from_xml_path(str(file)), warnings
    except InputError as error:
        if "opening file" not in str(error):
            raise
        raise InputError(f"{error}: MuJoCo needs meshes and pictures too, where the file says that they are") from None
    finally:
        library.set_mju_user_warning(before)


class _MjcfReader:
    """Reader of a compiled model, with notes for the report."""

    def __init__(self, compiled: Any, friction_velocity: float, quaternions: bool):
        self.m, self.notes, self._quaternions = compiled, Notes(), quaternions
        self._friction_velocity = friction_velocity
        self.body_names = [self._named(compiled.body, k, "body") for k in range(compiled.nbody)]
        flags = int(compiled.opt.disableflags)
        self._off = {name for name, bit in _DISABLED.items() if flags >> bit & 1}
        if "constraint" in self._off:
            self._off |= {"equality", "frictionloss", "limit"}
        self.notes.changed += [f"{name} is off, as the file's <flag> has it" for name in _DISABLED if name in self._off]
        self._taken = set(self.body_names)
        self.joint_names = [self._joint_name(j) for j in range(compiled.njnt)]
        self._ties = self._equalities()
        self._thrusters: list[Thruster] = []
        self._motors = self._drives()
        driven = bool(self._motors or self._thrusters)
        self._idle_held = driven and not self._ties[1]  # a closed chain knows its actuators by itself

    def reading(self, limits: NewLimits) -> Reading:
        m, notes = self.m, self.notes
        couplings, loops, fixed_at = self._ties
        bodies = [body for k in range(1, m.nbody) for body in self._bodies(k)]
        name = m.names.split(b"\0", 1)[0].decode() or "mujoco"
        if not m.njnt:
            return still_scene(name, bodies, self._shapes(), notes)
        gravity = np.zeros(3) if "gravity" in self._off else m.opt.gravity
        bodies = limits.applied(self._led(body, couplings) for body in bodies)
        frames = list(self._turned_sites())
        markers = self._markers() | {frame.name: (frame.name, np.zeros(3)) for frame in frames}
        model = Model([*bodies, *frames], gravity, name, markers, couplings)
        initial = self._posture(m.qpos0)
        model = model.frozen(fixed_at) if fixed_at else model
        for name in fixed_at:
            notes.changed.append(f"joint {name!r} is held where an equality constraint holds it")
        postures = {"initial": initial} | {
            self._named(m.key, k, "key"): self._posture(m.key_qpos[k]) for k in range(m.nkey)
        }
        kept = {
            name: {j: v for j, v in posture.items() if j in model.position_names} for name, posture in postures.items()
        }
        shapes = list(self._shapes())
        muscles = [] if "actuation" in self._off else muscles_of_mjcf(m, self.body_names, notes)
        self._unread()
        motors = {joint: gear for joint, (gear, _) in self._motors.items() if joint in model.joint_names}
        gears = {joint: gear for joint, gear in motors.items() if not math.isnan(gear)}  # tendons have none
        changed, driven = tuple(notes.changed), tuple(motors) if loops else ()
        return Reading(
            model, changed, notes.left_out, tuple(loops), kept, gears, tuple(shapes), actuators=driven,
            thrusters=tuple(self._thrusters), muscle_data=tuple(muscles),
        )  # fmt: skip

    def _led(self, body: Body, couplings: dict[str, Coupling]) -> Body:
        """A body without limits of its joint if that follows another by a curve."""
        coupling = couplings.get(body.joint_name)
        if coupling is None or coupling.curve is None:
            return body
        if np.isfinite(body.joint.limits.position).any():
            self.notes.leave_out("range", "joints that follow others by curves", body.joint_name)
        return replace(body, joint=replace(body.joint, limits=Limits()))

    def _named(self, of: Callable[[int], Any], k: int, kind: str) -> str:
        return of(k).name or f"{kind}{k}"

    def _joint_name(self, j: int) -> str:
        return self.m.joint(j).name or f"{self.body_names[self.m.jnt_bodyid[j]]}_joint{j - self._first(j)}"

    def _first(self, j: int) -> int:
        return int(self.m.body_jntadr[self.m.jnt_bodyid[j]])

    def _bodies(self, k: int) -> list[Body]:
        """A body on its joints, with massless bodies before it if there are several."""
        m = self.m
        parent = int(m.body_parentid[k])
        inertia = rotation_of(m.body_iquat[k]) @ np.diag(m.body_inertia[k]) @ rotation_of(m.body_iquat[k]).T
        place = _placed(m.body_pos[k], m.body_quat[k])
        name, carrier = self.body_names[k], self.body_names[parent] if parent else None
        mass = float(m.body_mass[k])
        rotor = mass == 0 and bool(inertia.any())  # which MuJoCo takes
        tensor = (inertia + inertia.T) / 2
        body = Body(name, fixed(place), carrier, mass, m.body_ipos[k], tensor, any_inertia=rotor)
        if m.body_gravcomp[k]:
            self.notes.leave_out("gravity compensation", "bodies", name)
        if m.body_mocapid[k] >= 0:
            self.notes.changed.append(f"body {name!r}, which a tracker moves, is fixed where it is")
        joints = [self.m.body_jntadr[k] + i for i in range(m.body_jntnum[k])]
        if len(joints) == 1 and m.jnt_type[joints[0]] == _FREE:
            return self._free(body, int(joints[0]))
        return self._chain(body, [link for j in joints for link in self._links(int(j))])

    def _free(self, body: Body, j: int) -> list[Body]:
        """A body on a free joint, whose position in the file does not matter."""
        label = self._turned_name(j)
        by_coordinate = {f"{label}_{letters}": self._turn_limits(j, f"{label}_{letters}") for letters in FREE}
        sequence = QUATERNION if self._quaternions else "zyx"
        chain = free_chain(replace(body, joint=fixed()), label, sequence, by_coordinate)
        passive = [self._passive(j, k) for k in range(3)] + self._passive_turns(j, first=3)
        return [
            replace(link, joint=replace(link.joint, passive=part)) for link, part in zip(chain, passive, strict=True)
        ]

    def _chain(self, body: Body, links: list[Joint]) -> list[Body]:
        """Joints one after another, with massless links between them."""
        if not links:
            return [body]
        before, chain, parent = body.joint.before, [], body.parent
        for k, joint in enumerate(links):
            placed = replace(joint, before=before @ joint.before) if k == 0 else joint
            label = str(joint.name)
            while label in self._taken:
                label += "_"
            self._taken.add(label)
            chain.append(Body(label, placed, parent))
            parent = label
        return [*chain[:-1], replace(body, joint=chain[-1].joint, parent=chain[-1].parent)]

    def _links(self, j: int) -> Iterator[Joint]:
        """The joints of one degree of freedom of which a joint consists."""
        m, name = self.m, self.joint_names[j]
        anchor = np.array(m.jnt_pos[j])
        if m.jnt_type[j] == _BALL:
            passive = self._passive_turns(j)
            if self._limited(j):
                self.notes.leave_out("range of the angle", "ball joints", name)
            if self._quaternions:
                yield from self._ball(j, anchor, passive)
                return
            limits = self._undriven(j)
            for letter in "zyx":
                axis = np.eye(3)["xyz".index(letter)]
                yield Joint(_HERE, Screw(axis, np.cross(anchor, axis)), _HERE, limits, f"{name}_r{letter}")
            return
        axis = np.array(m.jnt_axis[j]) / np.linalg.norm(m.jnt_axis[j])
        hinge = m.jnt_type[j] == _HINGE
        screw = Screw(axis, np.cross(anchor, axis)) if hinge else Screw(np.zeros(3), axis)
        moved = Joint(_HERE, screw, _HERE)
        reference = float(m.qpos0[m.jnt_qposadr[j]])
        before = moved.transform(ca.SX(-reference)) if reference else ca.SX(_HERE)
        yield Joint(before, screw, _HERE, self._limits(j), name, self._passive(j))

    def _ball(self, j: int, anchor: np.ndarray, passive: list[Passive]) -> Iterator[Joint]:
        """The turns of a ball joint on a quaternion, about its anchor in the body."""
        name = self.joint_names[j]
        there, back = placement(anchor), placement(-anchor)
        for k, letter in enumerate("xyz"):
            ends = (there if k == 0 else _HERE), (back if k == 2 else _HERE)
            screw = Screw(np.eye(3)[k], np.zeros(3))
            limits = self._turn_limits(j, turn := f"{name}_r{letter}")
            yield BallScrew(ends[0], screw, ends[1], limits, turn, passive[k], ball=name)

    def _limits(self, j: int) -> Limits:
        m, name = self.m, self.joint_names[j]
        position = tuple(m.jnt_range[j]) if self._limited(j) else (-math.inf, math.inf)
        torque = self._motors[name][1] if name in self._motors else (-math.inf, math.inf)
        torque = self._undriven(j).torque if name not in self._motors else torque
        if m.jnt_actfrclimited[j]:
            torque = max(torque[0], m.jnt_actfrcrange[j][0]), min(torque[1], m.jnt_actfrcrange[j][1])
        return Limits(position, torque=torque)

    def _undriven(self, j: int) -> Limits:
        """Limits of a joint that follow from the lack of an actuator."""
        driven = not self._idle_held or self.joint_names[j] in self._motors
        return Limits() if driven else Limits(torque=_UNDRIVEN)

    def _turn_limits(self, j: int, coordinate: str) -> Limits:
        """Limits of one coordinate of a free or ball joint."""
        return Limits(torque=self._motors[coordinate][1]) if coordinate in self._motors else self._undriven(j)

    def _turned_name(self, j: int) -> str:
        """The beginning of the names of a free or ball joint's coordinates."""
        m = self.m
        body = self.body_names[m.jnt_bodyid[j]]
        return body if m.jnt_type[j] == _FREE and not m.joint(j).name else self.joint_names[j]

    def _limited(self, j: int) -> bool:
        return bool(self.m.jnt_limited[j]) and "limit" not in self._off

    def _passive(self, j: int, k: int = 0) -> Passive:
        """Passive parts of a joint in the k-th of its degrees of freedom."""
        m, dof = self.m, self.m.jnt_dofadr[j] + k
        name = self.joint_names[j]
        several = m.jnt_type[j] in (_FREE, _BALL)
        for what, field, row in (
            ("damping beyond the linear", "dof_dampingpoly", dof),
            ("stiffness beyond the linear", "jnt_stiffnesspoly", j),
            ("yield of the spring", "jnt_springyield", j),
        ):
            if k == 0 and np.any(getattr(m, field, np.zeros(row + 1))[row]):  # MuJoCo 3 has no such thing
                self.notes.leave_out(what, "joints", name)
        if k == 0 and several and m.jnt_stiffness[j]:
            self.notes.leave_out("spring", "free and ball joints", name)
        sprung = not several and "spring" not in self._off
        level = 0.0 if "frictionloss" in self._off else float(m.dof_frictionloss[dof])
        return Passive(
            0.0 if "damper" in self._off else float(m.dof_damping[dof]),
            float(m.jnt_stiffness[j]) if sprung else 0.0,
            0.0 if several else float(m.qpos_spring[m.jnt_qposadr[j]]),
            float(m.dof_armature[dof]),
            Friction(level, self._friction_velocity) if level else None,
        )

    def _passive_turns(self, j: int, first: int = 0) -> list[Passive]:
        """Passive parts of the three turns of a free or ball joint, its degrees of freedom from the `first`.

        They act about the axes of the link, like those on a quaternion. For three angles the same resistance would be a
        full matrix that changes with the posture, which a `Passive` cannot have.
        """
        parts = [self._passive(j, first + k) for k in range(3)]
        if self._quaternions:
            return parts
        for part in dict.fromkeys(name for passive in parts for name in passive.parts):
            what = f"{part} (balls='quaternion' keeps it)"
            self.notes.leave_out(what, "turns of free and ball joints", self.joint_names[j])
        return [Passive()] * 3

    def _drives(self) -> dict[str, tuple[float, tuple[float, float]]]:
        """Gear ratio and torque limits of the joints that actuators drive, by their names."""
        m = self.m
        driven: dict[str, tuple[float, tuple[float, float]]] = {}
        for a in range(0 if "actuation" in self._off else getattr(m, "nactuator", m.nu)):
            label, kind, target = (
                self._named(m.actuator, a, "actuator"),
                int(m.actuator_trntype[a]),
                m.actuator_trnid[a][0],
            )
            if switched_off(m, a):
                self.notes.leave_out("actuator of a group that is switched off", "the file", label)
                continue
            if kind == _AT_SITE and self._at_site(a, label, driven):
                continue
            if is_muscle(m, a):
                for name in self.joint_names:
                    driven.setdefault(name, (math.nan, (-math.inf, math.inf)))
                continue
            if kind not in _ON_JOINT:
                self.notes.leave_out("actuator of tendons, sites or bodies", "the file", label)
                for name in self._moved_by(kind, int(target)):
                    driven.setdefault(name, (math.nan, (-math.inf, math.inf)))
                continue
            if not self._plain(a):
                self.notes.leave_out("law of an actuator, but for its limits of force,", "the file", label)
            for what, field in (("armature", "actuator_armature"), ("damping", "actuator_damping")):
                if np.any(getattr(m, field, np.zeros(a + 1))[a]):  # MuJoCo 3 has no such thing
                    self.notes.leave_out(f"{what} of an actuator", "the file", label)
            name, gear = self.joint_names[target], float(m.actuator_gear[self._first_of("out", a)][0])
            low, high = self._force_range(a)
            low, high = sorted((gear * low, gear * high)) if gear else (0.0, 0.0)
            if name in driven:
                old = driven[name][1]
                driven[name] = gear, (old[0] + low, old[1] + high)
            else:
                driven[name] = gear, (low, high)
        return driven

    def _at_site(self, a: int, label: str, driven: dict[str, tuple[float, tuple[float, float]]]) -> bool:
        """Whether a motor at a site is read: as a thruster, or as a motor of a turn of a free body."""
        m = self.m
        site, reference = (int(k) for k in m.actuator_trnid[a])
        k = int(m.site_bodyid[site])
        if reference >= 0 or not self._plain(a) or not k:
            return False
        axes, gear = rotation_of(m.site_quat[site]), m.actuator_gear[self._first_of("out", a)]
        force, moment = axes @ gear[:3], axes @ gear[3:]
        push, (low, high) = float(np.linalg.norm(force)), self._force_range(a)
        if push:
            arm = float(force @ moment) / push**2  # m
            if np.allclose(moment, arm * force, rtol=0, atol=_ALIGNED * push):
                body, point = self.body_names[k], np.array(m.site_pos[site])
                self._thrusters.append(Thruster(label, body, force, point, push * low, push * high, arm))
                return True
            return False
        j, axis = int(m.body_jntadr[k]), int(np.abs(moment).argmax())
        turn = float(moment[axis])
        alone = m.body_jntnum[k] == 1 and not m.body_parentid[k] and m.jnt_type[j] in (_FREE, _BALL)
        if not (alone and self._quaternions and turn and np.abs(np.delete(moment, axis)).max() <= _ALIGNED * abs(turn)):
            return False
        coordinate, (least, most) = f"{self._turned_name(j)}_r{'xyz'[axis]}", sorted((turn * low, turn * high))
        before = driven.get(coordinate, (turn, (0.0, 0.0)))[1]
        driven[coordinate] = turn, (before[0] + least, before[1] + most)
        return True

    def _moved_by(self, kind: int, target: int) -> list[str]:
        """Joints that another kind of actuator may drive: those of a fixed tendon, or all."""
        m = self.m
        if kind != 3:
            return self.joint_names
        wraps = range(m.tendon_adr[target], m.tendon_adr[target] + m.tendon_num[target])
        if any(m.wrap_type[w] != 1 for w in wraps):
            return self.joint_names
        return [self.joint_names[m.wrap_objid[w]] for w in wraps]

    def _force_range(self, a: int) -> tuple[float, float]:
        """Force range of an actuator before its gear: its limits, and those of a plain motor's control."""
        m = self.m
        low, high = tuple(m.actuator_forcerange[a]) if m.actuator_forcelimited[a] else (-math.inf, math.inf)
        control = self._first_of("ctrl", a)
        if self._plain(a) and m.actuator_ctrllimited[control]:
            gain = m.actuator_gainprm[a][0]
            ends = sorted(gain * end for end in m.actuator_ctrlrange[control])
            low, high = max(low, ends[0]), min(high, ends[1])
        return low, high

    def _first_of(self, what: str, a: int) -> int:
        """Index of an actuator's first input ("ctrl") or output ("out"), of which it has several since MuJoCo 4."""
        first = getattr(self.m, f"actuator_{what}adr", None)
        return a if first is None else int(first[a])

    def _plain(self, a: int) -> bool:
        """Whether an actuator's force is its control times a number."""
        m = self.m
        return m.actuator_dyntype[a] == 0 and m.actuator_gaintype[a] == 0 and m.actuator_biastype[a] == 0

    def _equalities(self) -> tuple[dict[str, Coupling], list[Loop], dict[str, float]]:
        """Couplings of joints, loops, and joints that are held."""
        m, notes = self.m, self.notes
        couplings: dict[str, Coupling] = {}
        loops: list[Loop] = []
        still: dict[str, float] = {}
        for e in range(m.neq):
            label, kind = m.equality(e).name or f"equality{e}", int(m.eq_type[e])
            if not m.eq_active0[e] or "equality" in self._off:
                notes.leave_out("equality constraint that is not active", "the file", label)
            elif kind in (_CONNECT, _WELD):
                loops.append(self._loop(e, label, kind))
            elif kind == _JOINT:
                self._couple(e, label, couplings, still)
            else:
                what = "equality constraint of tendons or flexible bodies"
                notes.leave_out(what, "the file", label, acting=f"{what} {label!r}")
        return resolved_couplings(couplings, notes), loops, still

    def _loop(self, e: int, label: str, kind: int) -> Loop:
        m = self.m
        data, sites = m.eq_data[e], int(m.eq_objtype[e]) == 6
        first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        if sites:
            frames = [
                self._frame(int(m.site_bodyid[s]), _placed(m.site_pos[s], m.site_quat[s])) for s in (first, second)
            ]
            return weld(label, *frames) if kind == _WELD else spherical_loop(label, *frames)
        if kind == _CONNECT:
            ends = [self._frame(b, placement(p)) for b, p in ((first, data[:3]), (second, data[3:6]))]
            return spherical_loop(label, *ends)
        here = self._frame(first, _placed(data[3:6], data[6:10]))
        return weld(label, here, self._frame(second, placement(data[:3])))

    def _frame(self, body: int, place: ca.SX) -> Frame:
        return Frame(self.body_names[body] if body else None, place)

    def _couple(self, e: int, label: str, couplings: dict[str, Coupling], still: dict[str, float]) -> None:
        """Add a joint as a polynomial of another, both relative to the posture of the file."""
        m = self.m
        joint, leader = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        constant, slope, *bend = m.eq_data[e][:5]
        name = self.joint_names[joint]
        reference = float(m.qpos0[m.jnt_qposadr[joint]])
        if leader < 0:
            still[name] = reference + float(constant)
        elif name in couplings:
            what = "coupling that is a joint's second"
            self.notes.leave_out(what, "joints", label, acting=f"{what}, {label!r}")
        else:
            start = float(m.qpos0[m.jnt_qposadr[leader]])
            shifted = Coupling(self.joint_names[leader], 1.0, -start)
            if any(bend):
                follower = Coupling(name, 1.0, reference, Polynomial(m.eq_data[e][:5]))
            else:
                follower = Coupling(name, float(slope), reference + float(constant))
            couplings[name] = follower.after(shifted)

    def _turned_sites(self) -> Iterator[Body]:
        """Frames of sites whose axes are not those of their bodies: bodies without mass."""
        m = self.m
        for s in range(m.nsite):
            name, carrier = self._named(m.site, s, "site"), int(m.site_bodyid[s])
            place = _placed(m.site_pos[s], m.site_quat[s])
            if not carrier or np.allclose(np.array(ca.DM(place))[:3, :3], np.eye(3), rtol=0, atol=_ALIGNED):
                continue
            if name in self._taken:
                self.notes.leave_out("axes", "sites with the name of a body", name)
                continue
            self._taken.add(name)
            yield Body(name, fixed(place), self.body_names[carrier])

    def _markers(self) -> dict[str, tuple[str, np.ndarray]]:
        m = self.m
        markers: dict[str, tuple[str, np.ndarray]] = {}
        for s in range(m.nsite):
            name, body = self._named(m.site, s, "site"), int(m.site_bodyid[s])
            if body:
                markers[name] = self.body_names[body], np.array(m.site_pos[s])
            else:
                self.notes.leave_out("site of the world", "the file", name)
        return markers

    def _shapes(self) -> Iterator[LinkShape]:
        """Visual shapes of links, and collision shapes: those that may touch others."""
        m = self.m
        for g in range(m.ngeom):
            if (kind := _GEOMS.get(int(m.geom_type[g]))) is None:
                self.notes.leave_out("<geom> without an end", "the file", m.geom(g).name)
                continue
            role = "collision" if m.geom_contype[g] or m.geom_conaffinity[g] else "visual"
            body, (a, b, c) = int(m.geom_bodyid[g]), map(float, m.geom_size[g])
            numbers, vertices, faces = {"size": f"{2 * a!r} {2 * b!r} {2 * c!r}"}, None, None
            if kind in ("sphere", "capsule", "cylinder"):
                numbers = {"radius": repr(a)} | ({} if kind == "sphere" else {"length": repr(2 * b)})
            elif kind == "mesh":
                mesh = int(m.geom_dataid[g])
                first, numbers = int(m.mesh_vertadr[mesh]), {"mesh": self._named(m.mesh, mesh, "mesh")}
                vertices = np.array(m.mesh_vert[first : first + m.mesh_vertnum[mesh]], dtype=float)
                first = int(m.mesh_faceadr[mesh])
                faces = np.array(m.mesh_face[first : first + m.mesh_facenum[mesh]], dtype=int)
            place, color = np.array(ca.DM(_placed(m.geom_pos[g], m.geom_quat[g]))), self._color(g)
            name = self.body_names[body] if body else None
            yield LinkShape(name, role, kind, place, numbers, "", vertices, faces, color)

    def _color(self, g: int) -> tuple[float, float, float, float]:
        """Colour of a geom, by default that of its material."""
        m, material = self.m, int(self.m.geom_matid[g])
        of_material = material >= 0 and tuple(m.geom_rgba[g]) == _GRAY
        red, green, blue, opacity = map(float, m.mat_rgba[material] if of_material else m.geom_rgba[g])
        return red, green, blue, opacity

    def _posture(self, qpos: np.ndarray) -> dict[str, float]:
        """Coordinates by name: angles in a row for quaternions."""
        m, posture = self.m, {}
        for j, name in enumerate(self.joint_names):
            kind, at = int(m.jnt_type[j]), int(m.jnt_qposadr[j])
            if kind in (_SLIDE, _HINGE):
                posture[name] = float(qpos[at])
                continue
            label = name
            if kind == _FREE:
                label = name if m.joint(j).name else self.body_names[m.jnt_bodyid[j]]
                posture |= {f"{label}_t{axis}": float(qpos[at + i]) for i, axis in enumerate("xyz")}
                at += 3
            if self._quaternions:
                posture |= {f"{label}_q{letter}": float(qpos[at + i]) for i, letter in enumerate("wxyz")}
                continue
            angles = _angles(rotation_of(qpos[at : at + 4]))
            posture |= {f"{label}_r{axis}": angle for axis, angle in zip("zyx", angles, strict=True)}
        return posture

    def _unread(self) -> None:
        """Note the other contents of a MuJoCo file as left out."""
        m, notes = self.m, self.notes
        actuators = range(getattr(m, "nactuator", m.nu))
        pulled = {int(m.actuator_trnid[a][0]) for a in actuators if is_muscle(m, a)}
        counts = (
            (m.ntendon, "<tendon>"),
            (m.nsensor, "<sensor>"),
            (m.ncam, "<camera>"),
            (m.nlight, "<light>"),
            (m.nflex, "<flex>"),
            (m.nplugin, "<plugin>"),
            (m.npair, "<pair> of contacts"),
        )
        for count, what in counts:
            for k in range(count):
                name = m.tendon(k).name if what == "<tendon>" else ""
                if what != "<tendon>" or k not in pulled:
                    notes.leave_out(what, "the file", name)
        for number, what in ((m.opt.density, "density"), (m.opt.viscosity, "viscosity")):
            if number:
                notes.leave_out(f"{what} of the medium", "the file", f"{number:g}")


def resolved_couplings(couplings: dict[str, Coupling], notes: Notes) -> dict[str, Coupling]:
    """Couplings to leading joints; circles are left out."""
    resolved: dict[str, Coupling] = {}
    for name, coupling in couplings.items():
        path = [name]
        while coupling.joint in couplings and coupling.joint not in path:
            path.append(coupling.joint)
            above = couplings[coupling.joint]
            coupling = coupling.after(above)
        if coupling.joint in path:
            notes.leave_out("coupling in a circle", "joints", name, acting=f"coupling of joint {name!r} in a circle")
        else:
            resolved[name] = coupling
    return resolved


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix, shape (3, 3), of a quaternion (w, x, y, z) of any length."""
    w, *v = quaternion
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 / (w * w + np.dot(v, v)) * (w * cross + cross @ cross)


def _placed(position: np.ndarray, quaternion: np.ndarray) -> ca.SX:
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = rotation_of(quaternion), position
    return ca.SX(ca.DM(place))


def _angles(rotation: np.ndarray) -> list[float]:
    """Yaw, pitch and roll [rad] of R = Rz Ry Rx."""
    flat = math.hypot(rotation[0, 0], rotation[1, 0])
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    across = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    return [yaw, math.atan2(-rotation[2, 0], flat), math.atan2(-across @ rotation[:, 2], across @ rotation[:, 1])]
