"""Where a cost has a kink: its slope jumps, as that of a norm does at zero, and solvers for smooth functions stall."""

from __future__ import annotations

import numpy as np

from colloc.blocks.block import Block
from colloc.transcription import Program

_STEPS = 10.0 ** -np.arange(3, 8)  # in natural sizes of the variables
_DIRECTIONS = 3
_JUMP = 0.1  # of the largest slope: a jump of less troubles nobody
_SMOOTH = 30.0  # a second difference falls a hundredfold with a tenth of the step, but tenfold across a kink
_ROUNDING = 1e-9  # of the values


def kink(nlp: Program, x: np.ndarray, p: np.ndarray) -> str | None:
    """One line on the cost term whose slope jumps most beside x, with the time; None where all are smooth."""
    jumps = [(_jump(nlp, block, x, p), block) for block in nlp.costs]
    (jump, row, site), block = max(jumps, key=lambda pair: pair[0], default=((0.0, 0, 0), None))
    if block is None or jump < _JUMP:
        return None
    before, duration = nlp.owner(block)
    s = float(block.sites.s[site])
    where = f"s = {s:.4g}" if duration is None else f"t = {s * x[duration]:.4g} s"
    return (
        f"cost term {before + block.rows.labels[row]!r} has a kink at {where}, where its slope jumps, and solvers need "
        "smooth functions, such as ca.sqrt(x**2 + 1e-6) in place of ca.fabs(x), and the like in place of a norm"
    )


def _jump(nlp: Program, block: Block, x: np.ndarray, p: np.ndarray) -> tuple[float, int, int]:
    """The largest jump of a slope, relative to the largest slope of its row, with the row and the site."""
    rng, best = np.random.default_rng(0), (0.0, 0, 0)
    here = block.evaluate(x, p)
    for _ in range(_DIRECTIONS):
        direction = rng.uniform(-1, 1, nlp.n_x) * nlp.scale_x * nlp.free
        bends, slopes = [], []
        for step in _STEPS:
            one, other = (block.evaluate(x + side * step * direction, p) for side in (1, -1))
            bend = np.abs(one + other - 2 * here)
            bends.append(np.where(bend > _ROUNDING * np.abs(here), bend, 0.0))
            slopes.append((np.abs(one - other) + bend) / step)
        for step, bend, closer, slope in zip(_STEPS, bends, bends[1:], slopes, strict=False):
            size = np.maximum(slope.max(axis=1, keepdims=True), 1e-300)
            jumps = np.where((closer > 0) & (bend < _SMOOTH * closer), bend / step / size, 0.0)
            row, site = np.unravel_index(np.argmax(jumps), jumps.shape)
            best = max(best, (float(jumps[row, site]), int(row), int(site)))
    return best
