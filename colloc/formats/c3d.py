"""Recordings of motion laboratories in C3D files: markers and force plates."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from colloc.formats.sto import reaction_columns
from colloc.formats.time_series import TimeSeriesTable, in_si
from colloc.formats.unit_checks import without_zeros
from colloc.support.checks import InputError, finite_array, quoted, spelt, warn
from colloc.support.files import check_readable, refused

_SAME = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


class MotionCapture(NamedTuple):
    """A recording of a motion laboratory, at two rates.

    Parameters
    ----------
    markers : TimeSeriesTable
        Positions, each shape (N, 3) [m]; NaN while out of sight.
    plates : TimeSeriesTable
        Of every force plate, with OpenSim's names: ground_force_1_vx to _vz, the force on the person [N];
        ground_force_1_px to _pz, the point of application [m]; ground_torque_1_x to _z, the moment about that point
        [N m]. No columns without plates.

    Examples
    --------
    >>> capture = co.formats.MotionCapture(  # as from_c3d returns
    ...     markers=co.formats.TimeSeriesTable([0.0, 0.01], {"heel": np.zeros((2, 3))}, {"heel": "m"}),
    ...     plates=co.formats.TimeSeriesTable([0.0, 0.01], {"ground_force_1_vy": [700.0, 705.0]}),
    ... )
    >>> capture.markers["heel"].shape
    (2, 3)
    """

    markers: TimeSeriesTable
    plates: TimeSeriesTable


@spelt
def from_c3d(path: str | os.PathLike[str], rotation: Any = _SAME) -> MotionCapture:
    """Markers and force plates from a C3D file.

    Files hold the force of the ground on the person; plates of types 1 to 4 are read as ezc3d does. The point of
    application follows from force and moment: the point of the plate's surface about which the moment is normal; NaN
    without a normal force.

    Parameters
    ----------
    path : str or PathLike
    rotation : shape (3, 3)
        From the axes of the laboratory to those of the model. With x forward, y to the left and z up there, and y up
        here, it is [[1, 0, 0], [0, 0, 1], [0, -1, 0]].

    Returns
    -------
    MotionCapture
        Time starts at the first frame of the file.

    Raises
    ------
    InputError
        For a file that cannot be read, unknown units, or a matrix that is no rotation.
    InputWarning
        For a file without markers, and for markers at exactly 0 0 0, which are read as missing.
    ImportError
        Without ezc3d: ``pip install 'colloc[formats]'``.

    See Also
    --------
    read_table, colloc.problem.ground.recorded

    Examples
    --------
    >>> walk = co.formats.from_c3d("walk.c3d")  # doctest: +SKIP
    >>> co.formats.write_table(walk.markers, "walk.trc")  # doctest: +SKIP
    >>> co.formats.write_table(walk.plates, "walk_grf.mot")  # doctest: +SKIP
    """
    turn = finite_array("rotation", rotation, (3, 3))
    if np.abs(turn @ turn.T - np.eye(3)).max() > 1e-6 or np.linalg.det(turn) < 0:
        raise InputError(f"rotation must be a rotation matrix, got {quoted(turn.tolist())}")
    file = check_readable(path, "C3D file")
    try:
        from ezc3d import c3d  # an extra  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError("co.formats.from_c3d needs ezc3d: pip install 'colloc[formats]'") from error
    with refused(path, "cannot be read as a C3D file"):
        content = c3d(str(file), extract_forceplat_data=True)
    return MotionCapture(_markers(path, content, turn), _plates(path, content, turn))


def _markers(path: str | os.PathLike[str], content: Any, turn: np.ndarray) -> TimeSeriesTable:
    about = content["parameters"]["POINT"]
    count = content["data"]["points"].shape[1]
    names = _labels(about, count)
    if len(set(names)) < count or not all(names):
        raise InputError(f"{str(path)!r}: its {count} markers must have a name each, got {quoted(names)}")
    places = np.einsum("ij,jkn->kni", turn, content["data"]["points"][:3])
    factor = _factor(path, "POINT:UNITS", next(iter(about["UNITS"]["value"]), "mm"), "m") if names else 1.0
    columns = without_zeros(path, {name: factor * values for name, values in zip(names, places, strict=True)})
    if not names:
        warn(f"{str(path)!r} has no markers")
    t = _times(path, places.shape[1], about["RATE"]["value"][0])
    return TimeSeriesTable(t, columns, dict.fromkeys(names, "m"))


def _labels(about: Any, size: int) -> list[str]:
    """Names of all points; beyond 255 they continue under LABELS2 and so on."""
    more = [f"LABELS{k}" for k in range(2, 2 + size // 255) if f"LABELS{k}" in about]
    return [label.strip() for key in ["LABELS", *more] for label in about[key]["value"]][:size]


def _plates(path: str | os.PathLike[str], content: Any, turn: np.ndarray) -> TimeSeriesTable:
    plates = content["data"]["platform"]
    reactions: dict[str, tuple[np.ndarray, str]] = {}
    for k, plate in enumerate(plates, 1):
        length = _factor(path, f"positions of force plate {k}", plate["unit_position"], "m")
        newton = _factor(path, f"forces of force plate {k}", plate["unit_force"], "N")
        force = newton * turn @ plate["force"]
        moment = _factor(path, f"moments of force plate {k}", plate["unit_moment"], "N m") * turn @ plate["moment"]
        corners = length * turn @ plate["corners"]
        point, torque = _contact(force, moment, corners)
        reactions |= reaction_columns(str(k), force.T, point.T, torque.T)
    size = plates[0]["force"].shape[1] if plates else 0
    rate = content["parameters"]["ANALOG"]["RATE"]["value"][0] if plates else 1.0
    columns = {name: values for name, (values, _) in reactions.items()}
    return TimeSeriesTable(_times(path, size, rate), columns, {name: unit for name, (_, unit) in reactions.items()})


def _contact(force: np.ndarray, moment: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point at which a force meets a plate, and the moment about it, each shape (3, N).

    The given moment is about the middle of the corners, shape (3, 4); the returned one is normal to the plate.
    """
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 1])
    normal = normal / np.linalg.norm(normal)
    pressure = normal @ force
    pressure = np.where(pressure == 0, np.nan, pressure)
    arm = np.cross(normal, moment, axisb=0, axisc=0) / pressure
    torque = np.outer(normal, normal @ (moment - np.cross(arm, force, axis=0)))
    return arm + corners.mean(axis=1)[:, None], torque


def _times(path: str | os.PathLike[str], size: int, rate: float) -> np.ndarray:
    if size and not rate > 0:
        raise InputError(f"{str(path)!r}: rates of samples must be positive, got {rate}")
    return np.arange(size) / rate


def _factor(path: str | os.PathLike[str], what: str, unit: str, wanted: str) -> float:
    known, factor = in_si(str(unit).strip())
    if known != wanted:
        raise InputError(f"{str(path)!r}: {what} must be in {wanted} or a part of it, got {quoted(unit)}")
    return factor
