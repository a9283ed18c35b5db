"""Models and tables of time series from the files of other programs, and files for them.

reading        the result of every reader: a model, other data of the file, and a report of changes and omissions
urdf, srdf     readers of robots
sdf            SDF files
urdf_writer    URDF files from models
mjcf           MuJoCo's files, compiled by MuJoCo; muscles in mjcf_muscles, forces that are left out in mjcf_omissions
osim           OpenSim's files; components in osim_document, joints in osim_joints, forces in osim_forces, osim_passive
loop_files     companions of URDF files, with loops and motors
limits         limits that take the place of those in a file
muscle_data    muscles of files
contact_data   contact of files
collisions     collision shapes of links
mesh_files     vertices of meshes
xml            elements, texts and numbers of XML, with errors that name the line
time_series    tables of time series
tables         their files: sto, trc, columns (CSV, Parquet)
lines          lines of text files, with errors that name the line
numbers        numbers in text
unit_checks    warnings of numbers that contradict their units, and of hidden markers
c3d            markers and force plates of C3D files
force_plates   force plates in the columns of tables
"""

from typing import TYPE_CHECKING

from colloc.formats.force_plates import ForcePlate, force_plates
from colloc.support.packages import register_public

if TYPE_CHECKING:
    from colloc.formats.c3d import MotionCapture, from_c3d
    from colloc.formats.collisions import collision_shapes
    from colloc.formats.contact_data import ContactLaw, ContactShape
    from colloc.formats.mesh_files import mesh_vertices
    from colloc.formats.mjcf import from_mjcf
    from colloc.formats.muscle_data import MuscleData, PathPoint
    from colloc.formats.osim import from_osim
    from colloc.formats.reading import LinkShape, Reading
    from colloc.formats.sdf import from_sdf
    from colloc.formats.tables import read_table, write_table
    from colloc.formats.time_series import TimeSeriesTable
    from colloc.formats.urdf import from_urdf
    from colloc.formats.urdf_writer import to_urdf

__all__ = [
    "ContactLaw", "ContactShape", "ForcePlate", "LinkShape", "MotionCapture", "MuscleData", "PathPoint", "Reading",
    "TimeSeriesTable", "collision_shapes", "force_plates", "from_c3d", "from_mjcf", "from_osim", "from_sdf",
    "from_urdf", "mesh_vertices", "read_table", "to_urdf", "write_table",
]  # fmt: skip

# Loaded on first use: most scripts read one kind of file.
_LATER = {
    "c3d": "MotionCapture from_c3d",
    "collisions": "collision_shapes",
    "contact_data": "ContactLaw ContactShape",
    "mesh_files": "mesh_vertices",
    "mjcf": "from_mjcf",
    "muscle_data": "MuscleData PathPoint",
    "osim": "from_osim",
    "reading": "LinkShape Reading",
    "sdf": "from_sdf",
    "tables": "read_table write_table",
    "time_series": "TimeSeriesTable",
    "urdf": "from_urdf",
    "urdf_writer": "to_urdf",
}
register_public(__name__, {name: f"{__name__}.{module}" for module, names in _LATER.items() for name in names.split()})
