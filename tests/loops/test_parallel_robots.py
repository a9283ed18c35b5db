"""Parallel robots and legs with rods: assembled from neutral, their dynamics against Pinocchio's, one motion each.

Dimensions are round numbers of the size of known machines: the Delta of Clavel, the six-legged platform of Gough and
Stewart, planar 3-RRR and spherical 3-RRR (the Agile Eye of Gosselin), legs like those of Cassie, Digit, Minitaur and
WL-16. Each is written in a closed posture, from which all zeros of its joints are then shifted. This prints a table:

    python -m tests.loops.test_parallel_robots
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.closed.four_bar import four_bar
from colloc.models.closed.parallel_scara import parallel_scara
from colloc.models.closed.slider_crank import slider_crank
from tests.support.random_loops import constrained_acceleration

X, Y, Z = np.eye(3)
OFFSET = 0.3  # rad, m/3: by which zeros are shifted


class Robot:
    """Bodies and loops, at points of a closed posture in which all link frames are parallel to the world's."""

    def __init__(self, *motors: str):
        self.motors, self.bodies, self.loops = motors, [], []
        self.at: dict[str | None, np.ndarray] = {None: np.zeros(3)}

    def link(self, name: str, parent: str | None, joint: Any, start: Any, end: Any, mass: float = 1.0) -> None:
        """A uniform cylinder between two points, on a joint (a function of placements) at the first."""
        start, along = np.array(start, float), np.subtract(end, start)
        length = float(along @ along)
        inertia = mass / 12 * (length * np.eye(3) - np.outer(along, along)) + mass * 0.02**2 / 2 * np.eye(3)
        place = co.placement(start - self.at[parent])
        self.bodies.append(co.Body(name, joint(place), parent, mass, along / 2, inertia if mass else np.zeros((3, 3))))
        self.at[name] = start

    def chain(self, name: str, parent: str | None, axes: Any, start: Any, end: Any, mass: float = 0.2) -> None:
        """A cylinder on several hinges at its start: two across it, or three of a ball joint."""
        for k, axis in enumerate(axes[:-1]):
            self.link(f"{name}_{k}", parent, hinge(axis), start, start, 0.0)
            parent = f"{name}_{k}"
        self.link(name, parent, hinge(axes[-1]), start, end, mass)

    def rod(
        self, name: str, parent: str | None, start: Any, end: Any, to: str | None = None, mass: float = 0.2
    ) -> None:
        """A rod on a universal joint, and a ball joint at its end."""
        self.chain(name, parent, across(np.subtract(end, start)), start, end, mass)
        if to is not None:
            self.tie(name, to, end)

    def tie(self, first: str, second: str | None, point: Any, axis: Any = None) -> None:
        """A ball joint or hinge that closes a loop."""
        frames = [co.loops.Frame(body, np.subtract(point, self.at[body])) for body in (first, second)]
        name = f"{first} to {second}"
        hinged = axis is not None
        self.loops.append(
            co.loops.revolute_loop(name, *frames, axis=axis) if hinged else co.loops.spherical_loop(name, *frames)
        )

    def closed(self) -> co.loops.ClosedChain:
        """The chain, assembled from joints at zero, where it is open."""
        rng = np.random.default_rng(len(self.bodies))
        bodies = []
        for body in self.bodies:
            shift = OFFSET * rng.uniform(-1, 1) * (1.0 if body.joint.turns else 0.3)
            joint = replace(body.joint, before=body.joint.transform(ca.SX(-shift)))
            bodies.append(replace(body, joint=joint))
        return co.loops.ClosedChain(co.Model(bodies), self.loops, actuators=self.motors)


def hinge(axis: Any, range: float | None = None) -> Callable[[Any], co.model.Joint]:
    """A hinge, with limits on either side [rad]."""
    limits = None if range is None else co.Limits(position=(-range, range))
    return lambda place: co.revolute(tuple(axis), place, limits)


def slide(axis: Any) -> Callable[[Any], co.model.Joint]:
    return lambda place: co.prismatic(tuple(axis), place)


def across(along: np.ndarray) -> list[np.ndarray]:
    """Two axes across a direction."""
    first = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    second = np.cross(along, first)
    return [first / np.linalg.norm(first), second / np.linalg.norm(second)]


def around(k: int, radius: float, height: float = 0.0, degrees: float = 0.0, of: int = 3) -> np.ndarray:
    """A point of a regular polygon about z."""
    angle = 2 * np.pi * k / of + np.radians(degrees)
    return np.array([radius * np.cos(angle), radius * np.sin(angle), height])


def delta() -> Robot:
    """Three arms of 0.24 m, each with two parallel rods of 0.8 m to the platform."""
    robot = Robot("arm0", "arm1", "arm2")
    for k in range(3):
        out, side = around(k, 1.0), around(k, 1.0, degrees=90)
        elbow = 0.44 * out
        robot.link(f"arm{k}", None, hinge(side), 0.2 * out, elbow, 0.5)
        for j, sign in enumerate((-1, 1)):
            end = 0.05 * out + 0.05 * sign * side - (0, 0, 0.7)
            robot.rod(f"rod{k}{j}", f"arm{k}", elbow + 0.05 * sign * side, end)
            if k == j == 0:
                robot.chain("platform", "rod00", np.eye(3), end, np.array([0, 0, -0.7]), 1.0)
            else:
                robot.tie(f"rod{k}{j}", "platform", end)
    return robot


def hexapod(*, spinning: bool = False) -> Robot:
    """Six legs with slides between universal and ball joints, or, like WL-16, between balls, so that each leg spins."""
    robot = Robot(*(f"slide{k}" for k in range(6)))
    height = -0.8 if spinning else 0.8
    for k in range(6):
        low = around(k // 2, 0.5, 0.0, 12 * (-1) ** k)
        high = around((k + 1) // 2 % 3, 0.25, height, -60 + 12 * (-1) ** (k + 1))
        along = high - low
        axes = [*across(along), along / np.linalg.norm(along)] if spinning else across(along)
        robot.chain(f"cylinder{k}", None, axes, low, low + 0.4 * along, 0.8)
        robot.link(f"slide{k}", f"cylinder{k}", slide(along / np.linalg.norm(along)), low + 0.5 * along, high, 0.4)
        if k == 0:
            robot.chain("platform", "slide0", np.eye(3), high, np.array([0, 0, height]), 4.0)
        else:
            robot.tie(f"slide{k}", "platform", high)
    return robot


def wl16() -> Robot:
    return hexapod(spinning=True)


def five_bar() -> Robot:
    """Two cranks 0.2 m apart in a vertical plane, with rods of 0.3 m that meet in a pin."""
    robot = Robot("left", "right")
    top = np.array([0.0, 0.0, 0.45])
    for side, sign in (("left", -1), ("right", 1)):
        knee = np.array([0.25 * sign, 0, 0.25])
        robot.link(side, None, hinge(Y), (0.1 * sign, 0, 0), knee)
        robot.link(f"{side}_rod", side, hinge(Y), knee, top)
    robot.tie("left_rod", "right_rod", top, Y)
    return robot


def minitaur() -> Robot:
    """A leg of two coaxial motors with links of 0.1 m and 0.2 m."""
    robot = Robot("front", "back")
    toe = np.array([0, 0, -0.22])
    for side, sign in (("front", 1), ("back", -1)):
        knee = np.array([0.09 * sign, 0, -0.0436])
        robot.link(side, None, hinge(Y), np.zeros(3), knee, 0.1)
        robot.link(f"{side}_shank", side, hinge(Y), knee, toe, 0.15)
    robot.tie("front_shank", "back_shank", toe, Y)
    return robot


def planar_3rrr() -> Robot:
    """A platform on three arms in the horizontal plane."""
    robot = Robot("arm0", "arm1", "arm2")
    for k in range(3):
        base, corner = around(k, 0.5), around(k, 0.12, degrees=-40)
        elbow = (base + corner) / 2 + 0.15 * around(k, 1.0, degrees=90)
        robot.link(f"arm{k}", None, hinge(Z), base, elbow)
        robot.link(f"forearm{k}", f"arm{k}", hinge(Z), elbow, corner)
        if k == 0:
            robot.link("platform", "forearm0", hinge(Z), corner, np.zeros(3), 2.0)
        else:
            robot.tie(f"forearm{k}", "platform", corner, Z)
    return robot


def agile_eye() -> Robot:
    """A camera that turns about a point, on three legs whose axes all meet there."""
    robot = Robot("leg0", "leg1", "leg2")
    axes = [(X, Y, Z), (Y, Z, X), (Z, X, Y)]
    for k, (u, w, v) in enumerate(axes):
        robot.link(f"leg{k}", None, hinge(u), np.zeros(3), 0.1 * (u + w), 0.1)
        robot.link(f"far{k}", f"leg{k}", hinge(w), np.zeros(3), 0.08 * (v - w), 0.1)
        if k == 0:
            robot.link("camera", "far0", hinge(v), np.zeros(3), (0.03, 0.03, 0.03), 0.3)
        else:
            robot.tie(f"far{k}", "camera", 0.08 * v, v)
    return robot


def cassie() -> Robot:
    """Hip, thigh and knee; a rod from the thigh to the tarsus makes the ankle follow."""
    robot = Robot("roll", "pitch", "knee")
    robot.link("roll", None, hinge(X), np.zeros(3), (0, 0, -0.1), 2.0)
    robot.link("pitch", "roll", hinge(Y), (0, 0, -0.1), (0.1, 0, -0.4), 3.0)
    robot.link("knee", "pitch", hinge(Y), (0.1, 0, -0.4), (0.15, 0, -0.8), 1.0)
    robot.link("tarsus", "knee", hinge(Y), (0.15, 0, -0.8), (-0.1, 0, -1.0), 0.8)
    robot.rod("rod", "pitch", (0.02, 0.05, -0.2), (0.05, 0.05, -0.92), "tarsus")
    return robot


def digit() -> Robot:
    """A foot on a universal joint, turned by two cranks on the shin with rods."""
    robot = Robot("hip", "knee", "left", "right")
    robot.link("hip", None, hinge(Y), np.zeros(3), (0, 0, -0.4), 3.0)
    robot.link("knee", "hip", hinge(Y), (0, 0, -0.4), (0, 0, -0.8), 2.0)
    robot.chain("foot", "knee", (Y, X), np.array([0, 0, -0.8]), np.array([0.1, 0, -0.85]), 0.7)
    for side, y in (("left", 0.05), ("right", -0.05)):
        robot.link(side, "knee", hinge(Y, 0.6), (0, y, -0.5), (-0.06, y, -0.5), 0.3)
        robot.rod(f"{side}_rod", side, (-0.06, y, -0.5), (-0.07, y, -0.81), "foot")
    return robot


def tripod() -> Robot:
    """A platform on three slides with rods on hinges and balls (3-PRS): two tilts and a height."""
    robot = Robot("carriage0", "carriage1", "carriage2")
    for k in range(3):
        low, high = around(k, 0.3), around(k, 0.15, 0.5)
        robot.link(f"carriage{k}", None, slide(Z), low, around(k, 0.3, 0.05), 0.5)
        robot.link(f"rod{k}", f"carriage{k}", hinge(around(k, 1.0, degrees=90)), low, high, 0.3)
        if k == 0:
            robot.chain("platform", "rod0", np.eye(3), high, np.array([0, 0, 0.5]), 2.0)
        else:
            robot.tie(f"rod{k}", "platform", high)
    return robot


ROBOTS = (delta, hexapod, wl16, five_bar, minitaur, planar_3rrr, agile_eye, cassie, digit, tripod)
FREEDOMS = {"hexapod": 6, "wl16": 12, "five_bar": 2, "minitaur": 2, "digit": 4}  # of the others 3
LEAST = {  # integrals of squared torques [N2 m2 s, N2 s]
    "delta": 9.30388,
    "hexapod": 2602.959,
    "wl16": 2996.716,
    "five_bar": 0.00912111,
    "minitaur": 7.80855e-6,
    "planar_3rrr": 27.39143,
    "agile_eye": 0.00765380,
    "cassie": 248.1238,
    "digit": 1.484160,
    "tripod": 2.354904,
}
MODELS = (four_bar, slider_crank, parallel_scara)


@cache
def assembled(make: Callable[[], Robot]) -> co.loops.ClosedChain:
    return make().closed()


@pytest.mark.parametrize("make", ROBOTS)
def test_robots_are_assembled_from_neutral_within_a_turn(make: Callable[[], Robot]):
    chain = assembled(make)
    assert co.loops.closure_error(chain, chain.posture[None])[0] < 1e-10
    assert np.abs(co.loops.closure_error(chain, np.zeros((1, chain.model.n_q)))[0]) > 1e-3
    assert np.abs(chain.posture).max() < 2 * np.pi
    assert chain.mobility == FREEDOMS.get(make.__name__, 3)
    assert len(chain.passive) == (6 if make is wl16 else 0)


def off_pinocchio(chain: co.loops.ClosedChain) -> float:
    """Largest relative difference of accelerations under the motors alone and Pinocchio's, in a random motion."""
    rng, evaluator = np.random.default_rng(1), co.loops.ChainEvaluator(chain)
    u, udd = rng.normal(size=(2, chain.mobility))
    undriven = [chain.model.joint_names.index(name) for name in chain.passive]

    def torques(udd: np.ndarray) -> np.ndarray:
        return evaluator.forces(chain.posture, u, udd).tau

    if undriven:  # an acceleration that needs no torque there
        rise = np.array([torques(udd + unit) - torques(udd) for unit in np.eye(chain.mobility)]).T[undriven]
        udd = udd - np.linalg.pinv(rise) @ torques(udd)[undriven]
    motion, tau = evaluator.motion(chain.posture, u, udd), torques(udd)
    assert np.abs(tau[undriven]).max(initial=0.0) < 1e-9
    tau[undriven] = 0.0
    assert {chain.model.joint_names[k] for k in np.flatnonzero(tau)} == set(chain.actuators)
    found = constrained_acceleration(chain, chain.posture, motion.qd, tau)
    return float(np.abs(found - motion.qdd).max() / max(1.0, np.abs(motion.qdd).max()))


@pytest.mark.parametrize("make", [*ROBOTS, *MODELS])
def test_motors_alone_move_robots_as_pinocchio_does(make: Callable[[], Any]):
    assert off_pinocchio(assembled(make) if make in ROBOTS else make()) < 1e-9


def moving(chain: co.loops.ClosedChain, part: Callable[[Any], co.problem.Part]) -> co.Problem:
    """All motors move, by 0.05 rad or m, with the least torque; what nothing drives starts at rest."""
    here = dict(zip(chain.model.joint_names, chain.posture.tolist(), strict=True))
    driven = [name for name in chain.independent if name in chain.actuators]
    goal = {name: here[name] + 0.05 for name in driven}
    return co.Problem(
        model=chain.model,
        parts=[part(chain)],
        duration=0.5,
        minimize=co.integral(lambda now: ca.sumsqr(now.tau)),
        subject_to=[
            co.initial(q={name: here[name] for name in chain.independent}, qd=dict.fromkeys(chain.independent, 0.0)),
            co.final(q=goal, qd=dict.fromkeys(driven, 0.0)),
        ],
    )


@pytest.mark.parametrize("make", ROBOTS)
def test_each_robot_moves_from_rest_to_rest_as_a_simulation_does(make: Callable[[], Robot]):
    chain = assembled(make)
    solution = co.solve(moving(chain, co.loops.IndependentJoints), compile=False)
    assert solution.status == "solved", solution.message
    assert solution.cost == pytest.approx(LEAST[make.__name__], rel=1e-3)
    assert co.loops.closure_error(chain, solution.q).max() < 1e-6
    assert np.abs(solution.q[0] - chain.posture).max() < 1e-6  # no other way to assemble it
    assert co.verify(solution).forward_error < 1e-6
    assert np.abs(solution.tau[:, [chain.model.joint_names.index(name) for name in chain.dependent]]).max() < 1e-6


@pytest.mark.parametrize("make", [planar_3rrr, agile_eye, digit])
def test_cut_loops_lead_to_the_same_motion(make: Callable[[], Robot]):
    """From the assembled posture as well, and as a simulation in which the loops determine their own forces."""
    chain = assembled(make)
    solution = co.solve(moving(chain, co.loops.CutJoints), tol=1e-2, compile=False)
    assert solution.status == "solved", solution.message
    assert solution.cost == pytest.approx(LEAST[make.__name__], rel=1e-4)
    assert np.abs(solution.q[0] - chain.posture).max() < 1e-6
    check = co.verify(solution)
    assert check.forward_error < 1e-4
    assert check.growth < 1e3


def main() -> None:
    """A line for each robot: assembly, dynamics against Pinocchio's, and the motion of least torque, simulated."""
    print(
        f"{'robot':12} joints loops freedoms motors  gap [m]  moved [rad]  Pinocchio  status  cost      s   "
        "simulated off"
    )
    for make in ROBOTS:
        chain, start = assembled(make), time.process_time()
        solution = co.solve(moving(chain, co.loops.IndependentJoints), progress=False)
        seconds, check = time.process_time() - start, co.verify(solution)
        counts = (chain.model.n, len(chain.loops), chain.mobility, len(chain.actuators))
        gap = co.loops.closure_error(chain, chain.posture[None])[0]
        print(
            f"{make.__name__:12} {counts[0]:6} {counts[1]:5} {counts[2]:8} {counts[3]:6}  {gap:.0e}  "
            f"{np.abs(chain.posture).max():11.2f}  {off_pinocchio(chain):9.0e}  {solution.status}  "
            f"{solution.cost:<9.4g} {seconds:<3.0f} {check.forward_error:.0e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
