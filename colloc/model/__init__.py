"""Description of a mechanism: joints, bodies, the tree they form, and loads.

joint               one joint with its screw and limits
kinds               joints by name: revolute, prismatic, rows of Denavit and Hartenberg
passive             dampers, springs, rotors and friction of joints
body                bodies and loads
tree                the `Model`, with its sizes and the motion of its joints for recursions
table               its printed form
coupling            joints whose coordinates depend on those of others
functions           polynomials and splines for couplings
floating            chains of joints for bodies that move or turn freely
ball                the joint on a quaternion
gimbal              gimbal lock of three angles
transforms          homogeneous transforms
kinematics          motion of frames and points
inverse_kinematics  postures that reach targets
shapes              collision shapes of links and obstacles
distance            the distance between two shapes
avoidance           pairs of shapes that might collide

q has `Model.n_q` entries and qd, qdd and tau have `Model.n`; `velocities` and `position_rates` convert between them,
and recursions know only `joint_motions`.
"""

from colloc.model.avoidance import avoidance_pairs
from colloc.model.body import Body, Load, check_forward
from colloc.model.coupling import CoupledMotion, Coupling
from colloc.model.floating import floating, spherical
from colloc.model.functions import CubicSpline, Polynomial, RoundedLine
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
    "Load", "Model", "Passive", "PointMotion", "Polynomial", "RoundedLine", "Screw", "Shape", "Target",
    "avoidance_pairs", "check_forward", "check_loads", "dh_prismatic", "dh_revolute", "fixed", "floating", "helical",
    "hull_around", "placement", "point_motion", "prismatic", "reach", "revolute", "spherical",
]  # fmt: skip
