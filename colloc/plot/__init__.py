"""Figures and animations of a solution, and of the way to it.

style       colours, fonts, grid and legends
figure      figures and the axes in them, their windows and files; what all functions that draw take
sampling    a solution at times that are close enough to draw, phase by phase
over_time   joints, torques, all signals, and what bearings carry, over time
skeleton    where joints, links and ends of a mechanism are
posture     the stick figure of a solution, of a closed chain, of phases in turn, of a motion along a line over time
solids      shapes that are kept apart: their outlines and faces
scene       axes in which a mechanism moves, in its plane or in space
motion      the stick figure over time, of a solution or of a guess
summary     all of these on a page
animation   the moving stick figure as a GIF
bars        solid bars in place of the lines of a stick figure
recording   what a viewer plays: solids, curves, forces and paths over time
viewer      the page that plays them
live        the page while a solve runs: its iterates
view        a viewer of a model, of a posture, or of motions
triangles   shapes of files as triangles
iterations  how a solver got to its answer
refinement  how a grid was refined, and its errors
certificate switching functions and the Hamiltonian of an answer
optima      the costs that random starts lead to
tornado     the numbers that the cost of an optimum hangs on
map         a sweep over two values
"""

from colloc.plot.animation import animate
from colloc.plot.certificate import certificate
from colloc.plot.figure import save_figure, show
from colloc.plot.iterations import convergence, descents
from colloc.plot.map import map
from colloc.plot.motion import guess, motion
from colloc.plot.optima import optima
from colloc.plot.over_time import joints, reactions, signals, torques
from colloc.plot.refinement import error, rounds
from colloc.plot.summary import summary
from colloc.plot.tornado import tornado
from colloc.plot.view import view
from colloc.support.packages import register_public

__all__ = [
    "animate", "certificate", "convergence", "descents", "error", "guess", "joints", "map", "motion",
    "optima", "reactions", "rounds", "save_figure", "show", "signals", "summary", "tornado", "torques", "view",
]  # fmt: skip

register_public(__name__)
