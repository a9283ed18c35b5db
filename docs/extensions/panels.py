"""One panel of a picture, as the gallery shows it: cut out along white lines, on white of the same size for all."""

from pathlib import Path

import numpy as np
from PIL import Image

SIZE = (680, 440)  # pixels, twice those of the page
NEAR = 0.02  # how far from where it is sought an edge may be, over the side of the picture
MARGIN = 6  # pixels

# Edges of the panel that tells most, left, top, right and bottom, over the sides of the picture; roughly, as pictures
# drawn again differ a little.
PANELS = {
    "arms.motor_arm": (0.00, 0.00, 0.46, 0.92),
    "arms.point_to_point": (0.00, 0.00, 0.50, 0.49),
    "arms.free_floating": (0.55, 0.04, 1.00, 0.67),
    "arms.spring_pendulum": (0.00, 0.00, 0.50, 0.90),
    "arms.starts": (0.00, 0.00, 1.00, 0.50),
    "classics.optima": (0.00, 0.00, 1.00, 0.47),
    "classics.switches": (0.00, 0.00, 0.50, 0.34),
    "classics.swing_up": (0.00, 0.03, 0.37, 0.44),
    "closed_chains.time_optimal": (0.00, 0.00, 1.00, 0.35),
    "control.reaching": (0.00, 0.00, 0.52, 0.29),
    "control.tracking": (0.00, 0.00, 0.33, 0.47),
    "descents.two_link": (0.00, 0.13, 0.365, 0.84),
    "jumping.jump": (0.44, 0.00, 1.00, 0.32),
    "rising.chair": (0.00, 0.00, 0.29, 1.00),
    "rising.lift": (0.36, 0.00, 1.00, 1.00),
    "sensitivities.agreement": (0.00, 0.04, 0.35, 0.34),
    "sensitivities.formulations": (0.50, 0.00, 1.00, 1.00),
    "sensitivities.human43": (0.00, 0.50, 0.32, 0.74),
    "tracking.track_markers": (0.00, 0.50, 0.505, 0.92),
    "two_link.free_knots": (0.00, 0.00, 0.35, 0.46),
    "two_link.joint_forces": (0.00, 0.00, 0.315, 0.82),
    "two_link.lifting": (0.50, 0.05, 1.00, 0.60),
    "two_link.payload_map": (0.00, 0.00, 0.33, 1.00),
    "two_link.prismatic_revolute": (0.50, 0.05, 1.00, 0.60),
    "two_link.refinement": (0.00, 0.00, 1.00, 0.375),
    "two_link.starts": (0.00, 0.00, 0.35, 0.85),
    "two_link.time_optimal": (0.50, 0.05, 1.00, 0.60),
    "walking.as_printed": (0.00, 0.00, 0.33, 0.33),
    "walking.durations": (0.68, 0.665, 1.00, 0.955),
    "walking.exoskeleton": (0.00, 0.00, 0.34, 1.00),
    "walking.gait": (0.00, 0.02, 0.48, 0.20),
    "walking.gait2d": (0.33, 0.25, 0.66, 0.40),
    "walking.human_by_muscles": (0.15, 0.00, 0.82, 0.205),
    "walking.population": (0.33, 0.00, 0.64, 0.46),
    "walking.speeds": (0.33, 0.04, 0.66, 0.27),
    "walking.starts": (0.00, 0.00, 0.335, 0.48),
}


def cut(image: Image.Image, edges: tuple[float, float, float, float]) -> Image.Image:
    """The part within these edges, each moved to the whitest line nearby, without the white around."""
    ink = np.asarray(image.convert("L")) < 250  # (row, column)
    left, top, right, bottom = (round(edge * side) for edge, side in zip(edges, image.size * 2, strict=True))
    top, bottom = (whitest(ink[:, left:right].sum(axis=1), row) for row in (top, bottom))
    left, right = (whitest(ink[top:bottom].sum(axis=0), column) for column in (left, right))
    part = ink[top:bottom, left:right]
    rows, columns = (np.flatnonzero(part.any(axis=axis)) for axis in (1, 0))
    box = (columns[0] - MARGIN, rows[0] - MARGIN, columns[-1] + 1 + MARGIN, rows[-1] + 1 + MARGIN)
    panel = image.convert("RGB").crop((left, top, right, bottom))
    white = Image.new("RGB", (box[2] - box[0], box[3] - box[1]), "white")
    white.paste(panel, (-int(box[0]), -int(box[1])))
    return white


def whitest(ink: np.ndarray, place: int) -> int:
    """Index of the line with the least ink near a place, the nearest of several; the ends are white."""
    reach = round(NEAR * len(ink))
    near = np.arange(max(place - reach, 0), min(place + reach, len(ink)) + 1)
    least = np.append(ink, 0)[near]
    if place in {0, len(ink)}:
        return place
    return int(min(near[least == least.min()], key=lambda k: abs(k - place)))


def thumbnail(source: Path, target: Path) -> None:
    """The panel of a study's picture, or all of it, as large as it can be, on white."""
    with Image.open(source) as image:
        panel = cut(image, PANELS.get(source.stem, (0.0, 0.0, 1.0, 1.0)))
    scale = min(SIZE[0] / panel.width, SIZE[1] / panel.height, 1.5)
    panel = panel.resize((round(panel.width * scale), round(panel.height * scale)), Image.Resampling.LANCZOS)
    canvas = Image.new("RGB", SIZE, "white")
    canvas.paste(panel, ((SIZE[0] - panel.width) // 2, (SIZE[1] - panel.height) // 2))
    canvas.quantize(128, dither=Image.Dither.NONE).save(target, optimize=True)
