"""C3D files that ezc3d writes: markers, units, gaps, and force plates whose wrench is known."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colloc as co

FRAMES, EACH = 30, 5  # frames, samples of the plate in each
RNG = np.random.default_rng(7)
PLACES = RNG.uniform(-1, 1, (FRAMES, 2, 3))  # m
PLACES[4:7, 1] = np.nan
Z_UP = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # to x forward, y up
CORNERS = np.array([[0.9, 0.2, 0], [0.5, 0.2, 0], [0.5, 0.8, 0], [0.9, 0.8, 0]])  # m, in the laboratory, which is z up
DEPTH = 0.04  # m, of the sensor below the surface


def wrench() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, centre of pressure and free moment in the laboratory, each shape (N, 3)."""
    t = np.linspace(0, 1, FRAMES * EACH)
    force = np.column_stack([60 * np.sin(5 * t), 20 * np.cos(3 * t), 700 + 100 * np.sin(9 * t)])  # N
    point = np.column_stack([0.6 + 0.2 * t, 0.4 + 0.1 * t**2, 0 * t])  # m
    return force, point, np.column_stack([0 * t, 0 * t, 5 * np.cos(4 * t)])  # N m


def channels() -> np.ndarray:
    """Channels of a plate of type 2 for this wrench: force and moment about its sensor, in its axes."""
    force, point, free = wrench()
    axes = np.array([CORNERS[0] - CORNERS[1], CORNERS[0] - CORNERS[3]])  # x, y of the plate by the numbers of corners
    x, y = axes / np.linalg.norm(axes, axis=1)[:, None]
    rotation = np.array([x, y, np.cross(x, y)])
    sensor = CORNERS.mean(axis=0) + DEPTH * rotation[2]  # z of the plate points down
    moment = np.cross(point - sensor, force) + free
    return np.hstack([force @ rotation.T, 1e3 * moment @ rotation.T]).T  # N, N mm


def recorded(path: Path, unit: str = "mm", plate: bool = True, names: tuple[str, ...] = ("heel", "toe")) -> Path:
    ezc3d = pytest.importorskip("ezc3d")
    content = ezc3d.c3d()
    scale = {"mm": 1e3, "m": 1.0, "furlong": 1.0}[unit]
    point, analog, platform = (content["parameters"][name] for name in ("POINT", "ANALOG", "FORCE_PLATFORM"))
    point["RATE"]["value"], point["LABELS"]["value"], point["UNITS"]["value"] = [100], names, [unit]
    content["data"]["points"] = scale * PLACES.transpose(2, 1, 0)
    if plate:
        analog["RATE"]["value"] = [100 * EACH]
        analog["LABELS"]["value"] = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
        analog["UNITS"]["value"] = ("N", "N", "N", "Nmm", "Nmm", "Nmm")
        content["data"]["analogs"] = channels()[None]
        values: dict[str, Any] = {"USED": [1], "TYPE": [2], "CHANNEL": np.arange(1, 7)[:, None]}
        values |= {"CORNERS": scale * CORNERS.T[:, :, None], "ORIGIN": scale * np.array([[0.0], [0.0], [-DEPTH]])}
        for name, value in values.items():
            platform[name]["value"] = value
    content.write(str(path))
    return path


@pytest.mark.parametrize("unit", ["mm", "m"])
def test_markers_are_in_metres_with_gaps(unit: str, tmp_path: Path):
    markers = co.formats.from_c3d(recorded(tmp_path / "a.c3d", unit, plate=False)).markers
    assert markers.names == ("heel", "toe")
    np.testing.assert_allclose(markers.t, np.arange(FRAMES) / 100, rtol=1e-15)
    for k, name in enumerate(markers.names):
        np.testing.assert_allclose(markers[name], PLACES[:, k], rtol=1e-6)  # files hold floats of 32 bits


def test_markers_are_those_that_ezc3d_reads(tmp_path: Path):
    path = recorded(tmp_path / "a.c3d")
    markers = co.formats.from_c3d(path, Z_UP).markers
    points = pytest.importorskip("ezc3d").c3d(str(path))["data"]["points"]
    np.testing.assert_allclose(markers["heel"], 1e-3 * points[[0, 2, 1], 0].T * [1, 1, -1], rtol=1e-12)


def test_the_wrench_of_a_plate_is_the_one_that_was_put_in(tmp_path: Path):
    capture = co.formats.from_c3d(recorded(tmp_path / "a.c3d"))
    np.testing.assert_allclose(capture.plates.t, np.arange(FRAMES * EACH) / 500, rtol=1e-15)
    force, point, free = wrench()
    for name, values, size in (("force_1_v", force, 800), ("force_1_p", point, 1), ("torque_1", free, 500)):
        np.testing.assert_allclose(capture.plates.vector(f"ground_{name}"), values, atol=1e-6 * size, err_msg=name)


def test_the_point_of_application_is_that_of_ezc3d(tmp_path: Path):
    path = recorded(tmp_path / "a.c3d")
    plates = co.formats.from_c3d(path).plates
    (plate,) = pytest.importorskip("ezc3d").c3d(str(path), extract_forceplat_data=True)["data"]["platform"]
    np.testing.assert_allclose(plates.vector("ground_force_1_v"), plate["force"].T, rtol=1e-12)
    np.testing.assert_allclose(plates.vector("ground_force_1_p"), 1e-3 * plate["center_of_pressure"].T, atol=1e-12)
    np.testing.assert_allclose(plates.vector("ground_torque_1"), 1e-3 * plate["Tz"].T, atol=1e-12)


def test_a_laboratory_may_be_turned(tmp_path: Path):
    path = recorded(tmp_path / "a.c3d")
    before, after = (co.formats.from_c3d(path, *given).plates for given in ((), (Z_UP,)))
    for name in ("ground_force_1_v", "ground_force_1_p", "ground_torque_1"):
        np.testing.assert_allclose(after.vector(name), before.vector(name) @ Z_UP.T, atol=1e-9, err_msg=name)
    co.formats.write_table(after, tmp_path / "grf.mot")
    back = co.formats.read_table(tmp_path / "grf.mot")
    assert back.units == after.units
    np.testing.assert_array_equal(back["ground_force_1_vy"], after["ground_force_1_vy"])


def test_recordings_without_plates_have_no_columns_of_them(tmp_path: Path):
    assert co.formats.from_c3d(recorded(tmp_path / "a.c3d", plate=False)).plates.names == ()


def test_what_is_no_recording_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = recorded(tmp_path / "a.c3d", "furlong", plate=False)
    with pytest.raises(co.InputError, match=r"a.c3d': POINT:UNITS must be in m or a part of it, got 'furlong'"):
        co.formats.from_c3d(path)
    with pytest.raises(co.InputError, match=r"its 2 markers must have a name each, got \['heel', 'heel'\]"):
        co.formats.from_c3d(recorded(tmp_path / "c.c3d", plate=False, names=("heel", "heel")))
    with pytest.raises(co.InputError, match="rotation must be a rotation matrix"):
        co.formats.from_c3d(path, -np.eye(3))
    with pytest.raises(co.InputError, match=r"none.c3d' is no file"):
        co.formats.from_c3d(tmp_path / "none.c3d")
    (tmp_path / "b.c3d").write_bytes(b"no recording" * 50)
    with pytest.raises(co.InputError, match=r"b.c3d' cannot be read as a C3D file"):
        co.formats.from_c3d(tmp_path / "b.c3d")
    monkeypatch.setitem(sys.modules, "ezc3d", None)
    with pytest.raises(ImportError, match="needs ezc3d"):
        co.formats.from_c3d(path)
