"""A walk with a spring for an ankle, on its coarse grid: a whole stride from half of one."""

from pathlib import Path

import pytest

import colloc as co
from colloc.models.muscle_walker import muscle_walker
from colloc.studies.walking import weight_on_one_foot
from colloc.studies.walking.prosthesis import ANKLE, GONE, main, stride
from tests.studies.quick import numbers_of


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return numbers_of(main, tmp_path_factory.mktemp("prosthesis"))


def test_the_whole_stride_of_a_symmetric_walker_is_that_of_its_halves(quick: dict[str, float]):
    """Half a stride on as fine a grid costs 0.12697; nobody tells the whole one to be symmetric."""
    assert quick["muscles.cost"] == pytest.approx(0.1265, rel=0.01)
    assert quick["muscles.stance.r"] == pytest.approx(quick["muscles.stance.l"], abs=1.0)
    assert quick["muscles.mean_force"] == pytest.approx(1.0, abs=1e-2)


def test_the_spring_walks_and_the_ground_carries_the_weight(quick: dict[str, float]):
    assert 50.0 < quick["spring.stiffness"] < 400.0
    assert 50 < quick["spring.stance.l"] < 70
    assert quick["spring.peak_force.l"] < quick["spring.peak_force.r"]
    assert quick["spring.mean_force"] == pytest.approx(1.0, abs=1e-2)


def test_the_ankle_is_held_by_nothing_but_its_spring():
    made = stride(muscle_walker(), 0.9, spring=True)
    assert not {*GONE} & {*made.muscles.names}
    drives = {part.name: list(part.torques(made.problem.instant)) for part in made.problem.parts}
    assert [name for name, joints in drives.items() if ANKLE in joints] == ["prosthesis"]


def test_a_step_with_a_weight_on_the_foot_takes_longer(tmp_path: Path):
    """The same on either foot by symmetry without one, and a mass on the foot is a mass of the walker."""
    numbers = numbers_of(weight_on_one_foot.main, tmp_path)
    assert numbers["0.longer"] == pytest.approx(0.0, abs=0.005)
    assert 0.005 < numbers["1.longer"] < numbers["2.longer"] < 0.06
    assert numbers["2.mean_force"] == pytest.approx(1.0, abs=1e-2)
    heavy = weight_on_one_foot.loaded(muscle_walker(), 2.0).model
    assert float(co.dynamics.total_mass(heavy)) == pytest.approx(64.0, abs=0.01)
