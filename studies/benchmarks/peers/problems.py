"""Problems that colloc and other tools are given, as numbers and a URDF file, so that none has the pen of another.

All are motions from rest to rest of a chain of links, with the least integral of squared torques or as fast as torques
and speeds allow. Angles in rad, lengths in m, masses in kg, inertias about the centre of mass in link axes.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, pi
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import Polynomial

import colloc as co
from colloc.models.muscle_walker import muscle_walker
from colloc.models.panda import panda
from colloc.models.squat_to_stand import STRAIN, WIDTH, squat_to_stand
from colloc.studies.classics.published import rockets
from colloc.studies.walking.by_muscles import SPEED, mirrored
from colloc.studies.walking.tracking_by_muscles import LIMITS, LUMBAR, published

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Link:
    """A link and the joint that carries it, in the axes of which it is described.

    Parameters
    ----------
    kind : "revolute" or "prismatic"
    axis, xyz, rpy : tuple of float
        Axis of the joint; its place and turn in the frame of the link before.
    mass : float
    com : tuple of float
    inertia : tuple of float
        xx, yy, zz, xy, xz, yz.
    """

    kind: str
    axis: Triple
    xyz: Triple
    rpy: Triple
    mass: float
    com: Triple
    inertia: tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Reach:
    """From rest to rest.

    Parameters
    ----------
    links : tuple of Link
    gravity : tuple of float
    start, end : tuple of float
    torque : tuple of float
        Largest of every joint, either way; 0 where nothing drives it.
    duration : float, optional
        Of the motion with the least integral of squared torques; None for the fastest motion.
    guess : float
        Of the duration that is free, which lies between a tenth of it and five times it.
    position, speed : tuple of float
        Largest of every joint, either way.
    intervals : int, optional
        Number of equal intervals that every tool must take; None if each chooses its grid.
    """

    links: tuple[Link, ...]
    gravity: Triple
    start: tuple[float, ...]
    end: tuple[float, ...]
    torque: tuple[float, ...]
    duration: float | None
    guess: float
    position: tuple[float, ...]
    speed: tuple[float, ...]
    intervals: int | None = None


@dataclass(frozen=True)
class Hop:
    """Down, up and down again on one leg, foot and trunk on a vertical line, with least effort and a soft landing.

    The trunk pushes off from rest while the foot stands, both fly, the foot lands without rebound, and the trunk comes
    to rest where it was. The ground only pushes. The cost is the integral of the squared force of the leg, and a weight
    times the squared impulse of the landing.

    Parameters
    ----------
    foot, trunk : float
        Masses.
    leg : tuple of float
        Least and largest distance of foot and trunk.
    rest : float
        That at both ends.
    height : float
        Of the foot, half way through the flight, at least.
    duration : float
        Of all, and each phase lasts at least a tenth of a second.
    weight : float
        N2 s / (N s)2.
    """

    foot: float = 1.0
    trunk: float = 9.0
    leg: tuple[float, float] = (0.5, 1.0)
    rest: float = 0.9
    height: float = 0.1
    duration: float = 0.6
    weight: float = 100.0
    gravity: float = 9.81


@dataclass(frozen=True)
class Goddard:
    """A sounding rocket that rises as high as its fuel takes it, in feet, slugs, pounds and seconds.

    Bryson and Ho (1975), with the numbers of Betts (2010). The cost is minus the largest height.

    Parameters
    ----------
    thrust : float
        Largest.
    exhaust : float
        Speed of the exhaust.
    drag, scale : float
        Drag is ``drag * v**2 * exp(-h / scale)``.
    gravity : float
    mass, empty : float
        At the begin, and without fuel.
    durations : tuple of float
        Least and largest.
    guess : float
        Of the duration.
    """

    thrust: float = 193.044
    exhaust: float = 1580.9425279876559
    drag: float = 5.49153484923381010e-5
    scale: float = 23800.0
    gravity: float = 32.174
    mass: float = 3.0
    empty: float = 1.0
    durations: tuple[float, float] = (10.0, 100.0)
    guess: float = 40.0


@dataclass(frozen=True)
class AlpRider:
    """A linear system with a fast growing mode, whose state stays outside of a sphere with four peaks in time.

    Betts (2010), section 10.2. The cost is the integral of ``100 x'x + 0.01 u'u``.

    Parameters
    ----------
    matrix, control : tuple of tuple of float
        Of the rates ``matrix x + control u``.
    start, end : tuple of float
    peaks : tuple of tuple of float
        Height, time and sharpness of each; ``x'x`` is at least the sum of ``height exp(-sharpness (t - time)**2)`` and
        `floor`.
    floor, duration : float
    """

    matrix: tuple[tuple[float, ...], ...] = ((-10, 0, 0, 0), (0, -2, 0, 0), (0, 0, -3, 5), (0, 0, 5, -3))
    control: tuple[tuple[float, ...], ...] = ((1, 1), (1, 2), (1, -1), (1, 3))
    start: tuple[float, ...] = (2.0, 1.0, 2.0, 1.0)
    end: tuple[float, ...] = (2.0, 3.0, 1.0, -2.0)
    peaks: tuple[Triple, ...] = ((3, 3, 12), (3, 6, 10), (3, 10, 6), (8, 15, 4))
    floor: float = 0.01
    duration: float = 20.0


@dataclass(frozen=True)
class Slide:
    """A linear motor that moves a slide with dry friction and a load on a spring, from rest to rest.

    The example of nosnoc, after Christiansen, Maurer and Zirn (2008). The unknown is the voltage, and the cost the
    integral of its square. States are place and speed of the slide, place and speed of the load, and the current.

    Parameters
    ----------
    slide, load : float
        Masses.
    spring, friction, resistance, inductance : float
    constant : float
        Of the motor: force per current, and voltage per speed.
    voltage : float
        Largest, either way.
    way, duration : float
    """

    slide: float = 1.03
    load: float = 0.56
    spring: float = 2.4e3
    friction: float = 2.1
    resistance: float = 2.0
    inductance: float = 2e-3
    constant: float = 12.0
    voltage: float = 5.0
    way: float = 0.01
    duration: float = 0.08


@dataclass(frozen=True)
class DeltaIII:
    """A launcher of four phases to a transfer orbit, with the most mass that arrives, in kg, m and s.

    Betts (2010), section 7.2: six boosters and the first stage burn, then three boosters and the first stage, then that
    alone, and the second stage as long as it must. The unknown is the direction of the thrust. The cost is minus the
    mass at the end.

    Parameters
    ----------
    force, flow : tuple of float
        Thrust and mass flow of the phases.
    mass : tuple of float
        At the begin of each phase.
    durations : tuple of float
        Of the first three phases, and the largest of the fourth.
    payload : float
        Least mass at the end.
    orbit : tuple of float
        Semimajor axis, eccentricity, inclination, ascending node and argument of the perigee.
    site, speed : tuple of float
        Place and velocity at the launch.
    perigee : tuple of tuple of float
        Place and velocity at the perigee of the orbit, where the search may begin.
    gravity, radius, turn : float
        Of the earth: gravitational parameter, radius, angular velocity.
    drag : float
        Half the product of density on the ground, area and coefficient of drag.
    scale : float
        Of the height at which the density falls to 1/e.
    """

    force: tuple[float, ...]
    flow: tuple[float, ...]
    mass: tuple[float, ...]
    durations: tuple[float, ...]
    payload: float
    orbit: tuple[float, ...]
    site: tuple[float, ...]
    speed: tuple[float, ...]
    perigee: tuple[tuple[float, ...], ...]
    gravity: float = 3.986012e14
    radius: float = 6378145.0
    turn: float = 7.29211585e-5
    drag: float = 0.5 * 1.225 * 4 * pi * 0.5
    scale: float = 7200.0


@dataclass(frozen=True)
class Step:
    """A step of a walker on point feet, from strike to strike, with the least integral of squared torques.

    The chain begins at the foot that stands, whose ankle has a motor too. At the end the other foot strikes the ground
    ahead, without rebound or slip, as the first leaves it, and velocities jump by the impulse; from there the same step
    begins with legs swapped. The swinging foot rises at the begin and sinks at the end.

    Parameters
    ----------
    links : tuple of Link
    gravity : tuple of float
    foot : tuple of float
        The swinging one, in the last link.
    swap : tuple of tuple of float
        Matrix that makes joints' positions those of the chain that begins at the other foot.
    length, duration : float
        Of the step.
    start, end : tuple of float
        Postures to search from.
    """

    links: tuple[Link, ...]
    gravity: Triple
    foot: Triple
    swap: tuple[tuple[float, ...], ...]
    length: float
    duration: float
    start: tuple[float, ...]
    end: tuple[float, ...]


@dataclass(frozen=True)
class Strand:
    """A muscle of De Groote et al. (2016) with OpenSim's constants.

    Parameters
    ----------
    name : str
    force, fiber, tendon, pennation : float
        Largest isometric force, optimal fiber length, slack length of the tendon, angle at the optimal length.
    rise, fall : float
        Time constants of activation, between which it changes as published (0.1).
    width : float
        Factor of the range of lengths with active force.
    strain : float
        Of the fiber at which passive force is the largest isometric one; 0 for no passive force.
    joints : tuple of int
        That it crosses, one or two.
    length : tuple of tuple of float
        Coefficients of the length, by powers of the first joint's coordinate and of the second's.
    """

    name: str
    force: float
    fiber: float
    tendon: float
    pennation: float
    rise: float
    fall: float
    width: float
    strain: float
    joints: tuple[int, ...]
    length: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Rise:
    """From a squat to upright and at rest by muscles and motors, in a given time, with least squared signals.

    Excitations of muscles lie between `least` and 1, signals of motors between -1 and 1; the cost is the integral of
    the sum of all their squares. Tendons are rigid; activations begin at `least`.

    Parameters
    ----------
    links : tuple of Link
    gravity : tuple of float
    start, end : tuple of float
    lower, upper : tuple of float
        Of every joint.
    motors : tuple of float
        Torque at a signal of 1.
    muscles : tuple of Strand
    duration : float
    least : float
    """

    links: tuple[Link, ...]
    gravity: Triple
    start: tuple[float, ...]
    end: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    motors: tuple[float, ...]
    muscles: tuple[Strand, ...] = ()
    duration: float = 1.0
    least: float = 0.01


@dataclass(frozen=True)
class Ball:
    """A foot's contact: a ball that the plane y = 0 pushes back by the law of Hunt and Crossley.

    Parameters
    ----------
    link : int
    center : tuple of float
    radius, stiffness, dissipation : float
    friction, viscous, transition : float
        Coefficient, what is added for each m/s, and the speed of slipping below which friction grows with it.
    """

    link: int
    center: Triple
    radius: float
    stiffness: float
    dissipation: float
    friction: float
    viscous: float
    transition: float


@dataclass(frozen=True)
class Walk:
    """Half a stride by muscles, followed or predicted; the other half is its mirror image.

    Followed, in the time that is written down, the cost is `weight` times the integral of squared distances of all
    positions and speeds from those written down, of squared excitations, and of squared torques of motors. Predicted,
    at a mean `speed` in a free time, it is `weight` times the integral of cubed excitations and of cubed torques over
    the distance, and what is written down is the motion to search from. Nothing drives the first three joints, of the
    pelvis.

    Parameters
    ----------
    links : tuple of Link
    parents : tuple of int
        Of every link, -1 for the world.
    gravity : tuple of float
    lower, upper : tuple of float
        Of every joint.
    motors : tuple of float
        Largest torque of every joint's motor; 0 for none.
    muscles : tuple of Strand
    balls : tuple of Ball
    mirror, other : tuple of int
        The counterparts of joints and of muscles on the other side.
    t, q, qd : tuple
        Times, and positions and speeds of all joints there.
    weight : float
    least : float
        Excitation and activation.
    speed : float, optional
        Of the walk that is predicted; None for one that is followed.
    durations : tuple of float
        Least and largest, of the walk that is predicted.
    """

    links: tuple[Link, ...]
    parents: tuple[int, ...]
    gravity: Triple
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    motors: tuple[float, ...]
    muscles: tuple[Strand, ...]
    balls: tuple[Ball, ...]
    mirror: tuple[int, ...]
    other: tuple[int, ...]
    t: tuple[float, ...]
    q: tuple[tuple[float, ...], ...]
    qd: tuple[tuple[float, ...], ...]
    weight: float = 10.0
    least: float = 0.01
    speed: float | None = None
    durations: tuple[float, float] = (0.4, 0.6)


@dataclass(frozen=True)
class Stand:
    """At rest on points that springs push back, by motors with the least mean of squared torques.

    Nothing drives the first three joints, of the pelvis. The ground y = 0 pushes a point at a depth d, with
    ``d+ = (d + sqrt(d**2 + depth**2)) / 2``, by ``stiffness d+ + bias d``. All other joints have a torque of
    ``-stop (p(q - high) - p(low - q))`` with ``p(x) = (x + sqrt(x**2 + width**2)) / 2``.

    Parameters
    ----------
    links : tuple of Link
    parents : tuple of int
        Of every link, -1 for the world.
    gravity : tuple of float
    low, high : tuple of float
        Ends of the ranges of all joints.
    points : tuple of (int, tuple of float)
        Links and places of the points.
    guess : tuple of float
        Posture to search from.
    motor : float
        Largest torque.
    beyond : float
        How far a joint may leave its range.
    stiffness, depth, bias, stop, width : float
    """

    links: tuple[Link, ...]
    parents: tuple[int, ...]
    gravity: Triple
    low: tuple[float, ...]
    high: tuple[float, ...]
    points: tuple[tuple[int, Triple], ...]
    guess: tuple[float, ...]
    motor: float = 500.0
    beyond: float = pi / 12
    stiffness: float = 73575.0
    depth: float = 1e-3
    bias: float = 0.1
    stop: float = 5000.0
    width: float = pi / 90


def planar(mass: float, length: float, before: float, inertia: float, centre: float | None = None) -> Link:
    """A rod along x that turns about z at the end of one of another length, `before`."""
    at = length / 2 if centre is None else centre
    return Link("revolute", (0, 0, 1), (before, 0, 0), (0, 0, 0), mass, (at, 0, 0), (0, inertia, inertia, 0, 0, 0))


def particle(kind: str, axis: Triple, mass: float, com: Triple = (0, 0, 0)) -> Link:
    """A particle."""
    return Link(kind, axis, (0, 0, 0), (0, 0, 0), mass, com, (0, 0, 0, 0, 0, 0))


def reach(
    links: tuple[Link, ...],
    ends: tuple[tuple[float, ...], tuple[float, ...]],
    torque: tuple[float, ...],
    duration: float | None = None,
    *,
    gravity: Triple = (0, -9.81, 0),
    guess: float = 1.0,
    position: tuple[float, ...] | None = None,
    speed: tuple[float, ...] | None = None,
) -> Reach:
    """A motion, whose positions and speeds are free where nothing is said of them."""
    free = (inf,) * len(links)
    return Reach(links, gravity, *ends, torque, duration, guess, position or free, speed or free)


# Xiang, Arora and Abdel-Malek (2009), example 1.
TWO = (planar(0.5, 0.4, 0.0, 0.1), planar(0.5, 0.4, 0.4, 0.1))
# Kelly (2017), section 6.
CART_POLE = (particle("prismatic", (1, 0, 0), 1.0), particle("revolute", (0, 0, 1), 0.3, (0, -0.5, 0)))
THREE = tuple(planar(0.5, 0.4, before, 0.5 * 0.4**2 / 12) for before in (0.0, 0.4, 0.4))
# Shanks, thighs and trunk of a man of 1.75 m and 75 kg, both legs as one: Winter (2009), table 4.1; the trunk is all
# that is above the hip.
BODY = (
    planar(2 * 0.0465 * 75, 0.246 * 1.75, 0.0, 2 * 0.0465 * 75 * (0.302 * 0.246 * 1.75) ** 2, 0.567 * 0.246 * 1.75),
    planar(2 * 0.1 * 75, 0.245 * 1.75, 0.246 * 1.75, 2 * 0.1 * 75 * (0.323 * 0.245 * 1.75) ** 2, 0.567 * 0.245 * 1.75),
    planar(0.678 * 75, 0.8, 0.245 * 1.75, 0.678 * 75 * (0.496 * 0.288 * 1.75) ** 2, 0.626 * 0.288 * 1.75),
)


def upright(mass: float, before: float, inertia: float, centre: float) -> Link:
    """A rod along y that turns about z at the end of one of another length, `before`."""
    return Link("revolute", (0, 0, 1), (0, before, 0), (0, 0, 0), mass, (0, centre, 0), (inertia, 0, inertia, 0, 0, 0))


# The robot RABBIT (Westervelt, Grizzle and Koditschek 2003), which walks in Kelly (2017): shank and thigh that
# stand, trunk, thigh and shank that swing.
BIPED = (
    upright(3.2, 0.0, 0.93, 0.4 - 0.128),
    upright(6.8, 0.4, 1.08, 0.4 - 0.163),
    upright(20.0, 0.4, 2.22, 0.2),
    upright(6.8, 0.0, 1.08, -0.163),
    upright(3.2, -0.4, 0.93, -0.128),
)


def arm() -> tuple[Link, ...]:
    """The Panda's links."""
    links = []
    for body in panda().bodies:
        before = [[float(value) for value in row] for row in _rows(body.joint.before)]
        roll = pi / 2 if before[2][1] > 0.5 else -pi / 2 if before[2][1] < -0.5 else 0.0
        place = (before[0][3], before[1][3], before[2][3])
        tensor = [[float(value) for value in row] for row in _rows(body.inertia)]
        six = (tensor[0][0], tensor[1][1], tensor[2][2], tensor[0][1], tensor[0][2], tensor[1][2])
        x, y, z = (float(value) for (value,) in _rows(body.com))
        links.append(Link("revolute", (0, 0, 1), place, (roll, 0, 0), float(body.mass), (x, y, z), six))
    return tuple(links)


def chain(model: co.Model) -> tuple[tuple[Link, ...], tuple[int, ...], dict[str, tuple[int, float, float]]]:
    """Moving links of a planar model with what is fixed to them, their parents, and every body's link and place."""
    links: list[Link] = []
    parents: list[int] = []
    places: dict[str | None, tuple[int, float, float]] = {None: (-1, 0.0, 0.0)}
    for body in model.bodies:
        parent, left, low = places[body.parent]
        dx, dy = (row[3] for row in _rows(body.joint.before)[:2])
        x, y, _ = (float(value) for (value,) in _rows(body.com))
        mass, inertia = float(body.mass), _rows(body.inertia)[2][2]
        if body.joint.kind == "fixed":
            last = links[parent]
            before, other, total = np.array(last.com[:2]), np.array([x + left + dx, y + low + dy]), last.mass + mass
            apart = other - before
            inertia += last.inertia[2] + last.mass * mass / total * float(apart @ apart)
            x, y = (before + mass / total * apart).tolist()
            links[parent] = replace(last, mass=total, com=(x, y, 0), inertia=(0, inertia, inertia, 0, 0, 0))
            places[body.name] = (parent, left + dx, low + dy)
            continue
        axis: Triple = tuple(round(float(body.joint.axis[k])) for k in range(3))  # pyright: ignore[reportAssignmentType]
        place = (left + dx, low + dy, 0.0)
        links.append(Link(body.joint.kind, axis, place, (0, 0, 0), mass, (x, y, 0), (0, inertia, inertia, 0, 0, 0)))
        parents.append(parent)
        places[body.name] = (len(links) - 1, 0.0, 0.0)
    return tuple(links), tuple(parents), {str(name): place for name, place in places.items()}


def strands(
    model: co.Model,
    muscles: Sequence[co.muscles.Muscle],
    width: float = 1.0,
    strain: float = 0.6,
    active_only: Container[str] = (),
) -> tuple[Strand, ...]:
    """Muscles on polynomials; some have no passive force."""
    made = []
    for muscle in muscles:
        path, shape = muscle.path, (muscle.max_isometric_force, muscle.optimal_fiber_length, muscle.tendon_slack_length)
        assert isinstance(path, co.muscles.LengthPolynomial)
        joints = tuple(model.joint_names.index(joint) for joint in path.joints)
        degree = int(path.powers.sum(axis=1).max()) + 1
        length = np.zeros((degree, degree if len(joints) == 2 else 1))
        lines = [Polynomial([-m / h, 1 / h]) for m, h in zip(path.middle, path.half, strict=True)]
        for coefficient, powers in zip(path.coefficients, path.powers, strict=True):
            first, *second = (line**power for line, power in zip(lines, powers.tolist(), strict=True))
            term = np.outer(first.coef, second[0].coef if second else [1.0])
            length[: term.shape[0], : term.shape[1]] += coefficient * term
        force, fiber, tendon, pennation = (float(value) for value in (*shape, muscle.pennation))
        rise, fall = muscle.activation_time, muscle.deactivation_time
        strained = 0.0 if muscle.name in active_only else strain
        rows = tuple(tuple(row) for row in length.tolist())
        made.append(Strand(muscle.name, force, fiber, tendon, pennation, rise, fall, width, strained, joints, rows))
    return tuple(made)


def rises() -> dict[str, Rise]:
    """The squat of Moco's first example: by motors, as published, and by its muscles beside motors of 2 N m."""
    down, squat, upright = (0.0, -9.80665, 0.0), (-0.5, -2.0, -2.0), (0.0, 0.0, 0.0)
    ranges = ((-0.524, -2.094, -2.094), (0.698, 0.0, 0.524))  # of the model; it sinks before its muscles pull
    human = squat_to_stand()
    bounds, links = ((-0.5, -2.0, -2.0), (0.7, 0.0, 0.5)), chain(human.model)[0]
    muscles = strands(*human, WIDTH, STRAIN, active_only=["soleus"])
    return {
        "rise_by_motors": Rise(links, down, squat, upright, *bounds, motors=(150.0, 300.0, 150.0)),
        "rise_by_muscles": Rise(links, down, squat, upright, *ranges, motors=(2.0, 2.0, 2.0), muscles=muscles),
    }


def steps() -> dict[str, Step]:
    """A walk of the robot with five links after Kelly (2017), from the guess of his OptimTraj."""
    angles = np.array([-0.3, 0.7, 0.0, -0.5, -0.6])  # of all links, which the other foot's chain has in reverse
    swap = np.zeros((5, 5))
    swap[0], swap[range(1, 5), range(4, 0, -1)] = 1.0, -1.0
    postures = (tuple(np.diff(turns, prepend=0.0).tolist()) for turns in (angles, angles[::-1]))
    rows = tuple(map(tuple, swap.tolist()))
    return {"walk_by_motors": Step(BIPED, (0, -9.81, 0), (0.0, -0.4, 0.0), rows, 0.5, 0.7, *postures)}


def walks() -> dict[str, Walk]:
    """Both of Moco's example of planar walking: followed, without its filter and the ground's forces, and predicted."""
    walker, walk = muscle_walker(), published()
    joints, (links, parents, places) = walker.model.joint_names, chain(walker.model)
    balls = []
    for sphere in walker.contact.spheres:
        link, left, low = places[sphere.body]
        x, y, _ = (float(value) for (value,) in _rows(sphere.center))
        law = (sphere.dissipation, sphere.dynamic_friction, sphere.viscous_friction, sphere.transition_velocity)
        balls.append(Ball(link, (left + x, low + y, 0.0), sphere.radius, sphere.stiffness, *law))
    bounds = [LIMITS[joint] for joint in joints]
    muscles = strands(walker.model, walker.muscles)
    task = Walk(
        links,
        parents,
        (0.0, -9.80665, 0.0),
        tuple(low for low, _ in bounds),
        tuple(high for _, high in bounds),
        tuple(LUMBAR if joint == "lumbar" else 0.0 for joint in joints),
        muscles,
        tuple(balls),
        tuple(mirrored(joints)),
        tuple(mirrored([muscle.name for muscle in muscles])),
        tuple(walk.t.tolist()),
        tuple(map(tuple, walk.q.tolist())),
        tuple(map(tuple, walk.qd.tolist())),
    )
    return {"walk_by_muscles": task, "predict_by_muscles": replace(task, speed=SPEED)}


# The numbers of gait2d_torque, a model of biosym (Gambietz, Balougias, Zhang and Koelewijn), which names no licence:
# trunk, and of each leg thigh, shank and foot, with heel and toe.
LEG = (
    upright(7.5, 0.0, 0.1522, -0.191),
    upright(3.4875, -0.441, 0.0624, -0.1917),
    replace(upright(1.0875, -0.4428, 0.0184, 0.0), com=(0.0768, -0.0351, 0.0)),
)
SLIDES = (particle("prismatic", (1, 0, 0), 0.0), particle("prismatic", (0, 1, 0), 0.0))
SOLE = ((-0.06, -0.0702, 0.0), (0.1636, -0.0702, 0.0))


def stands() -> dict[str, Stand]:
    """biosym's model at rest, from its zero posture, whose feet are 46 mm over the ground."""
    low, high = (-pi / 2, -8 * pi / 9, -pi / 3), (8 * pi / 9, 0.0, pi / 3)
    links = (*SLIDES, upright(50.85, 0.0, 3.177, 0.3155), *LEG * 2)
    ranges = (-3.0, -2.0, -3.14, *low * 2), (10.0, 11.0, 3.14, *high * 2)
    points = tuple((link, place) for link in (5, 8) for place in SOLE)
    guess = (0.0, 1.0, *(0.0,) * 7)
    return {"stand": Stand(links, (-1, 0, 1, 2, 3, 4, 2, 6, 7), (0.0, -9.81, 0.0), *ranges, points, guess)}


def _rows(matrix: Any) -> list[list[float]]:
    return np.array(ca.DM(matrix)).tolist()


def problems() -> dict[str, Reach]:
    """The problems by name."""
    weight: Triple = (0, 0, -9.81)
    drives, speeds = (87.0,) * 4 + (12.0,) * 3, (2.175,) * 4 + (2.61,) * 3
    moved = ((0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8), (1.0, 0.3, -0.5, -1.2, 0.6, 2.2, -0.4))
    swing = ((0.0, -2.0), (1.0, -1.0))
    cart = reach(CART_POLE, ((0.0, 0.0), (1.0, pi)), (20.0, 0.0), 2.0, position=(2.0, inf))
    return {
        "two_link_time": reach(TWO, swing, (10.0, 10.0), gravity=(0, 0, 0)),
        "two_link_effort": reach(TWO, swing, (10.0, 10.0), 1.0, gravity=(0, 0, 0)),
        "cart_pole": cart,
        "cart_pole_64": replace(cart, intervals=64),
        "three_link_effort": reach(THREE, ((-pi / 2, 0, 0), (0.5, 0.5, 0.5)), (12.0, 5.0, 2.0), 1.0, speed=(5.0,) * 3),
        "three_link_time": reach(THREE, ((-pi / 2, 0, 0), (0.5, 0.5, 0.5)), (12.0, 6.0, 2.5)),
        "squat": reach(BODY, ((1.1, 1.9, -1.6), (pi / 2, 0.0, 0.0)), (250.0, 500.0, 400.0), 1.0),
        "panda_effort": reach(arm(), moved, drives, 1.0, gravity=weight, speed=speeds),
        "panda_time": reach(arm(), moved, drives, gravity=weight, speed=speeds),
    }


def launcher() -> DeltaIII:
    """The numbers of the launcher."""
    (booster, booster_fuel), (first, first_fuel), (second, second_fuel) = rockets.BOOSTER, rockets.FIRST, rockets.SECOND
    (push, first_push, second_push), (burn, first_burn, second_burn) = rockets.THRUSTS, rockets.BURNS
    share = burn / first_burn * first_fuel
    flows = (booster_fuel / burn, first_fuel / first_burn, second_fuel / second_burn)
    whole = 9 * booster + first + second + rockets.PAYLOAD
    three = whole - 6 * booster - share
    alone = three - 3 * booster - share
    upper = alone - (first_fuel - 2 * share) - (first - first_fuel)
    place, velocity = rockets.perigee()
    return DeltaIII(
        (6 * push + first_push, 3 * push + first_push, first_push, second_push),
        (6 * flows[0] + flows[1], 3 * flows[0] + flows[1], flows[1], flows[2]),
        (whole, three, alone, upper),
        (burn, burn, first_burn - 2 * burn, second_burn),
        rockets.PAYLOAD,
        rockets.ORBIT,
        rockets.SITE,
        rockets.SPEED,
        (tuple(place.tolist()), tuple(velocity.tolist())),
    )


SINGLE: dict[str, Hop | Goddard | AlpRider | Slide | DeltaIII] = {
    "hop": Hop(), "goddard": Goddard(), "alp_rider": AlpRider(), "slide": Slide(), "delta_iii": launcher(),
}  # fmt: skip


def urdf(
    links: tuple[Link, ...], torque: tuple[float, ...], speed: tuple[float, ...], parents: Sequence[int] | None = None
) -> str:
    """A URDF file of a chain, or of a tree, with an actuator wherever there is a torque."""
    parts = ['<link name="world"/>']
    for k, link in enumerate(links):
        parent = k - 1 if parents is None else parents[k]
        before = "world" if parent < 0 else f"link{parent}"
        names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        tensor = " ".join(f'{name}="{value!r}"' for name, value in zip(names, link.inertia, strict=True))
        limit = f'lower="-1e9" upper="1e9" effort="{torque[k]}" velocity="{min(speed[k], 1e4)}"'
        parts += [
            f'<link name="link{k}"><inertial><origin xyz="{_text(link.com)}"/><mass value="{link.mass!r}"/>'
            f"<inertia {tensor}/></inertial></link>",
            f'<joint name="joint{k}" type="{link.kind}"><parent link="{before}"/><child link="link{k}"/>'
            f'<origin xyz="{_text(link.xyz)}" rpy="{_text(link.rpy)}"/><axis xyz="{_text(link.axis)}"/>'
            f"<limit {limit}/></joint>",
        ]
        if torque[k]:
            parts.append(
                f'<transmission name="drive{k}"><type>transmission_interface/SimpleTransmission</type>'
                f'<joint name="joint{k}"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>'
                f'<actuator name="motor{k}"/></transmission>'
            )
    return '<robot name="chain">' + "\n".join(parts) + "</robot>\n"


def _text(values: tuple[float, ...]) -> str:
    return " ".join(repr(float(value)) for value in values)


def written(name: str, problem: Reach | Rise | Step | Walk | Stand, folder: Path) -> dict[str, Any]:
    """A problem as JSON has it, its URDF file written, and of a step one whose standing foot is free to move."""
    path, free = folder / f"{name}.urdf", (1e9,) * len(problem.links)
    limits = (problem.torque, problem.speed) if isinstance(problem, Reach) else (free, free)
    path.write_text(
        urdf(problem.links, *limits, problem.parents if isinstance(problem, Walk | Stand) else None), encoding="utf-8"
    )
    said = asdict(problem) | {"urdf": str(path), "name": name}
    if isinstance(problem, Step):
        said["loose"] = str(path.with_stem(f"{name}_loose"))
        slides = tuple(particle("prismatic", axis, 0.0) for axis in ((1, 0, 0), (0, 1, 0)))
        Path(said["loose"]).write_text(
            urdf(slides + problem.links, (1e9, 1e9, *free), (1e9, 1e9, *free)), encoding="utf-8"
        )
    return said
