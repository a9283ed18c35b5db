"""Muscles: paths, curves, tendons, activation, metabolic rates, and how they drive the joints of a model.

curves          the four curves of a Hill muscle
path, wrapping  the path of a muscle over the skeleton
polynomial, fit its length as a polynomial of the coordinates
muscle          one muscle
files           muscles from the data of files
fibers          the state of fibers and tendons
activation      from excitation to activation
metabolics      metabolic rates
passive_torque  torques of other tissue
ligaments       elastic cords along paths
pull            forces of muscles on bodies, and across a joint
muscles         muscles in a problem: unknowns and constraints
synergies       groups of muscles that are activated together
joint_contact   contact force of a joint as signals, and its shares on two condyles
"""

from colloc.muscles.curves import OPENSIM, PUBLISHED, MuscleCurves
from colloc.muscles.fibers import Fibers
from colloc.muscles.files import from_file
from colloc.muscles.joint_contact import CondyleForces, JointContact
from colloc.muscles.ligaments import Ligament, Ligaments
from colloc.muscles.metabolics import MetabolicRate
from colloc.muscles.muscle import Muscle
from colloc.muscles.muscles import Muscles, path_lengths
from colloc.muscles.passive_torque import HUMAN_JOINTS, PassiveTorque
from colloc.muscles.path import MusclePath, ViaPoint
from colloc.muscles.polynomial import LengthPolynomial, fit_lengths, fit_samples
from colloc.muscles.synergies import Synergies
from colloc.muscles.wrapping import Cylinder, Ellipsoid, Sphere, Torus

__all__ = [
    "HUMAN_JOINTS", "OPENSIM", "PUBLISHED", "CondyleForces", "Cylinder", "Ellipsoid", "Fibers", "JointContact",
    "LengthPolynomial", "Ligament", "Ligaments", "MetabolicRate", "Muscle", "MuscleCurves", "MusclePath", "Muscles",
    "PassiveTorque", "Sphere", "Synergies", "Torus", "ViaPoint", "fit_lengths", "fit_samples", "from_file",
    "path_lengths",
]  # fmt: skip
