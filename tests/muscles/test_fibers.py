"""Fibers and tendons: OpenSim's numbers, what they must balance, and what stiff tendons become."""

import json

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.muscles.fibers import Numbers, imbalance, with_compliant_tendon, with_rigid_tendon
from colloc.muscles.metabolics import metabolic_rate, muscle_masses
from tests.support.opensim import needs_opensim, run_opensim

MUSCLE = co.muscles.Muscle("muscle", lambda now: now.q[0], 1000.0, 0.1, 0.2, 0.3)
NUMBERS = Numbers([MUSCLE])

# OpenSim 4.6, DeGrooteFregly2016Muscle with these numbers and a rigid tendon.
REFERENCES = [  # path [m], its rate [m/s], activation, tendon force [N]
    (0.30458731811250184, -0.18417062898890377, 0.060154053457470796, 62.32095392094863),
    (0.26115693448699706, 0.25061619136021795, 0.9145004657321673, 712.6679551079234),
    (0.3024645043037026, 0.18359724878719874, 0.5527524916361144, 717.1905544418782),
    (0.3254550696651438, 0.2526828432972258, 0.022683730166745134, 143.30562842612972),
    (0.32001829936112985, -0.3731315397556285, 0.7350623375013452, 258.9965182145552),
]

OPENSIM = """
import json
rng = np.random.default_rng(0)
model = osim.Model()
body = osim.Body("body", 1.0, osim.Vec3(0), osim.Inertia(1))
model.addComponent(body)
joint = osim.SliderJoint("joint", model.getGround(), body)
model.addComponent(joint)
muscle = osim.DeGrooteFregly2016Muscle()
muscle.setName("muscle")
muscle.set_max_isometric_force(1000.0)
muscle.set_optimal_fiber_length(0.1)
muscle.set_tendon_slack_length(0.2)
muscle.set_pennation_angle_at_optimal(0.3)
muscle.set_fiber_damping(0.01)
muscle.set_ignore_tendon_compliance(True)
muscle.set_ignore_activation_dynamics(True)
muscle.addNewPathPoint("origin", model.updGround(), osim.Vec3(0))
muscle.addNewPathPoint("insertion", body, osim.Vec3(0))
model.addComponent(muscle)
rate = osim.Bhargava2004SmoothedMuscleMetabolics()
rate.setName("rate")
rate.set_use_smoothing(True)
rate.set_use_force_dependent_shortening_prop_constant(True)
rate.set_include_negative_mechanical_work(False)
rate.addMuscle("muscle", muscle)
model.addComponent(rate)
state = model.initSystem()
rows = []
for _ in range(20):
    x, v, a = rng.uniform(0.26, 0.33), rng.uniform(-0.4, 0.4), rng.uniform(0.02, 1.0)
    joint.updCoordinate().setValue(state, x, False)
    joint.updCoordinate().setSpeedValue(state, v)
    model.realizeVelocity(state)
    controls = model.updControls(state)
    controls.set(0, a)
    model.setControls(state, controls)
    model.realizeDynamics(state)
    rows.append([
        x, v, a, muscle.getFiberLength(state), muscle.getFiberVelocity(state), muscle.getActuation(state),
        muscle.getActiveFiberForce(state), rate.getTotalActivationRate(state), rate.getTotalMaintenanceRate(state),
        rate.getTotalShorteningRate(state), rate.getTotalMechanicalWorkRate(state),
        rate.getMuscleMetabolicRate(state, "/muscle"),
    ])
print(json.dumps(rows))
"""


def number(value: ca.SX) -> float:
    return float(ca.evalf(value))


@needs_opensim
def test_fibers_and_metabolic_rates_are_those_of_opensim(tmp_path):
    rows = json.loads(run_opensim(OPENSIM, tmp_path).strip().splitlines()[-1])
    short = 0
    for x, v, a, length, velocity, force, active, activation, maintenance, shortening, work, total in rows:
        fibers = with_rigid_tendon(NUMBERS, ca.SX(a), ca.SX(x), ca.SX(v))
        rate = metabolic_rate(NUMBERS, fibers, ca.SX(a))
        pairs = [
            (fibers.length, length), (fibers.velocity, velocity), (fibers.tendon_force, force),
            (fibers.active_force, active), (rate.activation, activation), (rate.work, work),
        ]  # fmt: skip
        if length < 0.1:  # where heat of maintenance grows with the length in both
            short += 1
            pairs += [(rate.maintenance, maintenance), (rate.shortening, shortening), (rate.total, total)]
        for value, reference in pairs:
            assert number(value) == pytest.approx(reference, rel=1e-10, abs=1e-10)
    assert short >= 5


def test_fibers_are_as_opensim_had_them():
    for x, v, a, force in REFERENCES:
        fibers = with_rigid_tendon(NUMBERS, ca.SX(a), ca.SX(x), ca.SX(v))
        assert number(fibers.tendon_force) == pytest.approx(force, rel=1e-11)


def test_power_goes_from_fibers_and_tendon_to_the_path():
    """Where the forces agree, what fibers and tendon deliver leaves by the path; tendon power is that of its energy."""
    tension, rate = ca.SX.sym("tension"), ca.SX.sym("rate")
    fibers = with_compliant_tendon(NUMBERS, ca.SX(0.6), ca.SX(0.31), ca.SX(-0.2), tension, rate)
    energy = NUMBERS.force * NUMBERS.slack * NUMBERS.curve("tendon_energy", tension)
    balance = fibers.fiber_power + fibers.tendon_power + fibers.tendon_force * fibers.path_velocity
    values = ca.Function("values", [tension, rate], [
        imbalance(NUMBERS, fibers), balance, fibers.tendon_power + ca.jacobian(energy, tension) * rate,
    ])  # fmt: skip
    solve = ca.rootfinder("solve", "newton", {"x": rate, "p": tension, "g": imbalance(NUMBERS, fibers)})
    for tension_value in (0.3, 0.5):
        balanced = solve(x0=0.0, p=tension_value)["x"]
        gap, power, stored = (float(value) for value in values(tension_value, balanced))
        assert abs(gap) < 1e-10
        assert abs(power) < 1e-7  # W
        assert abs(stored) < 1e-9  # W


def test_muscles_with_different_curves_have_each_its_own():
    """Those with the same curves are evaluated together, in whatever order they stand."""
    wide = co.muscles.OPENSIM.with_active(width=1.5)
    curves = (co.muscles.OPENSIM, wide, co.muscles.OPENSIM.with_passive(strain=0.7), wide, co.muscles.OPENSIM)
    muscles = [
        co.muscles.Muscle(f"m{k}", lambda now: now.q[0], 1000.0, 0.1, 0.2, 0.3, curves=its)
        for k, its in enumerate(curves)
    ]
    lengths = np.array([0.8, 0.9, 1.1, 1.3, 1.4])
    symbols = ca.SX.sym("length", 5)
    for name in ("active_force", "passive_force"):
        column = ca.Function("column", [symbols], [Numbers(muscles).curve(name, symbols)])(lengths).full().ravel()
        alone = [getattr(its, name)(length) for its, length in zip(curves, lengths.tolist(), strict=True)]
        assert column.tolist() == pytest.approx(alone, rel=1e-14, abs=1e-16)


def test_a_stiff_tendon_is_a_rigid_one():
    x, v, a = ca.SX(0.3), ca.SX(-0.1), ca.SX(0.5)
    rigid = number(with_rigid_tendon(NUMBERS, a, x, v).tendon_force)
    differences = []
    for strain in (1e-2, 1e-3, 1e-4):
        curves = co.muscles.OPENSIM.with_tendon(strain=strain)
        numbers = Numbers([co.muscles.Muscle("stiff", lambda now: now.q[0], 1000.0, 0.1, 0.2, 0.3, curves=curves)])
        tension = ca.SX.sym("tension")
        still = with_compliant_tendon(numbers, a, x, v, tension, ca.SX(0))
        solve = ca.rootfinder("solve", "newton", {"x": tension, "g": imbalance(numbers, still)})
        differences.append(abs(1000 * float(solve(x0=rigid / 1000)["x"]) - rigid))
    assert differences[2] < 0.1  # N
    assert differences[0] / differences[1] > 8
    assert differences[1] / differences[2] == pytest.approx(10, rel=0.1)


def test_masses_and_least_heat():
    mass = number(muscle_masses(NUMBERS))
    assert mass == pytest.approx(1000 * 0.1 * 1059.7 / 0.25e6)
    resting = with_rigid_tendon(NUMBERS, ca.SX(0.0), ca.SX(0.29), ca.SX(0.0))
    rate = number(metabolic_rate(NUMBERS, resting, ca.SX(0.0)).total)
    assert rate == pytest.approx(mass, rel=1e-2)  # 1 W for each kilogram
