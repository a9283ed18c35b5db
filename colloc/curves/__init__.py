"""The piecewise polynomials of a motion, and the points where its cost and constraints are evaluated.

mesh             intervals, and points inside them
curve            the interface of a curve, and the names of curves in files
bspline          B-splines
hermite_simpson  cubics with midpoints
radau            polynomials through Radau points
spline_basis     spline bases with any breakpoints, degrees and smoothness
quadrature       Gauss and Radau points, polynomials through points and their integrals
"""

from colloc.curves.bspline import BSpline
from colloc.curves.curve import CURVES, Transcription, brief, check_curve, register
from colloc.curves.hermite_simpson import HermiteSimpson
from colloc.curves.mesh import Points, check_mesh, collocation_points, graded, mesh_ends, per_interval
from colloc.curves.radau import Radau

__all__ = [
    "CURVES", "BSpline", "HermiteSimpson", "Points", "Radau", "Transcription", "brief", "check_curve", "check_mesh",
    "collocation_points", "graded", "mesh_ends", "per_interval", "register",
]  # fmt: skip
