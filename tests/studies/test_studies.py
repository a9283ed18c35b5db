"""The sensitivity studies in their quick form: what they claim holds, and their numbers have the agreed names."""

from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import colloc
import colloc.studies.sensitivities.agreement
import colloc.studies.sensitivities.formulations
import colloc.studies.sensitivities.human43
from tests.studies.quick import numbers_of

STUDIES = sorted(Path(colloc.studies.__path__[0]).rglob("*.py"))


def run(study, tmp_path: Path) -> dict[str, float]:
    return numbers_of(study.main, tmp_path, size=20_000)


def test_recursions_agree_with_the_closed_form_at_the_optimum(tmp_path):
    numbers = run(colloc.studies.sensitivities.agreement, tmp_path)
    assert len(numbers) == 12
    assert all(key.startswith("max_error.") for key in numbers)
    assert max(numbers.values()) < 1e-12


def test_studies_leave_no_figures_open(tmp_path):
    """A notebook would show figures known to pyplot a second time, and nobody would free them."""
    run(colloc.studies.sensitivities.agreement, tmp_path)
    assert plt.get_fignums() == []
    assert len(STUDIES) > 40
    assert [path.name for path in STUDIES if "pyplot" in path.read_text(encoding="utf-8")] == []


def test_the_humans_sensitivities(tmp_path):
    numbers = run(colloc.studies.sensitivities.human43, tmp_path)
    analytic = [v for k, v in numbers.items() if k.startswith("max_error.") and "central" not in k]
    assert max(analytic) < 1e-12
    assert max(v for k, v in numbers.items() if "central" in k and k.startswith("max_error")) < 1e-7
    assert numbers["operations.composite"] <= 50_000 < numbers["operations.ad"]
    assert max(v for k, v in numbers.items() if k.startswith("rms_error")) < 1e-5
    assert abs(numbers["torque_18.where_q14_is_0"]) > 100 > 1e-6 > abs(numbers["torque_20.where_q5_is_0"])
    assert numbers["spike.at_zeros_of_q"] > 100 > 1e-5 > numbers["spike.elsewhere"]


def test_costs_grow_with_the_textbook_orders(tmp_path):
    numbers = run(colloc.studies.sensitivities.formulations, tmp_path)
    for name in ("newton_euler", "lagrange", "lie"):
        assert numbers[f"growth.torque.{name}"] == pytest.approx(1, abs=0.15)
    assert numbers["growth.torque.regular"] == pytest.approx(4, abs=0.4)
    for name in ("newton_euler", "lie", "lagrange", "ad"):
        assert numbers[f"growth.sensitivities.{name}"] == pytest.approx(2, abs=0.25)
    assert numbers["growth.sensitivities.regular"] == pytest.approx(4.6, abs=0.2)  # on its way to 5
    in_torques = [
        numbers[f"operations.sensitivities.regular.{n}"] / numbers[f"operations.torque.regular.{n}"] for n in (2, 4, 8)
    ]
    assert in_torques[2] > 1.5 * in_torques[1] > 2 * in_torques[0]
    assert numbers["operations.sensitivities.composite.20"] < 0.5 * numbers["operations.sensitivities.ad.20"]
