"""Force plates in the columns of a table, under the names that OpenSim's tools know."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colloc.formats.time_series import TimeSeriesTable
from colloc.support.checks import InputError, instance, spelt, warn


class ForcePlate(NamedTuple):
    """The record of a force plate, in the order in which `colloc.problem.ground.recorded` takes it.

    Parameters
    ----------
    times : ndarray, shape (N,) [s]
        As in the table.
    force : ndarray, shape (N, 3) [N]
    point : ndarray, shape (N, 3) [m]
        Where the force acts; NaN where it is unknown.
    torque : ndarray, shape (N, 3) [N m]
        About that point.

    Examples
    --------
    >>> plate = co.formats.ForcePlate(np.arange(2.0), np.ones((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
    >>> plate.force.shape
    (2, 3)
    """

    times: np.ndarray
    force: np.ndarray
    point: np.ndarray
    torque: np.ndarray


@spelt
def force_plates(table: TimeSeriesTable) -> dict[str, ForcePlate]:
    """The force plates of a table by the name of their force, such as "ground_force_1" or "1_ground_force".

    The force of a plate has columns that end in vx, vy, vz, its point of application px, py, pz. The torque has the
    name of the force and mx, my, mz, or "torque" or "moment" in the place of "force" and x, y, z.

    Parameters
    ----------
    table : TimeSeriesTable
        As `read_table` reads it of a .mot or .sto file, or the plates of `from_c3d`.

    Raises
    ------
    InputError
        For a table without forces, and a force without a point.
    InputWarning
        For a force without a torque, which is zero then.

    See Also
    --------
    read_table, from_c3d, colloc.problem.ground.recorded

    Examples
    --------
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> columns = {f"ground_force_r_v{axis}": (700.0 if axis == "y" else 0.0) + 0 * t for axis in "xyz"}
    >>> columns |= {f"ground_force_r_p{axis}": 0 * t for axis in "xyz"}
    >>> columns |= {f"ground_torque_r_{axis}": 0 * t for axis in "xyz"}
    >>> plates = co.formats.force_plates(co.formats.TimeSeriesTable(t, columns))
    >>> list(plates)
    ['ground_force_r']
    >>> load = co.problem.ground.recorded("elbow", *plates["ground_force_r"])
    """
    instance("table", table, TimeSeriesTable)
    stems = [name[:-2] for name in table.names if name.endswith("vx") and _has(table, f"{name[:-2]}v")]
    if not stems:
        raise InputError(
            "there must be columns of forces, such as ground_force_vx, ground_force_vy and ground_force_vz, got "
            f"{', '.join(table.names[:12])}"
        )
    return {stem.rstrip("_"): _plate(table, stem) for stem in stems}


def _plate(table: TimeSeriesTable, stem: str) -> ForcePlate:
    if not _has(table, f"{stem}p"):
        raise InputError(f"force {stem}v needs a point of application in columns {stem}px, {stem}py and {stem}pz")
    others = [stem.replace("force", word) for word in ("torque", "moment")]
    named = [f"{stem}m", *(start + end for start in others if start != stem for end in ("", "m"))]
    torque = next((name for name in named if _has(table, name)), None)
    if torque is None:
        warn(f"force {stem}v has no torque, which is taken as zero; it would have columns such as {named[0]}x")
    free = np.zeros((table.t.size, 3)) if torque is None else table.vector(torque)
    return ForcePlate(table.t, table.vector(f"{stem}v"), table.vector(f"{stem}p"), free)


def _has(table: TimeSeriesTable, name: str) -> bool:
    """Whether a table has a vector in three columns."""
    return all(f"{name}{axis}" in table.columns for axis in "xyz")
