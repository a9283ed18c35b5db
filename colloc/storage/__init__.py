"""Solutions as files: saved, loaded, and given to other programs as tables.

A file becomes a solution in three steps: bytes, a checked record, the solution of a problem.

archive        arrays and metadata as the bytes of an .npz file, and back without trust in them
record         what a file says of a solution: fields, types, shapes and ranges
fingerprint    a problem in numbers, by which a file knows it again
storage        save, load, all of a motion as CSV or for pandas
tables         coordinates, torques, signals and ground reactions as OpenSim names them
"""

from colloc.storage.storage import load, save, to_csv, to_dataframe
from colloc.storage.tables import coordinate_table, ground_reaction_table, signal_table, torque_table

__all__ = [
    "coordinate_table", "ground_reaction_table", "load", "save", "signal_table", "to_csv", "to_dataframe",
    "torque_table",
]  # fmt: skip
