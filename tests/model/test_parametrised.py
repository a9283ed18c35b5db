"""A model whose numbers are parameters is every model of the same build."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import inverse_dynamics, lagrange, lie, newton_euler
from colloc.models.human.human55 import human55
from colloc.models.human.parametrised import parametrised
from colloc.models.human.walker2d import walker2d
from colloc.models.two_link import two_link
from colloc.studies.walking.gait2d import ANKLES
from colloc.studies.walking.problem import problem as step_problem
from colloc.studies.walking.step import Step
from colloc.studies.walking.walk import posed
from tests.support.random_trees import coordinates, evaluate, numbers, random_state, random_tree


def varied(model: co.Model, rng: np.random.Generator) -> co.Model:
    """The same build with other masses, lengths, dampers and markers, zeros where they were."""

    def body(one: co.Body) -> co.Body:
        size, heavy = rng.uniform(0.5, 2.0, size=2)
        joint = one.joint
        before, after = ca.SX(joint.before), ca.SX(joint.after)
        before[:3, 3] *= size
        after[:3, 3] *= size
        damping, armature = joint.passive.damping * heavy, joint.passive.armature * heavy
        passive = replace(joint.passive, damping=damping, armature=armature)
        joint = replace(joint, before=before, after=after, passive=passive)
        inertia = one.inertia * heavy * size**2
        return replace(one, joint=joint, mass=one.mass * heavy, com=one.com * size, inertia=inertia)

    markers = {name: (of, 1.5 * at) for name, (of, at) in model.markers.items()}
    return replace(model, bodies=[body(one) for one in model.bodies], markers=markers)


def lift() -> co.Problem:
    """Two links lifted with least effort."""
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
    return co.Problem(two_link(9.81), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends)


@pytest.mark.parametrize("seed", range(4))
def test_torques_are_those_of_the_model_with_its_own_numbers(seed: int):
    rng = np.random.default_rng(seed)
    model = random_tree(rng)
    arm = co.problem.parametrised(model)
    q, qd, qdd = coordinates(model)
    state = random_state(rng, model)
    for formulation in (newton_euler, lagrange, lie):
        tau = inverse_dynamics(formulation, arm.model, q, qd, qdd)
        function = ca.Function("tau", [q, qd, qdd, arm.numbers.symbol], [tau])
        for other in (model, varied(model, rng)):
            (expected,) = evaluate([inverse_dynamics(formulation, other, q, qd, qdd)], [q, qd, qdd], state)
            found = numbers(function(*state, arm.values(other)["numbers"]))
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_one_program_solves_for_every_arm(tmp_path: Path):
    stated = lift()
    arm = co.problem.parametrised(stated.model)
    once = co.kernels.Compile(threads=1, cache=tmp_path)
    nlp = co.transcribe(replace(stated, model=arm.model, parameters=[arm.numbers]), co.BSpline(12), compile=once)
    rng, built = np.random.default_rng(0), set()
    for _ in range(3):
        other = varied(stated.model, rng)
        found = co.solve(nlp, parameters=arm.values(other))
        expected = co.solve(replace(stated, model=other), co.BSpline(12))
        assert found.status == expected.status == "solved"
        assert found.cost == pytest.approx(expected.cost, rel=1e-7)
        np.testing.assert_allclose(found.q, expected.q, atol=1e-5)
        assert not built or built == set(tmp_path.glob("*.so"))  # nothing is compiled for the second and the third
        built = set(tmp_path.glob("*.so"))
    assert built


def test_sweeps_find_parameters_from_cases():
    stated = lift()
    arm = co.problem.parametrised(stated.model)

    def values(size: float) -> dict[str, np.ndarray]:
        bodies = [replace(body, mass=size * body.mass, inertia=size * body.inertia) for body in stated.model.bodies]
        return arm.values(replace(stated.model, bodies=bodies))

    numbered = replace(stated, model=arm.model, parameters=[arm.numbers])
    guess = co.solve(stated, co.BSpline(12))
    table = co.sweep(numbered, {"size": [1.0, 2.0]}, co.BSpline(12), parameters=values, guess=guess)
    assert table["cost"][0] == pytest.approx(guess.cost, rel=1e-7)
    assert table["iterations"][0] <= 3  # from the guess, which is its optimum
    assert table.solution(1).duration == guess.duration
    assert table.solution(1).nlp is table.solution(0).nlp  # one program for all answers
    with pytest.raises(co.InputError, match="parameters needs a function of the names in cases, got 3"):
        co.sweep(numbered, {"size": [1.0]}, co.BSpline(12), parameters=3)  # pyright: ignore[reportArgumentType]


def test_models_of_another_build_are_refused():
    rod = co.Body("rod", co.revolute(), mass=1.0, com=(0.5, 0, 0))
    arm = co.problem.parametrised(co.Model([rod]))
    rubbing = co.Passive(friction=co.model.Friction(1.0, 0.1))

    def build(body: co.Body) -> co.Model:
        return co.Model([body])

    for other, message in (
        (two_link(), r"bodies must be rod \(rod\), got shoulder \(shoulder\), elbow \(elbow\)"),
        (build(replace(rod, joint=co.prismatic())), "joint of body 'rod' must be of the same kind"),
        (build(replace(rod, joint=co.revolute((0, 1, 0)))), "joint axis of body 'rod'"),
        (build(replace(rod, joint=co.revolute((0, 0, 1), co.placement(rpy=(0.3, 0, 0))))), "rotation of body 'rod'"),
        (build(replace(rod, com=(0.5, 0.1, 0))), "com of body 'rod' is .*zeros stay zero"),
        (build(replace(rod, mass=ca.SX.sym("m"))), "mass of body 'rod' must be numbers"),
        (build(replace(rod, joint=co.revolute(passive=rubbing))), "of the same kind"),
    ):
        with pytest.raises(co.InputError, match=message):
            arm.values(other)
    with pytest.raises(co.InputError, match="model must be a Model"):
        co.problem.parametrised("arm")  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match="no numbers to be parameters"):
        co.problem.parametrised(co.Model([co.Body("empty", co.revolute())]))


def test_a_parametrised_model_in_the_place_of_its_parts_is_refused():
    arm, cost = co.problem.parametrised(two_link()), co.integral(lambda now: ca.sumsqr(now.tau))
    assert repr(arm) == "Parametrised(two-link arm: 10 numbers)"
    for model, parameters, message in (
        (arm, [], "model must be a Model, got Parametrised.*; give its .model, and its .numbers among parameters"),
        (arm.model, [arm], "parameters cannot contain Parametrised.*; give its .numbers"),
    ):
        with pytest.raises(co.InputError, match=message):
            co.Problem(model, 1.0, cost, parameters=parameters)  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match=r"named 'numbers_0, numbers_1, .*, numbers_4, \.\.\.'"):
        co.transcribe(co.Problem(arm.model, 1.0, cost), co.BSpline(8))


def test_humans_of_another_build_are_refused():
    man = walker2d()
    anyone = parametrised(man)
    assert repr(anyone) == f"ParametrisedHuman({man.model.name}: 96 numbers)"
    pelvis, ends = man.landmarks["pelvis"], {name: own for name, own in man.landmarks.items() if name != "pelvis"}
    for other, message in (
        (None, "human must be a Human, got None"),
        (human55(), "bodies must be"),
        (man.strengthless, "torque limits must be of .*, got none"),
        (replace(man, landmarks=ends), "landmarks must be pelvis"),
        (replace(man, landmarks={**man.landmarks, "pelvis": pelvis._replace(at=(0, 0.1, 0))}), "landmark 'pelvis' is"),
    ):
        with pytest.raises(co.InputError, match=message):
            anyone.values(other)  # pyright: ignore[reportArgumentType]


def test_symbols_of_the_users_own_stay():
    payload = co.Unknown("payload", constant=True)
    arm = co.problem.parametrised(co.Model([co.Body("rod", co.revolute(), mass=payload.symbol, com=(0.5, 0, 0))]))
    assert [str(symbol) for symbol in arm.model.symbols] == ["payload", "numbers"]
    assert arm.numbers.value.tolist() == [0.5]


def test_what_is_parametrised_travels():
    arm = co.problem.parametrised(two_link())
    for other in (pickle.loads(pickle.dumps(arm)), copy.deepcopy(arm)):
        assert other.values(two_link(9.81)).keys() == {"numbers"}
        assert str(other.model) == str(arm.model)


@pytest.mark.parametrize("sex", ["male", "female"])
def test_a_parametrised_human_is_anybody(sex: str):
    anyone, somebody = parametrised(human55()), human55(1.63, 58.0, sex)
    values = anyone.values(somebody)
    inputs = [parameter.symbol for parameter in anyone.parameters]
    q, qd, qdd = coordinates(somebody.model)
    state = random_state(np.random.default_rng(1), somebody.model)
    tau = [inverse_dynamics(newton_euler, own.model, q, qd, qdd) for own in (anyone.human, somebody)]
    found = ca.Function("tau", [q, qd, qdd, *inputs], tau[:1])(*state, *values.values())
    (expected,) = evaluate(tau[1:], [q, qd, qdd], state)
    np.testing.assert_allclose(numbers(found), expected, atol=1e-9 * np.abs(expected).max())
    marks, limits = (
        [ca.vertcat(*(x for part in parts for x in part)) for parts in pair]
        for pair in (
            [[point.at for point in own.landmarks.values()] for own in (anyone.human, somebody)],
            [own.torque_limits.values() for own in (anyone.human, somebody)],
        )
    )
    for ours, theirs in (marks, limits, (anyone.human.mass, somebody.mass)):
        seen = ca.Function("seen", inputs, [ca.SX(ours)])(*values.values())
        np.testing.assert_allclose(numbers(seen), numbers(ca.SX(theirs)), rtol=1e-12, atol=0)


def test_the_step_of_a_parametrised_walker_is_that_of_the_walker():
    anyone, somebody = parametrised(walker2d()), walker2d(1.63, 58.0, "female")
    speed, length = co.Parameter("speed", 1.2), co.Parameter("length", 0.6)
    free, curve = posed(Step(anyone.human.ranged(ANKLES), speed=speed.symbol, length=length.symbol), 14)
    own, _ = posed(Step(somebody.ranged(ANKLES), speed=1.1, length=0.58), 14)
    general = co.transcribe(step_problem(free, [*anyone.parameters, speed, length]), curve)
    special = co.transcribe(step_problem(own), curve)
    x = np.random.default_rng(0).normal(scale=0.1, size=special.n_x)
    x[-1] = own.duration
    p = general.problem.parameter_values(anyone.values(somebody) | {"speed": 1.1, "length": 0.58})
    assert float(general.f(x, p)) == pytest.approx(float(special.f(x, [])), rel=1e-10)
    ours, theirs = margins(general, x, p), margins(special, x, np.zeros(0))
    assert set(ours) - set(theirs) == {"duration", "strength"}
    assert len(theirs) > 10
    for name in set(ours) & set(theirs):
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-9, err_msg=name)


def margins(nlp: co.transcription.NLP, x: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    """Distances of all constraints from their bounds, by name."""
    values, (lower, upper) = numbers(nlp.g(x, p)), nlp.bounds_g
    distance = np.where(np.isfinite(lower), values - lower, upper - values)
    return {
        block.name: distance[a:b] for block, a, b in zip(nlp.constraints, nlp.offsets, nlp.offsets[1:], strict=False)
    }


def test_guesses_of_sweeps_are_looked_at_before():
    stated, curve = lift(), co.BSpline(12)
    weighed = replace(stated, parameters=[co.Parameter("nothing", 0.0)])
    single = co.solve(co.Problem(co.Model(stated.model.bodies[:1]), 1.0), co.BSpline(5))
    cases = {"nothing": [0.0]}
    for problem, guess, message in (
        (weighed, {1.0, 2.0}, "guess must be co.line"),
        (weighed, {"phase": None}, "guess must be a single motion, as the problem has no phases"),
        (weighed, single, "guess is a motion of the joints shoulder, the problem has the joints shoulder, elbow"),
        (lambda nothing: stated, {1.0}, "guess must be as for solve"),
    ):
        with pytest.raises(co.InputError, match=message):
            co.sweep(problem, cases, curve, guess=guess)
    posture = co.line((0.0, -2.0), (1.0, -1.0))
    assert co.sweep(weighed, cases, curve, guess=posture).failed.size == 0


def test_a_folder_is_of_one_guess(tmp_path: Path):
    weighed = replace(lift(), parameters=[co.Parameter("nothing", 0.0)])
    cases, curve, posture = {"nothing": [0.0]}, co.BSpline(12), co.line((0.0, -2.0), (1.0, -1.0))
    first = co.sweep(weighed, cases, curve, guess=posture, folder=tmp_path)
    assert (co.sweep(weighed, cases, curve, guess=posture, folder=tmp_path).table == first.table).all()
    with pytest.raises(co.InputError, match="holds another sweep, which differs in guess"):
        co.sweep(weighed, cases, curve, guess=first.solution(0), folder=tmp_path)


def test_every_number_has_a_name_and_a_unit():
    slide = co.Body("cart", co.prismatic(passive=co.Passive(damping=2.0, armature=0.3)), mass=3.0)
    spring = co.revolute(passive=co.Passive(stiffness=5.0))
    rod = co.Body("rod", spring, mass=1.5, com=(0.1, 0, 0), inertia=(0, 0.4, 0.4))
    arm = co.problem.parametrised(co.Model([slide, rod], gravity=(0, 0, 0), markers={"tip": ("rod", (0.2, 0, 0))}))
    listed = dict(zip(arm.names, zip(arm.numbers.value.tolist(), arm.units, strict=True), strict=True))
    assert listed == {
        "mass of body 'cart'": (3.0, "kg"),
        "damping of joint 'cart'": (2.0, "N s/m"),
        "armature of joint 'cart'": (0.3, "kg"),
        "mass of body 'rod'": (1.5, "kg"),
        "com of body 'rod' [x]": (0.1, "m"),
        "inertia of body 'rod' [yy]": (0.4, "kg m2"),
        "inertia of body 'rod' [zz]": (0.4, "kg m2"),
        "stiffness of joint 'rod'": (5.0, "N m/rad"),
        "point of marker 'tip' [x]": (0.2, "m"),
    }
