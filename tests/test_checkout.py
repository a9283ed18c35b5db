"""Models and studies are part of the package in a checkout, where they lie beside it, and in a wheel."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ASK = "import colloc, colloc.models.two_link as arm, colloc.studies; print(arm.__file__, *colloc.__path__, sep='\\n')"


def asked(place: Path) -> list[Path]:
    """File of a model, and the path of the package, in a folder of its own."""
    command = [sys.executable, "-P", "-c", ASK]
    done = subprocess.run(command, env={"PYTHONPATH": str(place)}, capture_output=True, text=True, check=True)
    return [Path(line).relative_to(place) for line in done.stdout.splitlines()]


@pytest.fixture
def copies(tmp_path: Path) -> tuple[Path, Path]:
    """A checkout without links, and an installed wheel beside another package of models."""
    checkout, wheel = tmp_path / "checkout", tmp_path / "wheel"
    for name in ("colloc", "models", "studies"):
        for target in (checkout / name, wheel / "colloc" / name.replace("colloc", ".")):
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__", "*.json", "*.png"),
                            dirs_exist_ok=True, copy_function=shutil.copy)  # fmt: skip
    (wheel / "models").mkdir()
    (wheel / "models" / "__init__.py").write_text("raise ImportError('another package')\n", encoding="utf-8")
    return checkout, wheel


@pytest.mark.skipif(bool(sys.flags.ignore_environment), reason="needs a Python that reads PYTHONPATH")
def test_models_are_found_beside_the_package_and_in_it(copies: tuple[Path, Path]):
    checkout, wheel = copies
    assert asked(checkout) == [Path("models/two_link.py"), Path("colloc"), Path(".")]
    assert asked(wheel) == [Path("colloc/models/two_link.py"), Path("colloc")]


def test_no_tracked_file_is_a_link():
    """Git writes a link as a file of text where core.symlinks is false, as on Windows."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs Git and its checkout")
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line for line in listed.splitlines() if line.startswith("120000")] == []
