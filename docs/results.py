"""Numbers, pictures and players of full runs of the studies, which the pages quote and show.

    python docs/results.py                       lists them: day, machine, commit, and what has changed since
    python docs/results.py STUDY ...             runs these studies in full and keeps what comes of it
    python docs/results.py --older [--minutes N] the same of all whose code has changed, of those that took at most N
    python docs/results.py --quick STUDY ...     keeps the picture and the player of a quick run, no numbers
    python docs/results.py --osim FILE STUDY     with one's own copy of a model that the study reads
    python docs/results.py --frames              draws the frames of players that the gallery begins with, by Chromium

Numbers go to studies/results, pictures, made small enough to lie beside the pages, to docs/gallery/pictures, what
players play to docs/gallery/scenes, frames to docs/gallery/frames.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from extensions.panels import SIZE
from PIL import Image

from colloc.plot.viewer import page
from colloc.studies.results import made, records
from colloc.support.display import Table

PICTURES = Path(__file__).parent / "gallery" / "pictures"
SCENES = Path(__file__).parent / "gallery" / "scenes"
PLAYED = {
    "arms.bin_pick", "arms.round_a_box", "arms.spring_pendulum", "classics.swing_up",
    "closed_chains.five_bar", "closed_chains.rower", "jumping.jump", "rising.squat", "running.run",
    "walking.by_muscles", "walking.costs_by_muscles", "walking.gait", "walking.human_by_muscles",
    "walking.speeds_by_muscles", "walking.tracking_by_muscles",
}  # fmt: skip
OWN = {"walking.predsim"}  # whose numbers are of a file that is not here: run by name, with --osim
FRAMES = {  # what is seen first, as the viewer's address says it: of those that tell more than a panel of the picture
    "arms.bin_pick": "t=0.75&zoom=1.2",
    "arms.round_a_box": "t=0.75&zoom=1.3",
    "closed_chains.five_bar": "t=0.6",
    "closed_chains.rower": "t=0.4&zoom=0.95",
    "running.run": "t=0.3&zoom=0.95",
}
WIDTH, COLOURS = 1100, 256
CHROMIUM = "chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=1500"


def run(name: str, *, quick: bool, osim: str | None = None) -> None:
    """Run a study, and keep its numbers, its picture and its player, as far as it has them."""
    study = [sys.executable, "-m", "colloc", name]
    options = subprocess.run([*study, "--help"], check=True, capture_output=True, text=True).stdout
    words = ["--json", "numbers.json", *(["--quick"] if quick else [])]
    words += ["--figure", "figure.png"] if "--figure" in options else []
    words += ["--animation", "player.html"] if name in PLAYED else []
    words += ["--osim", str(Path(osim).resolve())] if osim else []
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        alone = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run([*study, *words], cwd=folder, env=alone, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
        if not quick:
            made(name, json.loads((Path(folder) / "numbers.json").read_text()), seconds).write()
        if "figure.png" in words:
            shrink(Path(folder) / "figure.png", PICTURES / f"{name}.png")
        if "player.html" in words:
            (SCENES / f"{name}.json").write_text(scene_in((Path(folder) / "player.html").read_text()))


def scene_in(page: str) -> str:
    """What a viewer plays, without the viewer, of which all pages have the same."""
    scene = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert scene is not None, "a page without a scene"
    return scene[1] + "\n"


def shrink(source: Path, target: Path) -> None:
    """At most WIDTH pixels wide, of few colours."""
    with Image.open(source) as image:
        small = image.convert("RGB")
    small.thumbnail((WIDTH, 10 * WIDTH))
    small.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(target, optimize=True)


def draw_frames() -> None:
    """Frames of players, of the size of the gallery's other pictures."""
    size = "--window-size={},{}".format(*SIZE)
    with tempfile.TemporaryDirectory() as folder:
        for name, view in FRAMES.items():
            player, picture = Path(folder) / "player.html", Path(folder) / "frame.png"
            player.write_text(page((SCENES / f"{name}.json").read_text().strip(), name))
            address = f"{player.as_uri()}#frame=1&theme=light&{view}"
            command = [*CHROMIUM.split(), size, f"--screenshot={picture}", address]
            subprocess.run(command, check=True, capture_output=True)
            shrink(picture, SCENES.parent / "frames" / f"{name}.png")


def listing() -> str:
    """All full runs that are kept, the longest last."""
    runs = sorted(records().values(), key=lambda run: run.seconds)
    rows = [(run.study, run.date, run.commit, f"{run.seconds:.0f}", run.since, run.machine) for run in runs]
    return Table("Full runs", ("study", "day", "commit", "s", "changed since", "machine"), rows).text()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", metavar="STUDY", nargs="*")
    parser.add_argument("--older", action="store_true")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="N")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--osim", metavar="FILE")
    parser.add_argument("--frames", action="store_true")
    args = parser.parse_args()
    if args.frames:
        draw_frames()
        return
    names = list(args.studies)
    if args.older:
        runs = sorted(records().values(), key=lambda run: run.seconds)
        names += [run.study for run in runs if run.since and run.seconds <= 60 * args.minutes and run.study not in OWN]
    if not names:
        print(listing())
    for name in names:
        print(name, flush=True)
        run(name, quick=args.quick, osim=args.osim if name in OWN else None)


if __name__ == "__main__":
    main()
