"""Polynomials in place of paths: errors that are true, terms that are needed, ranges that are there."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.muscles.path import symbolic_instant

MODEL = two_link()
V = co.muscles.ViaPoint
RANGES = {"shoulder": (-0.5, 1.2), "elbow": (0.0, 2.2)}


def muscle(path: Callable[[Any], Any]) -> co.muscles.Muscle:
    return co.muscles.Muscle("muscle", path, 1000.0, 0.1, 0.2)


def two_joint() -> co.muscles.Muscle:
    return muscle(
        co.muscles.MusclePath([V(None, (-0.1, 0.05, 0)), V("shoulder", (-0.25, 0.04, 0)), V("elbow", (-0.3, 0.03, 0))])
    )


def test_errors_are_those_at_other_postures():
    original = two_joint()
    [fitted] = co.muscles.fit_lengths(MODEL, [original], RANGES)
    assert fitted.path.joints == ("shoulder", "elbow")
    now = symbolic_instant(MODEL)
    difference = fitted.path(now) - original.path(now)
    f = ca.Function("f", [now.q], [ca.vertcat(difference, ca.jacobian(difference, now.q).T)])
    q = np.random.default_rng(7).uniform(*np.transpose(list(RANGES.values())), size=(3000, 2))
    rms = np.sqrt(np.mean(np.square(f.map(3000)(q.T).full()), axis=1))
    assert rms[0] == pytest.approx(fitted.path.length_error, rel=0.1)
    assert rms[1:].max() == pytest.approx(fitted.path.moment_arm_error, rel=0.1)
    assert rms.max() < 1e-3


def test_a_polynomial_is_recovered_and_nothing_added():
    [fitted] = co.muscles.fit_lengths(MODEL, [muscle(lambda now: 0.4 - 0.03 * now.q[1] + 0.01 * now.q[1] ** 3)], RANGES)
    assert fitted.path.joints == ("elbow",)
    assert len(fitted.path.powers) <= 4
    now = symbolic_instant(MODEL)
    value = ca.Function("f", [now.q], [fitted.path(now)])
    assert float(value([0.0, 1.3])) == pytest.approx(0.4 - 0.03 * 1.3 + 0.01 * 1.3**3, abs=3e-3)


def test_tighter_tolerances_take_more_terms():
    sizes = []
    for tolerance in (2e-3, 2e-4, 2e-5):
        [fitted] = co.muscles.fit_lengths(
            MODEL, [two_joint()], RANGES, length_tolerance=tolerance, moment_arm_tolerance=tolerance
        )
        assert max(fitted.path.length_error, fitted.path.moment_arm_error) <= tolerance
        sizes.append(len(fitted.path.powers))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_polynomials_of_a_degree_and_more_that_keep_their_terms():
    """As many as there are products of up to so many factors, of a length that a lower degree would meet."""
    shape = muscle(lambda now: 0.4 - 0.03 * now.q[1] + 0.01 * now.q[0])
    [fitted] = co.muscles.fit_lengths(MODEL, [shape], RANGES, min_degree=3, thin=False)
    assert len(fitted.path.powers) == 10
    assert fitted.path.powers.sum(axis=1).max() == 3
    assert fitted.path.moment_arm_error < 1e-12
    with pytest.raises(co.InputError, match="min_degree"):
        co.muscles.fit_lengths(MODEL, [shape], RANGES, min_degree=4, max_degree=3)


def test_misuse():
    with pytest.raises(co.InputError, match="crosses 'shoulder', which needs a range or limits"):
        co.muscles.fit_lengths(MODEL, [two_joint()], {"elbow": (0.0, 2.0)})
    with pytest.raises(co.InputError, match="joint that moves"):
        co.muscles.fit_lengths(MODEL, [two_joint()], {"knee": (0.0, 2.0)})
    with pytest.raises(co.InputError, match="is no polynomial of degree 2 to 1e-06 m"):
        co.muscles.fit_lengths(MODEL, [two_joint()], RANGES, length_tolerance=1e-6, max_degree=2)


def test_samples_of_a_length_give_what_the_path_gives():
    """A table that another program might have made, against the polynomial fitted to the path itself."""
    original = two_joint()
    q, rng = ca.SX.sym("q", 2), np.random.default_rng(3)
    length = co.muscles.path_lengths(MODEL, [original], q)
    postures = np.array(list(RANGES.values())).T
    samples = rng.uniform(postures[0], postures[1], (600, 2))
    table = ca.Function("f", [q], [ca.vertcat(length, -ca.jacobian(length, q).T)]).map(600)(samples.T).full()
    fitted = co.muscles.fit_samples(["shoulder", "elbow"], samples, table[0], table[1:].T)
    [expected] = co.muscles.fit_lengths(MODEL, [original], RANGES)
    assert max(fitted.length_error, fitted.moment_arm_error) < 1e-3
    now = symbolic_instant(MODEL)
    both = ca.Function("both", [now.q], [ca.vertcat(fitted(now), expected.path(now))])
    other = rng.uniform(postures[0], postures[1], (100, 2))
    values = both.map(100)(other.T).full()
    np.testing.assert_allclose(values[0], values[1], atol=4e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": np.zeros((20, 1))}, "'elbow' must move in q"),
        (
            {"q": np.zeros((4, 1)), "lengths": np.zeros(4), "moment_arms": np.zeros((4, 1))},
            "10 postures or more, got 4",
        ),
        ({"lengths": np.zeros(19)}, "lengths must"),
        ({"joints": "elbow"}, "joints must"),
        ({"lengths": np.random.default_rng(0).random(20)}, "is no polynomial"),
    ],
)
def test_samples_that_are_none_are_refused(changes: dict[str, Any], message: str):
    q = np.linspace(0.0, 1.0, 20)[:, None]
    arguments = {"joints": ["elbow"], "q": q, "lengths": 0.2 - 0.01 * q[:, 0], "moment_arms": np.full((20, 1), 0.01)}
    with pytest.raises(co.InputError, match=message):
        co.muscles.fit_samples(**(arguments | changes))


def test_mirror_images_share_a_polynomial():
    """The same muscle where one joint bends the other way, with the range of that joint mirrored."""
    bent = muscle(lambda now: 0.4 - 0.03 * ca.sin(now.q[0]) * (1 + 0.2 * now.q[1]))
    mirrored = co.muscles.Muscle("other", lambda now: bent.path(replace(now, q=now.q * ca.SX([-1, 1]))), 1.0, 0.1, 0.2)
    ranges = {"shoulder": (-0.7, 0.7), "elbow": (0.0, 2.2)}
    one, other = co.muscles.fit_lengths(MODEL, [bent, mirrored], ranges)
    [alone] = co.muscles.fit_lengths(MODEL, [mirrored], ranges)
    now = symbolic_instant(MODEL)
    f = ca.Function("f", [now.q], [one.path(now), other.path(now), mirrored.path(now), alone.path(now)])
    assert other.path.length_error == one.path.length_error
    assert other.path.line is mirrored.path
    for q in np.random.default_rng(1).uniform((-0.7, 0.0), (0.7, 2.2), (5, 2)):
        left, right, true, alike = (float(value) for value in f(q))
        assert right == pytest.approx(float(f(q * [-1, 1])[0]), abs=1e-12)
        assert abs(right - true) < 5e-3
        assert abs(alike - true) < 5e-3
        assert left != right


def test_muscles_that_no_polynomial_fits_keep_their_paths_if_asked():
    kinked = muscle(lambda now: 0.4 - 0.03 * ca.fabs(now.q[1] - 1.0))
    with pytest.raises(co.InputError, match="is no polynomial of degree 5"):
        co.muscles.fit_lengths(MODEL, [two_joint(), kinked], RANGES, max_degree=5)
    straight = co.muscles.Muscle("straight", two_joint().path, 1.0, 0.1, 0.2)
    with pytest.warns(co.support.InputWarning, match=r"1 of 2 muscles keep their paths, .*: muscle \("):
        fitted, kept = co.muscles.fit_lengths(MODEL, [straight, kinked], RANGES, max_degree=5, keep=True)
    assert isinstance(fitted.path, co.muscles.LengthPolynomial)
    assert kept is kinked


def test_a_bar_counts_the_muscles(capsys):
    co.muscles.fit_lengths(MODEL, [two_joint()], RANGES, progress=True)
    assert "fit_lengths" in capsys.readouterr().err
