"""Figures and animations of a solution, and of the way to it."""

from colloc.plot.animation import animate
from colloc.plot.iterations import convergence, descents
from colloc.plot.map import map
from colloc.plot.motion import guess, motion
from colloc.plot.over_time import joints, reactions, torques
from colloc.plot.page import summary
from colloc.plot.picture import save_figure
from colloc.plot.refinement import error, ladder
from colloc.plot.starts import optima
from colloc.plot.window import show
from colloc.support.packages import present

__all__ = [
    "animate", "convergence", "descents", "error", "guess", "joints", "ladder", "map", "motion", "optima", "reactions",
    "save_figure", "show", "summary", "torques",
]  # fmt: skip

present(__name__)
