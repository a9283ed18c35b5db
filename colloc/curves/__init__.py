"""The polynomials that a motion consists of, and where its cost and constraints are evaluated.

mesh             intervals, and points inside them
curve            what a transcription tells a grid
bspline          B-splines
hermite_simpson  cubics with midpoints
radau            polynomials through Radau points
"""

from colloc.curves.bspline import BSpline
from colloc.curves.curve import Transcription, brief
from colloc.curves.hermite_simpson import HermiteSimpson
from colloc.curves.mesh import graded
from colloc.curves.radau import Radau

__all__ = ["BSpline", "HermiteSimpson", "Radau", "Transcription", "brief", "graded"]
