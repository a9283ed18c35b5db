"""Standing up from a chair: forces obey momentum, and moments are of the size of people's."""

import json

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.studies.rising.chair import DURATION, main, measured, rise, solve, spared


def test_the_study_writes_what_it_returns(tmp_path):
    paths = {kind: tmp_path / name for kind, name in (("json", "a.json"), ("figure", "a.png"), ("animation", "a.html"))}
    numbers = main(["--quick", *(word for kind, path in paths.items() for word in (f"--{kind}", str(path)))])
    assert json.loads(paths["json"].read_text(encoding="utf-8")) == numbers
    assert paths["figure"].stat().st_size > 10_000
    assert paths["animation"].stat().st_size > 50_000
    assert numbers["46.cost"] == pytest.approx(0.0843, rel=0.01)


def test_one_leaves_the_chair_by_what_ground_and_chair_push():
    """Momentum of the whole body by differences of its centre of mass, against the forces on the balls."""
    chair = rise(0.46)
    solution = solve(chair)
    assert solution.status is co.solver.Status.SOLVED
    t = np.linspace(0.0, DURATION, 2001)
    bodies = [(b.name, b.com, float(b.mass)) for b in chair.problem.model.bodies if float(b.mass) > 0]
    mass = sum(m for *_, m in bodies)
    center = solution.evaluate(lambda now: sum(m * now.point(name, com).position for name, com, m in bodies) / mass, t)
    pushed = solution.evaluate(lambda now: chair.contact.wrench(now).force, t)
    weight = np.array([0.0, 9.81 * mass, 0.0])
    impulse = np.cumsum((pushed[1:] + pushed[:-1]) / 2 - weight, axis=0) * t[1]
    velocity = np.gradient(center, t, axis=0, edge_order=2)[1:] * mass
    assert np.abs(impulse - velocity).max() < 0.02 * np.abs(velocity).max()
    numbers = measured(chair, solution)
    assert 0.24 < numbers["hip"] < 1.92
    assert 0.51 < numbers["knee"] < 1.97
    assert numbers["sum"] > 1.53
    assert 20 < numbers["seat_off"] < 45
    vertical = solution.evaluate(lambda now: ca.vertcat(*(b.force(now)[1] for b in chair.contact.spheres)), t)
    assert vertical.min() > -5.0  # N: Hunt and Crossley's law, made smooth, pulls by a little where a ball leaves fast
    assert np.abs(vertical[-1, 0]) < 1e-3


def test_the_least_sum_of_peaks_is_below_that_of_the_least_effort():
    """The constants are the peaks of the moments between all nodes, too."""
    chair = rise(0.46)
    first = solve(chair)
    least = spared(chair)
    solution = solve(least, first)
    assert solution.status is co.solver.Status.SOLVED
    numbers, effort = measured(least, solution), measured(chair, first)
    assert numbers["sum"] == pytest.approx(float(np.sum(solution.constants["peaks"])), rel=0.01)
    assert 1.15 < numbers["sum"] < 1.35 < 2.2 < effort["sum"]
    assert numbers["ankle"] > effort["ankle"]
