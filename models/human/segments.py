"""Tables of body segments, checked row by row."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import colloc as co
from colloc.support.checks import finite_number

DATA = Path(__file__).parent / "data"
AXIAL = ("lower_trunk", "middle_trunk", "upper_trunk", "head")  # on the midline, upwards
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")  # on either side
RADII = ("sagittal_percent", "transverse_percent", "longitudinal_percent")
COLUMNS = ("length_m", "mass_percent", "com_percent", *RADII)


def table(path: str | Path) -> list[dict[str, Any]]:
    """Rows of a comma-separated file, by its name if it is in models/human/data; lines that begin with # are notes."""
    place = DATA / path if (DATA / path).exists() else Path(path)
    with open(place, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def segments(sex: str, path: str | Path = "human_segments.csv") -> dict[str, Mapping[str, float]]:
    """Segments of one sex: length [m], mass [% of the body's], centre of mass and radii of gyration [% of the length].

    Parameters
    ----------
    sex : str
        Sex whose rows are read.
    path : str or Path
        A file with the columns sex, segment and `COLUMNS`, by default de Leva's table, human_segments.csv.

    Raises
    ------
    InputError
        For a segment that is missing or there twice, a value that is not a positive number, a centre of mass beyond the
        segment, radii of gyration that no body has, or masses that do not add up to a body; names the row.
    """
    rows: dict[str, Mapping[str, float]] = {}
    for number, row in enumerate(table(path), 1):
        if row.get("sex") != sex:
            continue
        name, where = row.get("segment"), f"{Path(path).name}, row {number} ({sex} {row.get('segment')})"
        if name not in (*AXIAL, *LIMBS):
            raise co.unknown_name(f"segment in {where}", str(name), (*AXIAL, *LIMBS))
        if name in rows:
            raise co.InputError(f"{where}: the segment is there twice")
        rows[name] = _checked(where, row)
    if missing := [name for name in (*AXIAL, *LIMBS) if name not in rows]:
        raise co.InputError(f"{Path(path).name} has no row for {sex} {', '.join(missing)}")
    total = sum(row["mass_percent"] * (1 if name in AXIAL else 2) for name, row in rows.items())
    if not 99 <= total <= 101:
        raise co.InputError(f"{Path(path).name}: {sex} masses, limbs twice, add up to {total:.4g} %, not 100")
    return rows


def _checked(where: str, row: Mapping[str, Any]) -> dict[str, float]:
    values = {}
    for column in COLUMNS:
        try:
            number = float(row[column])
        except (KeyError, TypeError, ValueError):
            raise co.InputError(f"{where}: {column} must be a number, got {row.get(column)!r}") from None
        values[column] = finite_number(f"{where}: {column}", number, positive=True)
    if values["com_percent"] >= 100:
        raise co.InputError(f"{where}: com_percent must be below 100, got {values['com_percent']}")
    squares = sorted(values[column] ** 2 for column in RADII)
    if squares[2] > squares[0] + squares[1]:  # the triangle inequality of moments of inertia
        raise co.InputError(f"{where}: no body has radii of gyration {', '.join(f'{values[k]:g}' for k in RADII)}")
    return values
