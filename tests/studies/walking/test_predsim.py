"""PredSim's problem: what its human needs, its mirror, and its cost beside what is computed another way."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.muscles import LengthPolynomial, Muscle, Muscles
from colloc.studies.walking.predsim import DEPTH, SPEED, STEP, Walk, main, power, recorded, walk
from colloc.studies.walking.predsim_human import FIBERS, FILE, WALKING, built_in, falisse, opposite, reflected

PENDULUM = """<OpenSimDocument Version="40000"><Model name="pendulum"><BodySet><objects><Body name="rod"><mass>1</mass>
<mass_center>0 -0.5 0</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects>
<PinJoint name="pivot"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/rod
</socket_child_frame><coordinates><Coordinate name="angle"/></coordinates></PinJoint></objects></JointSet></Model>
</OpenSimDocument>"""


@pytest.fixture(scope="module")
def made() -> Walk:
    return walk(built_in())


def test_the_file_that_is_wanted_is_named(tmp_path):
    with pytest.raises(co.InputError, match=rf"{FILE}.*github.com/KULeuvenNeuromechanics/PredSim.*no file"):
        falisse(str(tmp_path / "nowhere.osim"))
    another = tmp_path / "another.osim"
    another.write_text(PENDULUM, encoding="utf-8")
    with pytest.raises(co.InputError, match="other muscles or joints"):
        falisse(str(another))
    with pytest.raises(co.InputError, match=FILE):
        main(["--quick", "--osim", "nowhere.osim", "--figure", str(tmp_path / "walk.png")])


def test_numbers_are_those_of_46_muscles_and_20_joints_a_side():
    assert len(FIBERS) == 46
    assert len(WALKING) == 20
    assert all(lower < upper and size > 0 for lower, upper, size in WALKING.values())


def test_the_left_muscle_is_the_mirror_image_of_the_right(made: Walk):
    """Of a posture in the mirror it has the length of the other one."""
    joints = ("lumbar_extension", "lumbar_bending", "pelvis_tx")
    powers = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 1], [0, 3, 0]])
    coefficients = np.array([0.3, 0.01, 0.02, -0.03, 0.04, 0.05])
    polynomial = LengthPolynomial(joints, powers, coefficients, np.zeros(3), np.ones(3), 0.0, 0.0)
    right = Muscle("side_r", polynomial, 100.0, 0.1, 0.2)
    left = reflected(right)
    assert left.name == "side_l"
    q, lengths, _ = Muscles(made.walker.model, [right, left]).length_graph
    length = ca.Function("length", [q], [lengths])
    other, sign = made.walker.mirrored
    posture = np.random.default_rng(3).uniform(-1, 1, made.walker.model.n)
    np.testing.assert_allclose(length(sign * posture[other]), length(posture).full()[::-1], atol=1e-12)
    assert [opposite(name) for name in ("hip_flexion_l", "torso")] == ["hip_flexion_r", "torso"]


def test_the_guess_stands_on_the_ground_and_mirrors_itself(made: Walk):
    guess, walker = recorded(made.walker), made.walker
    evaluator = co.Evaluator(walker.model, loads=walker.contact.loads)
    lift = evaluator.torque(guess.q, 0 * guess.q, 0 * guess.q)[:, walker.model.joint_names.index("pelvis_ty")]
    assert (lift < walker.mass * 9.80665).all()  # the ground pushes at every time
    other, sign = walker.mirrored
    end, start = guess.q[-1].copy(), sign * guess.q[0, other]
    assert end[0] == pytest.approx(SPEED * STEP)
    np.testing.assert_allclose(end[2:], start[2:], atol=1e-9)
    assert 0 < DEPTH < min(ball.radius for ball in walker.contact.spheres)


def test_the_cost_is_what_numbers_say_of_it(made: Walk):
    """Terms at one instant, from the fibers and the torques of the joints in NumPy."""
    rng = np.random.default_rng(4)
    now, walker = made.problem.instant, made.walker
    m = len(walker.muscles)
    symbols = [
        now.q, now.qd, now.qdd, now.activation, now.activation_rate, now.tension, now.rate("tension"), now.command,
        now.motor, now.duration,
    ]  # fmt: skip
    values = [
        recorded(walker).q[3], rng.normal(size=31), rng.normal(size=31), rng.uniform(0.1, 0.9, m), rng.normal(size=m),
        rng.uniform(0.1, 0.5, m), rng.normal(size=m), rng.uniform(-1, 1, 13), rng.uniform(-1, 1, 13), 0.5,
    ]  # fmt: skip

    def value(expression: ca.SX) -> np.ndarray:
        return ca.Function("f", symbols, [ca.densify(expression)])(*values).full().ravel()

    found = {
        name: float(value(ca.SX(term.fn(now)))[0])
        for name, (term, _) in made.problem.costs.items()
        if term.fn is not None
    }
    distance = SPEED * 0.5
    assert found["activations"] == pytest.approx(2000 * np.mean(values[3] ** 2) / distance)
    assert found["motors"] == pytest.approx(1e6 * np.mean(values[7] ** 2) / distance)
    sizes, arms = (
        walker.accelerations,
        [k for k, j in enumerate(walker.model.joint_names) if j[:3] in ("arm", "elb", "pro")],
    )
    moved = np.delete(values[2] / sizes, arms)
    assert found["accelerations"] == pytest.approx(5e4 * np.mean(moved**2) / distance)

    fibers, rates = made.muscles.fibers(now), value(power(made.muscles, now))
    velocity, damping = value(fibers.velocity), value(fibers.damping_force)
    shortening = 0.5 - 0.5 * np.tanh(10 * velocity)
    whole = fibers._replace(active_force=fibers.active_force + fibers.damping_force)
    more = value(made.muscles.metabolic_rate(now, whole).work - made.muscles.metabolic_rate(now).work)
    np.testing.assert_allclose(more, -damping * velocity * shortening, atol=1e-12)
    assert found["metabolic rates"] == pytest.approx(500 * np.mean(rates**2) / walker.mass / distance)
