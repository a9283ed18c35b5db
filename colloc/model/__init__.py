"""Description of a mechanism: joints, bodies, the tree they form, and loads.

`joint` is a joint with its screw and limits, `passive` what it does of itself, `kinds` makes joints by name, `body` has
bodies and loads, `tree` the `Model` with its sizes and the motion of its joints as recursions see it, `table` how it is
printed, `coupling` what joints follow, `functions` the curves by which they do. `floating` makes chains of joints for
bodies that move or turn freely, `ball` is the joint on a quaternion, `gimbal` knows where three angles lock.
`transforms` has homogeneous transforms,
`kinematics` the motion of frames and points, `inverse_kinematics` postures that reach places. `shapes` are what links
and obstacles collide as, `distance` is how far they are apart, and `avoidance` knows which might meet.

The seam between positions and velocities is here: q has `Model.n_q` entries and qd, qdd and tau have `Model.n`;
`velocities` and `position_rates` lead from one to the other, and `joint_motions` is all that recursions know.
"""

from colloc.model.avoidance import avoidance_pairs
from colloc.model.body import Body, Load, check_forward
from colloc.model.coupling import CoupledMotion, Coupling
from colloc.model.floating import floating, spherical
from colloc.model.functions import CubicSpline, Polynomial
from colloc.model.inverse_kinematics import Target, reach
from colloc.model.joint import Joint, Limits, Screw
from colloc.model.kinds import dh_prismatic, dh_revolute, fixed, helical, prismatic, revolute
from colloc.model.kinematics import PointMotion, point_motion
from colloc.model.passive import Friction, Passive
from colloc.model.shapes import Box, Capsule, ConvexHull, Shape, hull_around
from colloc.model.transforms import placement
from colloc.model.tree import Model, check_loads

__all__ = [
    "Body", "Box", "Capsule", "ConvexHull", "CoupledMotion", "Coupling", "CubicSpline", "Friction", "Joint", "Limits",
    "Load", "Model", "Passive", "PointMotion", "Polynomial", "Screw", "Shape", "Target", "avoidance_pairs",
    "check_forward", "check_loads", "dh_prismatic", "dh_revolute", "fixed", "floating", "helical", "hull_around",
    "placement", "point_motion", "prismatic", "reach", "revolute", "spherical",
]  # fmt: skip
