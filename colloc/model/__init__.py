"""Description of a mechanism: joints, bodies, the tree they form, and loads."""

from colloc.model.body import Body, Load, check_forward
from colloc.model.joint import Joint, Limits, dh_prismatic, dh_revolute, fixed, placement, prismatic, revolute
from colloc.model.topology import Topology, find_topology
from colloc.model.tree import Model, check_loads

__all__ = [
    "Body", "Joint", "Limits", "Load", "Model", "Topology", "check_forward", "check_loads", "dh_prismatic",
    "dh_revolute", "find_topology", "fixed", "placement", "prismatic", "revolute",
]  # fmt: skip
