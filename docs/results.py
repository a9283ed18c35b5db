"""Numbers, pictures and players of full runs of the studies, which the pages quote and show.

    python docs/results.py                       lists them: day, commit, seconds, packages changed since, machine
    python docs/results.py STUDY ...             runs these studies in full and keeps their numbers and pictures
    python docs/results.py --older --minutes 55  all whose code has changed, shortest first, for 55 minutes
    python docs/results.py --quick STUDY ...     keeps the picture and the player of a quick run, no numbers
    python docs/results.py --osim FILE STUDY     with a copy of a model that the study reads
    python docs/results.py --frames              draws the frames of players that the gallery begins with, by Chromium

Every study that has run is kept at once, so that the command with --older goes on where it was stopped. A study that
fails, or whose code changes while it runs, is named at the end and keeps its old numbers.

Numbers go to studies/results, pictures to docs/gallery/pictures, reduced in size, the scenes of players to
docs/gallery/scenes, frames to docs/gallery/frames.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from extensions.panels import SIZE
from PIL import Image

from colloc.plot.viewer import page
from colloc.studies.results import PACKAGE, Record, changed, made, records, texts
from colloc.support.display import Table

PICTURES = Path(__file__).parent / "gallery" / "pictures"
SCENES = Path(__file__).parent / "gallery" / "scenes"
PLAYED = {
    "arms.bin_pick", "arms.round_a_box", "arms.spring_pendulum", "classics.swing_up",
    "closed_chains.five_bar", "closed_chains.rower", "jumping.jump", "rising.chair", "rising.squat", "running.run",
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


LOG = """import os, sys

class Log:
    def find_spec(name, path=None, target=None):
        if name.startswith("colloc."):
            with open(os.environ["COLLOC_LOADED"], "a") as file:
                file.write(name.removeprefix("colloc.") + "\\n")

sys.meta_path.insert(0, Log)
"""  # sitecustomize.py of a run and of the processes that it starts: it writes down which modules they load


def run(name: str, *, quick: bool, osim: str | None = None, limit: float | None = None) -> None:
    """Run a study, and keep its numbers, its picture and its player, as far as it has them.

    RuntimeError if it fails, takes longer than a limit in seconds, or if its code changes meanwhile.
    """
    study = [sys.executable, "-m", "colloc", name]
    options = subprocess.run([*study, "--help"], check=True, capture_output=True, text=True).stdout
    words = ["--json", "numbers.json", *(["--quick"] if quick else [])]
    words += ["--figure", "figure.png"] if "--figure" in options else []
    words += ["--animation", "player.html"] if name in PLAYED else []
    words += ["--osim", str(Path(osim).resolve())] if osim else []
    with tempfile.TemporaryDirectory() as place:
        folder, before, begin = Path(place), texts(), time.perf_counter()
        try:
            modules = loaded([*study, *words], folder, limit)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(" ".join(["failed:", *error.stderr.decode().splitlines()[-1:]])) from None
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"did not end within {limit:.0f} s") from None
        seconds = time.perf_counter() - begin
        if not quick:
            record = made(name, json.loads((folder / "numbers.json").read_text(encoding="utf-8")), seconds, modules)
            if changed(before, record):
                raise RuntimeError("its code has changed while it ran")
            record.write()
        if "figure.png" in words:
            shrink(folder / "figure.png", PICTURES / f"{name}.png")
        if "player.html" in words:
            (SCENES / f"{name}.json").write_text(
                scene_in((folder / "player.html").read_text(encoding="utf-8")), encoding="utf-8"
            )


def loaded(command: Sequence[str], folder: Path, limit: float | None) -> set[str]:
    """Run a command in a folder on one thread, at most for seconds; says what of colloc its processes have loaded."""
    with tempfile.TemporaryDirectory() as log:
        (Path(log) / "sitecustomize.py").write_text(LOG, encoding="utf-8")
        paths = (log, str(PACKAGE.parent), os.environ.get("PYTHONPATH", ""))
        alone = {"OMP_NUM_THREADS": "1", "COLLOC_LOADED": str(Path(log) / "loaded.txt")}
        alone["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        subprocess.run(command, cwd=folder, env=os.environ | alone, check=True, capture_output=True, timeout=limit)
        return set((Path(log) / "loaded.txt").read_text(encoding="utf-8").split())


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
            player.write_text(
                page((SCENES / f"{name}.json").read_text(encoding="utf-8").strip(), name), encoding="utf-8"
            )
            address = f"{player.as_uri()}#frame=1&theme=light&{view}"
            command = [*CHROMIUM.split(), size, f"--screenshot={picture}", address]
            subprocess.run(command, check=True, capture_output=True)
            shrink(picture, SCENES.parent / "frames" / f"{name}.png")


def listing() -> str:
    """All full runs that are kept, the longest last."""
    rows = [(r.study, r.date, r.commit, f"{r.seconds:.0f}", r.since, r.machine) for r in shortest_first()]
    older = sum(bool(row[4]) for row in rows)
    note = f"{older} of {len(rows)} are older than code that they ran"
    return Table("Full runs", ("study", "day", "commit", "s", "changed since", "machine"), rows, [note]).text()


def shortest_first() -> list[Record]:
    """All full runs that are kept, by their seconds."""
    return sorted(records().values(), key=lambda run: run.seconds)


def renew(names: Sequence[str], minutes: float, *, quick: bool = False, osim: str | None = None) -> list[str]:
    """Run studies one after another within a time, without those that would take longer than is left; says which."""
    end, kept, left = time.monotonic() + 60 * minutes, records(), []
    for name in names:
        rest = end - time.monotonic()
        if name in kept and not quick and kept[name].seconds > rest:
            left.append(f"{name}: takes {kept[name].seconds:.0f} s, {max(rest, 0):.0f} s were left")
            continue
        print(name, flush=True)
        try:
            run(name, quick=quick, osim=osim if name in OWN else None, limit=rest if rest < float("inf") else None)
        except RuntimeError as error:
            left.append(f"{name}: {error}")
    return left


def main() -> int:
    """The command line; 1 if a study was left out or failed."""
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
        return 0
    names = list(args.studies)
    if args.older:
        names += [run.study for run in shortest_first() if run.since and (args.osim or run.study not in OWN)]
    if not names:
        print(listing())
        return 0
    left = renew(names, args.minutes, quick=args.quick, osim=args.osim)
    print("".join(f"left: {line}\n" for line in left), end="")
    return bool(left)


if __name__ == "__main__":
    raise SystemExit(main())
