"""Description of a mechanism: joints, bodies, the tree they form, and loads."""

from colloc.model.body import Body, Load, check_forward
from colloc.model.capsule import Capsule
from colloc.model.floating import floating, spherical
from colloc.model.inverse_kinematics import reach
from colloc.model.joint import Joint, Screw
from colloc.model.kinds import dh_prismatic, dh_revolute, fixed, helical, prismatic, revolute
from colloc.model.kinematics import PointMotion, point_motion
from colloc.model.limits import Limits
from colloc.model.passive import Friction, Passive
from colloc.model.topology import Topology, find_topology
from colloc.model.transforms import placement
from colloc.model.tree import Model, check_loads

__all__ = [
    "Body", "Capsule", "Friction", "Joint", "Limits", "Load", "Model", "Passive", "PointMotion", "Screw", "Topology",
    "check_forward", "check_loads", "dh_prismatic", "dh_revolute", "find_topology", "fixed", "floating", "helical",
    "placement", "point_motion", "prismatic", "reach", "revolute", "spherical",
]  # fmt: skip
