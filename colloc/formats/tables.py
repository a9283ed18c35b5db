"""Tables from files and into files, in the format of the file's suffix."""

from __future__ import annotations

import os

from colloc.formats.columns import csv_bytes, headed, parquet_bytes, read_csv, read_parquet
from colloc.formats.sto import read_sto, sto_bytes
from colloc.formats.time_series import TimeSeriesTable
from colloc.formats.trc import read_trc, trc_bytes
from colloc.model import Model
from colloc.support.checks import InputError, flag, instance, quoted, spelt
from colloc.support.files import check_path, check_writable, write_atomically
from colloc.support.interrupts import reraise_interrupt

_OPENSIM = (".sto", ".mot")
_SUFFIXES = (*_OPENSIM, ".trc", ".csv", ".parquet")


@spelt
@reraise_interrupt
def read_table(path: str | os.PathLike[str], model: Model | None = None) -> TimeSeriesTable:
    """The time series in a file, in SI units and radians.

    - .sto and .mot, OpenSim's tables. They do not have units of columns, only whether angles are in degrees. Columns
      that are coordinates of the model have its units. For others the name decides: pelvis_tx is a length, and so on
      for forces, torques and points of application by the conventions of OpenSim's tools. All other columns of a file
      in degrees are angles if no model is passed; else their unit is unknown, "", and numbers are unchanged.
    - .trc, markers.
    - .csv and .parquet, columns headed ``name [unit]``; the first is t or time. Degrees, mm, cm, ms and N mm become
      radians, m, s and N m; other units, or none, are kept.

    Parameters
    ----------
    path : str or PathLike
    model : Model, optional
        For .sto and .mot: the model with these coordinates.

    Returns
    -------
    TimeSeriesTable
        NaN for missing samples.

    Raises
    ------
    InputError
        With the line: for a file that cannot be read, times that do not rise, repeated names, text in place of numbers.
    InputWarning
        For a head that announces other numbers of rows or columns than there are; for markers at exactly 0 0 0, as many
        programs write hidden ones, which are read as missing; for times that seem to be milliseconds, markers whose
        unit seems to be 1000 times off, angles that seem to be degrees by the limits of the model or radians by their
        size, and text in Latin-1. Numbers are read as the head says.
    ImportError
        For Parquet without pandas and pyarrow: ``pip install 'colloc[formats]'``.

    See Also
    --------
    write_table, from_c3d

    Examples
    --------
    >>> table = co.formats.TimeSeriesTable([0.0, 0.1], {"hip": [0.1, 0.2], "pelvis_tx": [0.0, 0.3]}, {"hip": "rad"})
    >>> co.formats.write_table(table, "walk.mot", degrees=True)
    >>> with open("walk.mot") as file:
    ...     print(file.read().splitlines()[-1].split())
    ['0.1', '11.459155902616466', '0.3']
    >>> co.formats.read_table("walk.mot")
    TimeSeriesTable(2 samples from 0 to 0.1 s: hip [rad], pelvis_tx [m])
    """
    suffix = _suffix(path)
    if model is not None:
        instance("model", model, Model)
        if suffix not in _OPENSIM:
            raise InputError(f"model is for the units of .sto and .mot files, got it for {str(path)!r}")
    if suffix in _OPENSIM:
        return read_sto(path, model)
    readers = {".trc": read_trc, ".csv": read_csv, ".parquet": read_parquet}
    return readers[suffix](path)


@spelt
@reraise_interrupt
def write_table(table: TimeSeriesTable, path: str | os.PathLike[str], degrees: bool = False) -> None:
    """Write time series to a file, atomically, so that `read_table` and OpenSim read every bit of every number.

    Vectors become columns name_x, name_y, name_z, except in .trc files, and in .sto and .mot files with vectors of
    three only (OpenSim's DataType Vec3). The heads of .csv and .parquet files have units, those of .sto and .mot files
    metadata.

    Parameters
    ----------
    table : TimeSeriesTable
    path : str or PathLike
        Ends in .sto, .mot, .trc (markers only), .csv or .parquet.
    degrees : bool
        Whether .sto and .mot files have angles, columns in rad, in degrees.

    Raises
    ------
    InputError
        For a path that cannot be written, or columns that the format cannot hold, such as angles in a .trc file.
    InputWarning
        For gaps in .sto and .mot files of scalars: OpenSim's windows and its older tools stop reading there silently.
    ImportError
        For Parquet without pandas and pyarrow: ``pip install 'colloc[formats]'``.

    See Also
    --------
    read_table, colloc.storage.coordinate_table

    Examples
    --------
    >>> table = co.formats.TimeSeriesTable([0.0, 0.1], {"heel": [[0.0, 0.1, 0.0], [np.nan] * 3]}, {"heel": "m"})
    >>> co.formats.write_table(table, "walk.trc")
    >>> co.formats.read_table("walk.trc")["heel"]
    array([[0. , 0.1, 0. ],
           [nan, nan, nan]])
    """
    instance("table", table, TimeSeriesTable)
    suffix, target = _suffix(path), check_writable(path)
    if flag("degrees", degrees) and suffix not in _OPENSIM:
        raise InputError(f"degrees are for .sto and .mot files, got them for {str(path)!r}")
    if suffix in _OPENSIM:
        content = sto_bytes(table, target, degrees)
    elif suffix == ".trc":
        content = trc_bytes(table, target)
    else:
        content = csv_bytes(*headed(table)) if suffix == ".csv" else parquet_bytes(table)
    write_atomically(target, content)


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = check_path(path).suffix.lower()
    if suffix == ".c3d":
        raise InputError(f"a C3D file has tables of two rates: co.formats.from_c3d({str(path)!r})")
    if suffix not in _SUFFIXES:
        raise InputError(f"file name must end in {', '.join(_SUFFIXES)}, got {quoted(str(path))}")
    return suffix
