"""Models and tables of time series from the files of other programs, and the way back.

Models: every reader returns a `Reading`, a model, what else the file says, and a report of what was changed and left
out (`reading`). `urdf` and `srdf` read robots, `urdf_writer` writes them, `mjcf` reads MuJoCo's files by MuJoCo, `osim`
OpenSim's, with `osim_document` for their components and `osim_forces` for what pulls; `muscle_data` and `contact_data`
are the results for muscles and contact, `collisions` what links collide as, with `mesh_files` for their meshes.
What formats in XML share, elements, texts and numbers with errors that say where they are, is in `xml`; a body with
several joints becomes a chain by `colloc.model.floating.joint_chain`.

Tables: `time_series` has what they are, `tables` reads and writes them, `sto`, `trc` and `columns` (CSV, Parquet) are
the formats, `lines` reads text with errors that say the line; `c3d` has markers and force plates, tables of two rates.
"""

from colloc.formats.c3d import MotionCapture, from_c3d
from colloc.formats.collisions import collision_shapes
from colloc.formats.contact_data import ContactLaw, ContactShape
from colloc.formats.mesh_files import mesh_vertices
from colloc.formats.mjcf import from_mjcf
from colloc.formats.muscle_data import MuscleData, PathPoint
from colloc.formats.osim import from_osim
from colloc.formats.reading import LinkShape, Reading
from colloc.formats.tables import read_table, write_table
from colloc.formats.time_series import TimeSeriesTable
from colloc.formats.urdf import from_urdf
from colloc.formats.urdf_writer import to_urdf

__all__ = [
    "ContactLaw", "ContactShape", "LinkShape", "MotionCapture", "MuscleData", "PathPoint", "Reading", "TimeSeriesTable",
    "collision_shapes", "from_c3d", "from_mjcf", "from_osim", "from_urdf", "mesh_vertices", "read_table", "to_urdf",
    "write_table",
]  # fmt: skip
