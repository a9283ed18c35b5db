"""Pictures and players of the gallery, made by the studies: ``python docs/pictures.py [STUDY ...]``, by default of all.

Every study runs with --quick; figures, of a second run where the quick one leaves out half of the picture, are made
small enough to keep beside the pages, and players are pages of their own.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from colloc.__main__ import studies

PICTURES = Path(__file__).parent / "gallery" / "pictures"
PLAYERS = Path(__file__).parent / "static" / "players"
WIDTH, COLOURS = 1100, 128
WHOLE = {"jumping.jump": ["--starts", "0"], "running.run": ["--starts", "0"]}  # the quick runs are planar


def draw(name: str) -> None:
    """Run a study and keep its figure and its player, if it makes any."""
    study = [sys.executable, "-m", "colloc", name]
    options = subprocess.run([*study, "--help"], check=True, capture_output=True, text=True).stdout
    if "--figure" not in options:
        return
    with tempfile.TemporaryDirectory() as folder:
        runs = [["--quick"], *([[*WHOLE[name], "--animation", "whole.html"]] if name in WHOLE else [])]
        for given in runs:
            command = [*study, *given, "--figure", "figure.png"]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        shrink(Path(folder) / "figure.png", PICTURES / f"{name}.png")
        if "--animation" in options:
            shutil.copy(Path(folder) / "figure.html", PLAYERS / f"{name}.html")


def shrink(source: Path, target: Path) -> None:
    """At most WIDTH pixels wide, of few colours."""
    with Image.open(source) as image:
        small = image.convert("RGB")
    small.thumbnail((WIDTH, 10 * WIDTH))
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    PLAYERS.mkdir(parents=True, exist_ok=True)
    for chosen in sys.argv[1:] or [name for name in studies() if not name.startswith("benchmarks.")]:
        print(chosen, flush=True)
        draw(chosen)
