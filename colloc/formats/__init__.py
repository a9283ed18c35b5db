"""Models and tables of time series from the files of other programs, and tables as such files.

Models: a format is a file with a function that returns a `Model`: `urdf` has `from_urdf`. What formats in XML share,
elements, texts and numbers with errors that say where they are, is in `xml`; a body with several joints becomes a chain
by `colloc.model.floating.joint_chain`.

Tables: `time_series` has what they are, `tables` reads and writes them, `sto`, `trc` and `columns` (CSV, Parquet) are
the formats, `lines` reads text with errors that say the line; `c3d` has markers and force plates, tables of two rates.
"""

from colloc.formats.c3d import MotionCapture, from_c3d
from colloc.formats.tables import read_table, write_table
from colloc.formats.time_series import TimeSeriesTable
from colloc.formats.urdf import from_urdf

__all__ = ["MotionCapture", "TimeSeriesTable", "from_c3d", "from_urdf", "read_table", "write_table"]
