"""Thrusters, cables, wheels and grips against closed forms, MuJoCo, and problems put together by hand."""

import pickle
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.plot.recording import load_arrows
from colloc.problem import Cable, Cables, Grip, Thruster, Thrusters, Wheel, Wheels
from colloc.storage.fingerprint import differences, fingerprint

WEIGHT, FORCE = 9.81, 6.0  # N, N
ARM = 0.2  # m
QUIET: dict[str, Any] = {"progress": False}


def planar(inertia: float = 0.1) -> list[co.Body]:
    """A body in the plane of x and y."""
    slides = [co.Body("x", co.prismatic((1, 0, 0))), co.Body("y", co.prismatic((0, 1, 0)), "x")]
    return [*slides, co.Body("hull", co.revolute(), "y", mass=1.0, inertia=(inertia,) * 3)]


def model_of(bodies: list[co.Body], gravity: float = 0.0) -> co.Model:
    return co.Model(bodies, gravity=(0, -gravity, 0))


def rotors(upper: float = FORCE) -> Thrusters:
    """Two rotors of a planar drone."""
    return Thrusters([Thruster(n, "hull", (0, 1, 0), (x, 0, 0), upper=upper) for n, x in (("l", -ARM), ("r", ARM))])


def rise(parts: list[co.problem.Part], loads: Any = (), unknowns: Any = (), rows: Any = ()) -> co.Problem:
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=(1.0, 0.5, 0.0), qd=0.0)]
    least = co.integral(lambda now: ca.sumsqr(now.thrust))
    return co.Problem(model_of(planar(0.02), WEIGHT), 1.5, least, [*ends, *rows], unknowns, loads=loads, parts=parts)


@pytest.fixture(scope="module")
def risen() -> co.Solution:
    return co.solve(rise([rotors()]), co.Radau(10), **QUIET)


def test_thrusters_are_the_loads_and_signals_that_one_would_write(risen: co.Solution):
    thrust = co.Unknown("thrust", 2, 0.0, FORCE)
    loads = [
        co.Load("hull", lambda now, k=k: now.rotation("hull")[:, 1] * now.thrust[k], point=(x, 0, 0))
        for k, x in enumerate((-ARM, ARM))
    ]
    passive = co.bounds(tau=dict.fromkeys(("x", "y", "hull"), (0.0, 0.0)))
    by_hand = co.solve(rise([], loads, [thrust], [passive]), co.Radau(10), **QUIET)
    assert risen.status is co.solver.Status.SOLVED
    assert risen.cost == pytest.approx(by_hand.cost, rel=1e-7)
    assert risen.problem.passive == ("x", "y", "hull")
    np.testing.assert_allclose(risen.at(0.7).thrust, by_hand.at(0.7).thrust, atol=1e-5)


def test_they_are_named_drawn_saved_and_sent(risen: co.Solution, tmp_path: Path):
    assert risen.problem.parts[0].contribution().unknowns[0].labels == ("thrust[l]", "thrust[r]")
    arrows = load_arrows(risen, np.linspace(0.0, 1.5, 5))
    assert [(arrow.name, arrow.unit) for arrow in arrows] == [("load on hull", "N")] * 2
    assert "thrust" in " ".join(axes.get_ylabel() + axes.get_title() for axes in co.plot.signals(risen).figure.axes)
    co.save(risen, tmp_path / "risen.npz")
    np.testing.assert_array_equal(co.load(tmp_path / "risen.npz", rise([rotors()])).x, risen.x)
    assert differences(fingerprint(pickle.loads(pickle.dumps(rise([rotors()])))), fingerprint(rise([rotors()]))) == []


def test_a_bound_of_a_thruster_is_explained_and_differentiated():
    """The price of the bound on a rotor against differences."""

    def cost(upper: float) -> co.Solution:
        return co.solve(rise([rotors(upper)]), co.Radau(6), **QUIET)

    tight = cost(FORCE)
    rows = [limit.row for limit in co.optimality.explain(tight).limits]
    assert any(row.startswith("thrust") for row in rows)
    table = co.optimality.sensitivity(tight, "thrust")
    prices = [table[number.name].cost for number in table.derivatives if "upper" in number.name]
    step = 1e-3
    difference = (cost(FORCE + step).cost - cost(FORCE - step).cost) / (2 * step)
    assert sum(prices) == pytest.approx(difference, rel=1e-2)


def test_rotors_lift_and_turn_as_in_mujoco():
    """Four rotors with drag on a free body: accelerations of MuJoCo's general actuators."""
    mujoco = pytest.importorskip("mujoco")
    places = {"a": (ARM, 0, 0), "b": (0, ARM, 0), "c": (-ARM, 0, 0), "d": (0, -ARM, 0)}
    ratios = dict(zip(places, (0.02, -0.02, 0.02, -0.02), strict=True))
    sites = "".join(f'<site name="{n}" pos="{x} {y} {z}"/>' for n, (x, y, z) in places.items())
    motors = "".join(f'<motor site="{n}" gear="0 0 1 0 0 {ratios[n]}"/>' for n in places)
    world = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><freejoint/><inertial pos="0 0 0" mass="1.2" diaginertia="0.01 0.02 0.03"/>{sites}'
        f"</body></worldbody><actuator>{motors}</actuator></mujoco>"
    )
    data = mujoco.MjData(world)
    quaternion = np.array([0.8, 0.2, -0.4, 0.4])
    data.qpos, data.qvel = [0, 0, 1, *quaternion], [0.1, 0.2, 0.3, 0.4, -0.5, 0.6]
    data.ctrl = [3.0, 2.0, 1.0, 4.0]
    mujoco.mj_forward(world, data)

    hull = co.floating("hull", sequence="quaternion", mass=1.2, inertia=(0.01, 0.02, 0.03))
    model = co.Model(hull, gravity=(0, 0, -9.81))
    each = [Thruster(n, "hull", (0, 0, 2), at, moment_per_force=ratios[n]) for n, at in places.items()]
    problem = co.Problem(model, 1.0, parts=[Thrusters(each)])
    now = problem.instant
    tau = co.dynamics.inverse_dynamics(
        co.dynamics.newton_euler, model, now.q, now.qd, now.qdd, [load.at(now) for load in problem.all_loads]
    )
    residual = ca.Function("tau", [now.q, now.qd, now.qdd, now.thrust], [tau])
    torque = residual([0, 0, 1, *quaternion], data.qvel, data.qacc, data.ctrl)
    np.testing.assert_allclose(np.asarray(torque).ravel(), 0.0, atol=1e-9)
    assert set(problem.passive) == set(model.joint_names)


def test_cables_between_two_bodies_pull_both():
    """Two masses on a slide, reeled in from rest in the shortest time: sqrt(2 d / (F / m1 + F / m2))."""
    slides = [co.Body(n, co.prismatic((1, 0, 0)), mass=m) for n, m in (("left", 1.0), ("right", 3.0))]
    pull = Cables([Cable("tether", "left", (0, 0, 0), (0, 0, 0), "right", upper=2.0)])
    ends = [co.initial(q=(0.0, 4.0), qd=0.0), co.at(1.0, lambda now: now.q[1] - now.q[0], equals=1.0)]
    reeled = co.Problem(model_of(slides), co.Free(0.1, 9.0), co.duration(), ends, parts=[pull])
    solution = co.solve(reeled, co.Radau(4), **QUIET)
    assert solution.duration == pytest.approx((2 * 3.0 / (2.0 / 1.0 + 2.0 / 3.0)) ** 0.5, rel=1e-6)
    np.testing.assert_allclose(solution.at(solution.duration).q.ravel() @ [1.0, 3.0], 12.0, atol=1e-8)  # momentum
    np.testing.assert_allclose(solution.evaluate(pull.lengths, [0.0, solution.duration]).ravel(), [4.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(solution.signals["cable_length"][0], 4.0, atol=1e-8)


def test_a_cable_robot_moves_in_shortest_time_and_within_a_length():
    """A mass between two winches: bang-bang; a shorter cable does not reach."""

    def pulled(longest: float) -> co.Problem:
        mass = model_of([co.Body("mass", co.prismatic((1, 0, 0)), mass=1.0)])
        pull = [Cable(n, "mass", (0, 0, 0), (x, 0, 0), upper=4.0, longest=longest) for n, x in (("l", -2), ("r", 2))]
        ends = [co.initial(q=-1.0, qd=0.0), co.final(q=1.0, qd=0.0)]
        return co.Problem(mass, co.Free(0.1, 9.0), co.duration(), ends, parts=[Cables(pull)])

    assert co.solve(pulled(4.0), **QUIET).duration == pytest.approx(2 * (2 / 4.0) ** 0.5, rel=1e-4)
    with pytest.raises(co.SolveError):
        co.solve(pulled(2.5), co.Radau(4), **QUIET)


def test_two_wheels_on_an_axle_forbid_one_slip():
    model = model_of(planar())
    sides = [Wheel(n, "hull", (0, 1, 0), (0, y, 0)) for n, y in (("left", 0.3), ("right", -0.3))]
    front = Wheel("front", "hull", (0, 1, 0), (1.0, 0, 0))
    assert Wheels(model, sides).rows == ("left side",)
    assert Wheels(model, [*sides, front]).rows == ("left side", "front side")  # it then goes straight only


RADIUS, TRACK, HUB = 0.1, 0.3, 0.02  # m, m (half of it), kg m2


def two_wheeled() -> tuple[co.Model, Wheels]:
    """A platform whose two wheels turn."""
    hubs = [
        co.Body(name, co.revolute((0, 1, 0), co.placement((0, y, 0))), "hull", mass=0.5, inertia=(HUB,) * 3)
        for name, y in (("left", TRACK), ("right", -TRACK))
    ]
    model = co.Model([*planar(), *hubs], gravity=(0, 0, 0))
    return model, Wheels(model, [Wheel(name, name, (0, 1, 0), radius=RADIUS) for name in ("left", "right")])


def test_rolling_wheels_move_a_platform_by_their_turns():
    """Straight ahead, the fastest: mass and wheels as one inertia; the turns are the way over the radius."""
    model, wheels = two_wheeled()
    assert wheels.rows == ("left side", "left ahead", "right ahead")
    motors = co.Motors(dict.fromkeys(("left", "right"), 0.5))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q={"x": 2.0, "y": 0.0, "hull": 0.0}, qd={"x": 0.0, "hull": 0.0})]
    ahead = co.Problem(model, co.Free(0.5, 9.0), co.duration(), ends, parts=[wheels, motors])
    solution = co.solve(ahead, co.Radau(10), **QUIET)
    inertia = 2.0 + 2 * HUB / RADIUS**2
    assert solution.duration == pytest.approx(2 * (2.0 * inertia / (2 * 0.5 / RADIUS)) ** 0.5, rel=2e-3)
    np.testing.assert_allclose(solution.q[-1, 3:], 2.0 / RADIUS, rtol=1e-6)
    t = np.linspace(0.0, solution.duration, 101)
    assert np.abs(solution.evaluate(wheels.slip, t)).max() < 1e-4


def test_a_grip_limits_shear_and_friction():
    """A box under a cup, moved by one meter: 2 sqrt(d / a) with the acceleration that the cup allows."""

    def swift(**limits: Any) -> float:
        cart = co.Body("cart", co.prismatic((1, 0, 0)), mass=1.0)
        box = co.Body("box", co.fixed(), "cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
        model = co.Model([cart, box], gravity=(0, -9.81, 0))
        cup = Grip("box", (0, 1, 0), **limits)
        ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
        return co.solve(
            co.Problem(model, co.Free(0.1, 5.0), co.duration(), ends, parts=[cup]), co.Radau(4), **QUIET
        ).duration

    assert swift(pull=60.0, shear=8.0) == pytest.approx(2 * (1 / 4.0) ** 0.5, rel=1e-4)
    spare = 0.5 * (60.0 - 2.0 * 9.81)
    assert swift(pull=60.0, friction=0.5) == pytest.approx(2 * (1 / (spare / 2.0)) ** 0.5, rel=1e-4)


def test_a_cup_too_weak_is_named():
    cart = co.Body("cart", co.prismatic((1, 0, 0)), mass=1.0)
    model = co.Model([cart, co.Body("box", co.fixed(), "cart", mass=2.0)])
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    weak = co.Problem(model, 1.0, co.integral(lambda now: now.tau**2), ends, parts=[Grip("box", (0, 1, 0), pull=10.0)])
    with pytest.raises(co.SolveError, match="grip along the normal"):
        co.solve(weak, co.Radau(4), **QUIET)


def test_instants_carry_the_signals_of_parts():
    pull = Cables([Cable(n, "hull", (0, 0, 0), (x, 0, 0), lower=0.1) for n, x in (("l", -2), ("r", 2))])
    problem = co.Problem(model_of(planar()), 1.0, parts=[pull])
    now = problem.instant
    assert ca.is_equal(now.cable_length, pull.lengths(now), 20)
    assert "cable_length" in dir(now)
    with pytest.raises(AttributeError, match="did you mean 'cable_length'"):
        _ = now.cable_lengths
    cup = Grip("hull", (0, 1, 0), pull=1.0, name="cable_length")
    with pytest.raises(co.InputError, match="two unknowns, parameters or signals of parts are named 'cable_length'"):
        co.Problem(model_of(planar()), 1.0, parts=[pull, cup])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Thruster("a", "hull", (0, 0, 0)), "direction of thruster 'a' must not be zero"),
        (lambda: Thrusters([]), "one or more"),
        (lambda: Thrusters([Thruster("a", "hull", (0, 1, 0))] * 2), "different names"),
        (lambda: Cable("a", "hull", (0, 0, 0), (1, 0, 0), lower=-1.0), "lower tension of cable 'a'"),
        (lambda: Cable("a", "hull", (0, 0, 0), (1, 0, 0), "hull"), "both ends of cable 'a'"),
        (lambda: Wheel("a", "hull", (0, 1, 0), radius=0.0), "radius of wheel 'a'"),
        (lambda: Grip("box", (0, 1, 0), friction=0.5), "give pull"),
        (lambda: rise([Thrusters([Thruster("a", "hul", (0, 1, 0))])]), "hul"),
    ],
)
def test_mistakes_are_named(make: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        make()
