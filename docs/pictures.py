"""Pictures of the gallery, made by the studies: ``python docs/pictures.py [STUDY ...]``, by default of all.

Every study runs with --quick; its figure is made small enough to keep beside the pages.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from colloc.__main__ import studies

PICTURES = Path(__file__).parent / "gallery" / "pictures"
WIDTH, COLOURS = 1100, 128


def draw(name: str) -> None:
    """Run a study and keep its figure, if it makes one."""
    study = [sys.executable, "-m", "colloc", name]
    if "--figure" not in subprocess.run([*study, "--help"], check=True, capture_output=True, text=True).stdout:
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*study, "--quick", "--figure", "figure.png"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        shrink(Path(folder) / "figure.png", PICTURES / f"{name}.png")


def shrink(source: Path, target: Path) -> None:
    """At most WIDTH pixels wide, of few colours."""
    with Image.open(source) as image:
        small = image.convert("RGB")
    small.thumbnail((WIDTH, 10 * WIDTH))
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    for chosen in sys.argv[1:] or [name for name in studies() if not name.startswith("benchmarks.")]:
        print(chosen, flush=True)
        draw(chosen)
