"""Weights of a cost from the motions that are best for it."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.optimality import stationarity
from colloc.optimality.stationarity import _combined, least_combination

TERMS = {
    "torque": (1.0, lambda now: ca.sumsqr(now.tau)),
    "shoulder speed": (3.0, lambda now: now.qd[0] ** 2),
    "elbow speed": (2.0, lambda now: now.qd[1] ** 2),
    "power": (0.3, lambda now: ca.sumsqr(now.tau * now.qd)),
    "hand": (0.05, lambda now: ca.sumsqr(now.point("elbow").acceleration)),
    "comfort": (20.0, lambda now: (now.q[1] + 1.5) ** 2),
    "height": (50.0, lambda now: now.point("elbow").position[1] ** 2),
}
TRUE = np.array([weight for weight, _ in TERMS.values()])
REACHES = {
    "up": ((0.0, -2.0), (1.0, -1.0), 0.8),
    "across": ((0.5, -1.0), (1.5, -2.0), 0.8),
    "far": ((-1.0, -0.5), (0.5, -1.5), 1.0),
    "down": ((1.0, -2.0), (-0.5, -0.5), 1.0),
}
NOTHING = co.problem.Cost(())
CURVE = co.BSpline(12)


def cost(weights: np.ndarray) -> co.problem.Cost:
    columns = zip(weights.tolist(), TERMS.items(), strict=True)
    return sum((w * co.integral(fn, name=name) for w, (name, (_, fn)) in columns), start=NOTHING)


def reach(name: str, minimize: co.problem.Cost) -> co.Problem:
    """A reach whose shoulder is at its torque limit for a while."""
    start, end, duration = REACHES[name]
    rows = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0), co.bounds(tau=(-6.0, 6.0))]
    return co.Problem(two_link(9.81), duration, minimize, rows)


@cache
def motion() -> co.Solution:
    solution = co.solve(reach("up", cost(TRUE)), CURVE, progress=False)
    assert abs(np.abs(solution.tau).max() - 6.0) < 1e-5
    return solution


def test_seven_weights_of_a_reach_with_an_active_limit():
    weights = co.optimality.recover_weights(motion())
    assert weights.names == tuple(TERMS)
    np.testing.assert_allclose(weights.values, TRUE, rtol=1e-3)
    assert weights.misfit < 1e-6
    assert weights.undetermined == ()
    assert weights["comfort"] == pytest.approx(20.0, rel=1e-3)


def test_the_motion_is_the_optimum_of_the_cost_with_these_weights():
    weights = co.optimality.recover_weights(motion(), cost(np.ones(7)))
    again = co.solve(reach("up", weights.cost), CURVE, progress=False)
    np.testing.assert_allclose(again.q, motion().q, atol=1e-5)
    np.testing.assert_allclose(weights.values.sum(), 7.0)


def test_without_the_multipliers_of_limits_the_weights_would_be_others():
    inside = co.Problem(two_link(9.81), 0.8, cost(TRUE), reach("up", cost(TRUE)).subject_to[:2])
    other = co.solve(inside, CURVE, progress=False)
    assert np.abs(other.tau).max() > 6.1


def test_terms_that_no_motion_determines_are_named():
    more = {
        "work": lambda now: ca.dot(now.tau, now.qd),  # the change of energy between given ends
        "way": lambda now: now.qd[0],  # the distance between them
        "torque again": lambda now: 2 * ca.sumsqr(now.tau),
    }
    terms = sum((co.integral(fn, name=name) for name, fn in more.items()), start=cost(TRUE))
    weights = co.optimality.recover_weights(motion(), terms)
    assert set(weights.undetermined) == {"work", "way", "torque", "torque again"}
    rest = [k for k, name in enumerate(weights.names) if name not in weights.undetermined]
    ratio = weights.values[rest] / TRUE[1:]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-3)
    both = weights["torque"] + 2 * weights["torque again"]
    assert both == pytest.approx(ratio[0] * TRUE[0], rel=1e-3)
    assert "not determined by the motion: torque, work, way, torque again" in repr(weights)


def test_a_term_that_plays_no_part_has_the_weight_zero():
    terms = cost(TRUE) + co.integral(lambda now: ca.sumsqr(now.qdd), name="accelerations")
    weights = co.optimality.recover_weights(motion(), terms)
    assert weights["accelerations"] * 1e3 < 1.0
    assert weights.undetermined == ()


def test_a_motion_that_is_no_optimum_of_the_terms_is_called_so():
    terms = [co.integral(lambda now, k=k: now.qd[k] ** 2, name=f"speed {k}") for k in range(2)]
    weights = co.optimality.recover_weights(motion(), terms[0] + terms[1])
    assert weights.misfit > 0.1
    assert "not an optimum of these terms" in repr(weights)
    assert "not an optimum" not in repr(co.optimality.recover_weights(motion()))


def noisy(
    solutions: co.Solution | co.solution.PhasesSolution, share: float, seed: int, kinds: tuple[str, ...] = ("q", "tau")
) -> dict[str, co.problem.Cost]:
    """Records of angles and torques with noise, a share of their ranges."""
    rng, records = np.random.default_rng(seed), {}
    for name, solution in solutions.phases.items():
        t = np.linspace(0.0, solution.duration, 501)
        parts = []
        for kind in kinds:
            values = np.asarray(getattr(solution.at(t), kind))
            size = np.ptp(values, axis=0)
            samples = values + share * size * rng.standard_normal(values.shape)
            of = (lambda now: now.q) if kind == "q" else (lambda now: now.tau)
            parts.append(co.track(t, samples, of, weight=1 / size**2, deviation=share * size, name=kind))
        records[name] = sum(parts[1:], start=parts[0])
    return records


@cache
def motions() -> co.solution.PhasesSolution:
    return co.solve(co.Cases({name: reach(name, cost(TRUE)) for name in REACHES}), CURVE, progress=False)


def test_seven_weights_from_four_reaches_with_noise_of_five_percent():
    start = co.solve(co.Cases({name: reach(name, cost(np.ones(7))) for name in REACHES}), CURVE, progress=False)
    weights = co.optimality.recover_weights(start, records=noisy(motions(), 0.05, seed=0))
    values = weights.values / weights.values.sum() * TRUE.sum()
    np.testing.assert_allclose(values, TRUE, rtol=0.1)
    assert weights.misfit == pytest.approx(0.05, rel=0.05)
    scale = TRUE.sum() / weights.values.sum()
    assert ((weights.lower * scale < TRUE) & (weights.upper * scale > TRUE)).sum() >= 6
    assert weights.solution is not None
    apart = max(np.abs(weights.solution[name].q - motions()[name].q).max() for name in REACHES)
    assert apart < 0.01


def test_intervals_are_the_bound_of_cramer_and_rao():
    """No unbiased estimate has smaller errors than the inverse of Fisher's information, here by differences of optima.

    Angles alone leave the weight of the hand to half its value.
    """
    start = co.solve(reach("up", cost(np.ones(7))), CURVE, progress=False)
    weights = co.optimality.recover_weights(start, records=noisy(motion(), 0.005, 1, kinds=("q",))[""])
    assert weights.values.min() > 0
    t, size = np.linspace(0.0, 0.8, 501), np.ptp(np.asarray(motion().at(np.linspace(0, 0.8, 501)).q), axis=0)

    sharp = co.Ipopt(tol=1e-11)
    here = co.solve(reach("up", cost(weights.values)), CURVE, guess=motion(), solver=sharp, progress=False)

    def samples(values: np.ndarray) -> np.ndarray:
        optimum = co.solve(reach("up", cost(values)), CURVE, guess=here, solver=sharp, progress=False)
        return (np.asarray(optimum.at(t).q) / size).ravel()

    step = 1e-3 * np.diag(weights.values)
    slopes = [(samples(weights.values + by) - samples(weights.values - by)) / 2 for by in step]
    slopes = np.column_stack(slopes) / 1e-3 / weights.values  # by the weights
    sums = np.linalg.svd(np.ones((1, 7)))[2][1:].T  # they add up to seven
    covariance = weights.misfit**2 * sums @ np.linalg.inv((slopes @ sums).T @ (slopes @ sums)) @ sums.T
    bound = 1.96 * np.sqrt(np.diag(covariance))
    inside = weights.lower > 0
    assert inside.sum() >= 4
    np.testing.assert_allclose((weights.upper - weights.lower)[inside] / 2, bound[inside], rtol=0.02)
    assert (weights.upper - weights.values >= 0.98 * bound)[~inside].all()


def test_a_weight_that_a_fit_ends_at_zero_has_a_true_interval():
    start = co.solve(reach("up", cost(np.ones(7))), CURVE, progress=False)
    weights = co.optimality.recover_weights(start, records=noisy(motion(), 0.05, 0)[""])
    truth = TRUE / TRUE.sum() * 7
    assert weights["shoulder speed"] == weights["comfort"] == 0.0
    assert ((weights.lower <= truth) & (truth <= weights.upper)).all()
    assert {"shoulder speed", "comfort"} <= set(weights.undetermined)
    text = repr(co.optimality.recover_weights(start, records=noisy(motion(), 0.005, 0)[""]))
    assert "known to no better than a tenth: " in text


def test_the_duration_is_a_term_like_others():
    both = co.duration() + 0.2 * co.integral(lambda now: ca.sumsqr(now.tau), name="torque")
    problem = co.Problem(two_link(9.81), co.Free(0.2, 3.0, 1.0), both, reach("up", both).subject_to)
    weights = co.optimality.recover_weights(co.solve(problem, CURVE, progress=False))
    np.testing.assert_allclose(weights.values, [1.0, 0.2], rtol=1e-3)


def test_least_combination_against_a_grid():
    rng = np.random.default_rng(3)
    a, b = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
    inside = a + b <= 1
    grid = np.column_stack([a[inside], b[inside], 1 - a[inside] - b[inside]])
    for _ in range(20):
        matrix = rng.standard_normal((5, 3)) + rng.standard_normal(3)
        weights = least_combination(matrix)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1.0)
        assert np.linalg.norm(matrix @ weights) <= np.linalg.norm(grid @ matrix.T, axis=1).min() + 1e-12


def test_least_combination_with_multipliers_against_all_sets_of_columns():
    """The shortest sum over all sets of columns whose numbers may differ from zero, where none is negative."""
    rng = np.random.default_rng(5)
    for trial in range(30):
        matrix = rng.standard_normal((6, 7))
        matrix[:, 6] = matrix[:, 5] if trial % 2 else -matrix[:, 4]  # limits whose multipliers are not unique
        best = np.inf
        for picked in range(1, 2**7):
            columns = [k for k in range(7) if picked >> k & 1]
            ones = np.array([float(k < 3) for k in columns])
            if not ones.any():
                continue
            normal = matrix[:, columns].T @ matrix[:, columns]
            system = np.block([[normal, ones[:, None]], [ones[None], np.zeros((1, 1))]])
            numbers = np.linalg.lstsq(system, np.append(np.zeros(len(columns)), 1.0), rcond=None)[0][:-1]
            if numbers.min() >= -1e-9:
                best = min(best, float(np.linalg.norm(matrix[:, columns] @ numbers)))
        numbers = least_combination(matrix, 3)
        assert numbers.min() >= 0
        assert numbers[:3].sum() == pytest.approx(1.0)
        assert np.linalg.norm(matrix @ numbers) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize(("names", "matter"), [(("torque", "height"), True), (("power", "elbow speed"), False)])
def test_signs_of_multipliers_count_where_the_motion_is_no_optimum(names, matter, monkeypatch):
    """Signs that are asked for one after another lead to the program that asks for all of them at once."""
    programs = []

    def all_at_once(gradients, sizes, slopes, sides, signed):
        every = np.abs(sides[0]) == 1, np.abs(sides[1]) == 1
        none = np.zeros_like(every[0]), np.zeros_like(every[1])
        programs.extend(_combined(gradients, sizes, slopes, sides, masks) for masks in (none, every))
        return _combined(gradients, sizes, slopes, sides, signed)

    monkeypatch.setattr(stationarity, "_combined", all_at_once)
    terms = sum((co.integral(TERMS[name][1], name=name) for name in names), start=NOTHING)
    weights = co.optimality.recover_weights(motion(), terms)
    unsigned, signed = (float(np.linalg.norm(made.left @ made.weights)) for made in programs[-2:])
    assert weights.misfit == pytest.approx(signed, rel=1e-9)
    np.testing.assert_allclose(weights.shares, programs[-1].weights, rtol=1e-9)
    assert (signed > 1.01 * unsigned) == matter


def test_a_limit_that_is_stated_twice_has_multipliers_of_the_right_signs():
    twice = reach("up", cost(TRUE))
    limits = co.path(lambda now: now.tau[0], upper=6.0, name="again")
    other = co.path(lambda now: now.tau[0] + 0.5 * now.tau[1], lower=-40.0, name="far away")
    problem = co.Problem(twice.model, twice.duration, twice.minimize, [*twice.subject_to, limits, other])
    weights = co.optimality.recover_weights(co.solve(problem, CURVE, progress=False))
    np.testing.assert_allclose(weights.values, TRUE, rtol=1e-3)
    assert weights.undetermined == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: co.optimality.recover_weights(s, co.duration()), "two terms or more"),
        (lambda s: co.optimality.recover_weights(s, cost(TRUE) + cost(TRUE)), "different names"),
        (lambda s: co.optimality.recover_weights(s, records=cost(TRUE)), "co.track"),
        (lambda s: co.optimality.recover_weights(s)["torques"], "torque"),
        (lambda s: co.optimality.recover_weights(s, {"up": cost(TRUE)}), "phase"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(co.InputError, match=message):
        call(motion())
