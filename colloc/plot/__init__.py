"""Figures and animations of solutions and of the solves that produced them.

style       colours, fonts, grid and legends
figure      figures and axes, their windows and files; common arguments of all drawing functions
sampling    samples of a solution on a fine grid, phase by phase
over_time   joints, torques, all signals, and loads of bearings, over time
skeleton    positions of joints, links and ends of a mechanism
posture     stick figures of solutions, closed chains, consecutive phases, and motions along a line
solids      shapes kept apart: outlines and faces
scene       axes in which a mechanism moves, in a plane or in space
motion      the stick figure over time, of a solution or a guess
summary     all of these on one page
animation   the moving stick figure as a GIF
bars        solid bars instead of the lines of a stick figure
recording   data of a viewer: solids, curves, forces and paths over time
viewer      the page that plays recordings
live        the page during a solve: its iterates
view        a viewer of a model, of a posture, or of motions
triangles   shapes of files as triangles
iterations  convergence of a solver
refinement  refinement of a grid, and its errors
certificate switching functions and the Hamiltonian of a solution
optima      costs of the optima that random starts reach
tornado     sensitivities of the cost of an optimum
map         a sweep over two values
front       a front of two or three costs
"""

from colloc.plot.animation import animate
from colloc.plot.certificate import certificate
from colloc.plot.figure import save_figure, show
from colloc.plot.front import front
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
    "animate", "certificate", "convergence", "descents", "error", "front", "guess", "joints", "map", "motion",
    "optima", "reactions", "rounds", "save_figure", "show", "signals", "summary", "tornado", "torques", "view",
]  # fmt: skip

register_public(__name__)
