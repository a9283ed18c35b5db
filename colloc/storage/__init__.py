"""Solutions as files: saved, loaded, and exported as tables for other programs.

A file becomes a solution in three steps: bytes, a checked record, the solution of a problem.

archive        arrays and metadata as the bytes of an .npz file, read without trust
record         the record of a solution in a file: fields, types, shapes and ranges
fingerprint    a problem in numbers, to recognise it
storage        save, load, all of a motion as CSV or for pandas
tables         coordinates, torques, muscles, contact forces and ground reactions with OpenSim's names
trajectory     joint trajectories of ROS, and coefficients of polynomials
"""

from colloc.storage.storage import load, save, to_csv, to_dataframe
from colloc.storage.tables import (
    coordinate_table,
    ground_reaction_table,
    joint_contact_table,
    muscle_table,
    signal_table,
    torque_table,
)
from colloc.storage.trajectory import piece_coefficients, to_joint_trajectory

__all__ = [
    "coordinate_table", "ground_reaction_table", "joint_contact_table", "load", "muscle_table", "piece_coefficients",
    "save", "signal_table", "to_csv", "to_dataframe", "to_joint_trajectory", "torque_table",
]  # fmt: skip
