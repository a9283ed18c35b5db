"""The paper, the citation and the recipe: what they say is what the recorded runs and the package say."""

import re
import tomllib
from pathlib import Path

import pytest

import colloc
from colloc.studies.results import record

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "docs" / "paper"
TEXT = (PAPER / "paper.md").read_text(encoding="utf-8")
CLAIMS = re.findall(r"^\| .* \| `python -m colloc ([\w.]+)` \| (.*) \|$", TEXT, re.M)


@pytest.mark.parametrize(("study", "numbers"), CLAIMS, ids=[study for study, _ in CLAIMS])
def test_a_claim_holds_in_the_recorded_run(study: str, numbers: str):
    recorded = record(study).numbers
    parts = re.findall(r"`([\w.]+)` ([<>=]) ([\d.e-]+)", numbers)
    assert len(parts) == numbers.count("`") // 2 > 0
    for name, relation, text in parts:
        value, stated = recorded[name], float(text)
        digits = len(text.partition(".")[2])
        holds = {"<": value < stated, ">": value > stated, "=": abs(value - stated) <= 0.5 * 10.0**-digits}
        assert holds[relation], f"{name} is {value}"


def test_the_paper_cites_what_its_list_has():
    listed = re.findall(r"^@\w+\{(\w+),$", (PAPER / "paper.bib").read_text(encoding="utf-8"), re.M)
    assert len(listed) == len(set(listed))
    assert set(re.findall(r"@(\w+)", TEXT)) == set(listed)
    assert len(CLAIMS) >= 8


def test_citation_and_recipe_have_version_and_dependencies_of_the_package():
    names = "CITATION.cff", "docs/conda/recipe.yaml"
    citation, recipe = ((ROOT / name).read_text(encoding="utf-8") for name in names)
    assert re.search(rf"\nversion: {colloc.__version__}\ndate-released: 20\d\d-\d\d-\d\d\n", citation)
    assert f'version: "{colloc.__version__}"' in recipe
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f'python_min: "{project["requires-python"].removeprefix(">=")}"' in recipe
    run = re.findall(r"- ([\w-]+) (>=[\d.]+)", recipe.partition("run:")[2].partition("tests:")[0])
    assert {name.removesuffix("-base") + least for name, least in run} == set(project["dependencies"])
