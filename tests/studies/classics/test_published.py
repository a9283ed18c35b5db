"""Published optima: every row is stated or says why not, and statements come to closed forms."""

import json
from importlib import import_module
from math import atanh, cosh, exp, log, pi, sqrt, tanh
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

import colloc as co
from colloc.studies.classics import published
from colloc.studies.classics.published import NOT_STATED, STATEMENTS
from colloc.studies.classics.published.statement import Published

ROWS = published.published()


def test_statements_are_of_rows_and_no_row_is_both_stated_and_not():
    assert set(STATEMENTS) | set(NOT_STATED) <= set(ROWS)
    assert not set(STATEMENTS) & set(NOT_STATED)
    assert all(len(why) > 20 for why in NOT_STATED.values())
    assert all(statement.why for statement in STATEMENTS.values() if statement.optimum is not None)


def test_rows_have_room_for_half_of_their_last_digit():
    def room(optimum: float, digits: int) -> float:
        return Published("", optimum, digits, "", "", "").room

    assert room(13.4032, 6) == pytest.approx(5e-5)
    assert room(-0.0375195, 6) == pytest.approx(5e-8)
    assert room(6.045027756320971, 15) == pytest.approx(6.045027756e-6)
    assert room(0.0, 16) == 1e-6


def catenary() -> float:
    """Height of the hanging chain times its length: x = c cosh((t - a) / c) + b, through (0, 1) and (1, 3), 4 long."""
    # The chain of length L over a width of 1 and a rise of 2: L^2 - 4 = (2 c sinh(1 / 2c))^2.
    lower, upper = 0.05, 5.0
    for _ in range(200):
        c = (lower + upper) / 2
        lower, upper = (c, upper) if (2 * c * np.sinh(0.5 / c)) ** 2 > 12 else (lower, c)
    t = np.array([0.0, 1.0]) - (0.5 - c * atanh(0.5))
    offset = 1 - c * cosh(t[0] / c)
    return float(c * np.diff(t / 2 + c / 4 * np.sinh(2 * t / c))[0] + 4 * offset)


CLOSED_FORMS = {
    "lqr_half_tanh": tanh(1) / 2,
    "double_integrator_energy": 6.0,
    "double_integrator_fuel": 5 - sqrt(5),
    "simple_exponential_fuel": 1 - log(exp(1) - 1),
    "simple_exponential_energy": 1 / (exp(2) - 1),
    "simple_exponential_time": log(2),
    "integrator_moving_target": 20.0,
    "integrator_bolza_free_tf": atanh(1 / sqrt(3)) + sqrt(3) / 2,
    "bolza_free_tf": 1.5**0.25 + 0.5 / 1.5**0.75,
    "mixed_constraint": 1 / exp(1) - 1,
    "locatelli_target_set": 3 / 14,
    "isoperimetric_circle": 1 / (4 * pi),
    "cannonball_vacuum": 200 / 9.81,
    "chain": catenary(),
}


@pytest.mark.parametrize("name", sorted(CLOSED_FORMS))
def test_statements_come_to_closed_forms(name: str):
    statement = STATEMENTS[name]
    guess = statement.guess() if statement.guess else None
    solution = co.solve(statement.problem(), tol=1e-6, guess=guess, progress=False)
    assert solution.success
    assert statement.factor * solution.cost == pytest.approx(CLOSED_FORMS[name], rel=1e-6)
    assert ROWS[name].optimum == pytest.approx(CLOSED_FORMS[name], rel=1e-6 if name == "chain" else 1e-8)


def test_layers_at_the_ends_of_a_long_rest_are_resolved():
    """By the Hamiltonian, which is zero: the costate is x^3 - sqrt(x^6 + x^2) on the way to rest, and + after it."""
    root = quad(lambda x: sqrt(x**6 + x**2), 0, 1.5)[0] + quad(lambda x: sqrt(x**6 + x**2), 0, 1)[0]
    solution = co.solve(STATEMENTS["hypersensitive_10000"].problem(), tol=1e-5, progress=False)
    assert solution.success
    assert solution.cost == pytest.approx(root - 1.5**4 / 4 + 1 / 4, rel=1e-6)


def test_the_study_in_its_quick_form(tmp_path, capsys):
    file = tmp_path / "numbers.json"
    numbers = published.main(["--quick", "--json", str(file)])
    assert numbers == json.loads(file.read_text(encoding="utf-8"))
    assert numbers["right"] == numbers["rows"] == len(published.QUICK)
    assert numbers["wrong"] == numbers["infeasible"] == 0
    assert all(numbers[f"{name}.certified"] for name in published.QUICK)
    assert "4 of 4 right" in capsys.readouterr().out
    with pytest.raises(co.InputError, match="no row 'fulller'; rows are"):
        published.main(["--only", "fulller"])


def test_the_page_says_where_published_values_are_no_optima(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "docs" / "extensions"))
    pages = import_module("optima")
    row = {"published": 1248.26, "value": 1248.0306, "solved": 1.0, "right": 1.0, "iterations": 20.0, "seconds": 1.0}
    rows = pages.results({f"hang_glider.{key}": value for key, value in row.items()} | {"rows": 1.0, "right": 1.0})
    assert rows == {"hang_glider": row}
    assert "hang glider**: 1248.26 published, 1248.0306 here, 0.018 % worse. Betts prints" in pages.costlier(rows)
    assert pages.better(rows) == ""
    assert "% better" in pages.better({"hang_glider": row | {"value": 1249.0}})
    assert pages.still_open(rows) == "None."
    assert "| hang glider | 1248.26 | 1248.0306 | 3 |  |  | 20 | 1.0 |" in pages.table(rows)
    lost = {"hang_glider": row | {"solved": 0.0, "right": 0.0}}
    assert pages.costlier(lost) == ""
    assert "is not solved" in pages.still_open(lost)
    assert pages.digits(1.0, 1.0) == pages.MOST
    assert [pages.digits(1.0 + off, 1.0) for off in (0.6, 0.04, 4e-4, -4e-7)] == [0, 1, 3, 6]
