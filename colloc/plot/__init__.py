"""Figures and animations of a solution, and of the way to it."""

from colloc.plot.animation import animate
from colloc.plot.curves import joints, reactions, torques
from colloc.plot.iterations import convergence, descents
from colloc.plot.motion import motion
from colloc.plot.page import summary

__all__ = ["animate", "convergence", "descents", "joints", "motion", "reactions", "summary", "torques"]
