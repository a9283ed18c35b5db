"""Tables of time series: what they are, files of every format, back again, and what is refused by line."""

import re
from pathlib import Path

import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link

RNG = np.random.default_rng(4)
T = np.cumsum(RNG.uniform(0.01, 0.02, 7))  # s
NUMBERS = RNG.standard_normal((7, 3)) * 10.0 ** RNG.integers(-12, 12, (7, 3))


def scalars() -> co.formats.TimeSeriesTable:
    columns: dict[str, np.ndarray] = dict(zip(["hip", "pelvis_tx", "soleus_r"], NUMBERS.T, strict=True))
    return co.formats.TimeSeriesTable(T, columns, {"hip": "rad", "pelvis_tx": "m"}, {"subject": "a, b"})


def gaps() -> co.formats.TimeSeriesTable:
    return co.formats.TimeSeriesTable(T, {"hip": np.where(np.arange(7) == 3, np.nan, NUMBERS[:, 0])}, {"hip": "rad"})


def markers() -> co.formats.TimeSeriesTable:
    heel, toe = NUMBERS.copy(), NUMBERS[::-1].copy()
    heel[2:4] = np.nan
    return co.formats.TimeSeriesTable(T, {"heel": heel, "toe": toe}, {"heel": "m", "toe": "m"})


def same(table: co.formats.TimeSeriesTable, other: co.formats.TimeSeriesTable) -> None:
    assert table.names == other.names
    np.testing.assert_array_equal(table.t, other.t)
    for name in table.names:
        np.testing.assert_array_equal(table[name], other[name], err_msg=name)


def written(tmp_path: Path, name: str, content: str) -> Path:
    (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path / name


# -- tables -----------------------------------------------------------------------------------------------------------


def test_vectors_are_columns_of_three_or_three_columns():
    table = markers()
    np.testing.assert_array_equal(table.flat().vector("heel"), table["heel"])
    assert table.flat().names == ("heel_x", "heel_y", "heel_z", "toe_x", "toe_y", "toe_z")
    assert table.flat().units["toe_z"] == "m"
    plate = co.formats.TimeSeriesTable([0.0], {f"ground_force_v{axis}": [k] for k, axis in enumerate("xyz")})
    np.testing.assert_array_equal(plate.vector("ground_force_v"), [[0.0, 1.0, 2.0]])
    with pytest.raises(co.InputError, match="no vector of the table named 'heal'; did you mean 'heel'"):
        table.vector("heal")
    with pytest.raises(co.InputError, match="no column of the table named 'kneel'"):
        table["kneel"]


def test_parts_of_a_vector_must_not_have_the_name_of_another_column():
    table = co.formats.TimeSeriesTable([0.0], {"heel_x": [1.0], "heel": np.zeros((1, 3))})
    with pytest.raises(co.InputError, match="column 'heel' has a part 'heel_x', which is another column's name"):
        table.flat()


def test_a_part_of_a_table_counts_its_time_from_its_first_sample():
    part = markers().between(T[1], T[4])
    np.testing.assert_array_equal(part.t, T[1:5] - T[1])
    np.testing.assert_array_equal(part["toe"], markers()["toe"][1:5])
    assert part.units["toe"] == "m"
    with pytest.raises(co.InputError, match="must be samples between start and end, got 5 and 6 s of"):
        markers().between(5.0, 6.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"t": [0.0, 0.2, 0.2]}, r"must rise, got 0.2 s before 0.2 s \(number 1\)"),
        ({"t": [0.0, np.nan, 0.2]}, "times of a table must be finite"),
        ({"columns": {"a": [1.0, 2.0]}}, r"column 'a' must have shape \(3,\) or \(3, k\), got shape \(2,\)"),
        ({"columns": {"a": [1.0, np.inf, 2.0]}}, "column 'a' must be finite, or NaN"),
        ({"columns": {"": [1.0, 3.0, 2.0]}}, "name of a column must be a non-empty string"),
        ({"units": {"b": "m"}}, "no column of the table named 'b'"),
    ],
)
def test_tables_that_are_none_are_refused(changed: dict, message: str):
    arguments = {"t": [0.0, 0.1, 0.2], "columns": {"a": [1.0, 2.0, 3.0]}} | changed
    with pytest.raises(co.InputError, match=message):
        co.formats.TimeSeriesTable(**arguments)


def test_nobody_changes_a_table():
    table = scalars()
    for values in (table.t, table["hip"]):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0


# -- files and back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".sto", ".mot", ".csv", ".parquet"])
def test_scalars_come_back_to_the_bit(suffix: str, tmp_path: Path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"table{suffix}"
    co.formats.write_table(scalars(), path)
    back = co.formats.read_table(path)
    same(back, scalars())
    assert back.units["pelvis_tx"] == "m"
    assert back.units["hip"] == ("rad" if suffix in (".csv", ".parquet") else "")  # of which .sto and .mot say nothing
    if suffix in (".sto", ".mot"):
        assert back.metadata["subject"] == "a, b"


@pytest.mark.parametrize("suffix", [".sto", ".mot", ".csv", ".parquet"])
def test_gaps_stay_gaps(suffix: str, tmp_path: Path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"table{suffix}"
    if suffix in (".sto", ".mot"):
        with pytest.warns(co.support.InputWarning, match="column 'hip' for 'table.*' has gaps, and many of OpenSim's"):
            co.formats.write_table(gaps(), path)
    else:
        co.formats.write_table(gaps(), path)
    same(co.formats.read_table(path), gaps())


@pytest.mark.parametrize("suffix", [".trc", ".sto", ".csv"])
def test_markers_come_back_to_the_bit(suffix: str, tmp_path: Path):
    path = tmp_path / f"table{suffix}"
    co.formats.write_table(markers(), path)
    back = co.formats.read_table(path)
    same(back, markers().flat() if suffix == ".csv" else markers())
    assert set(back.units.values()) == {"m"}
    np.testing.assert_array_equal(back.vector("heel"), markers()["heel"])


def test_degrees_are_read_and_written_by_the_head(tmp_path: Path):
    co.formats.write_table(scalars(), tmp_path / "table.mot", degrees=True)
    lines = (tmp_path / "table.mot").read_text(encoding="utf-8").splitlines()
    assert "inDegrees=yes" in lines
    hip = [float(line.split("\t")[1]) for line in lines[lines.index("endheader") + 2 :]]
    np.testing.assert_allclose(hip, np.degrees(NUMBERS[:, 0]), rtol=1e-15)
    model = co.Model([co.Body("a", co.revolute(name="hip")), co.Body("b", co.prismatic(name="pelvis_tx"), parent="a")])
    for known, units in ((None, ("rad", "m", "rad")), (model, ("rad", "m", ""))):
        back = co.formats.read_table(tmp_path / "table.mot", known)
        assert tuple(back.units.values()) == units
        np.testing.assert_allclose(back["hip"], NUMBERS[:, 0], rtol=1e-15)
        np.testing.assert_array_equal(back["pelvis_tx"], NUMBERS[:, 1])


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("hip_flexion_r", "rad"), ("pelvis_tx", "m"), ("pelvis_tilt", "rad"), ("ground_force_vy", "N"),
        ("1_ground_force_px", "m"), ("ground_torque_z", "N m"), ("ground_moment_mz", "N m"),
        ("hip_flexion_r_moment", "N m"), ("pelvis_ty_force", "N"), ("soleus_r_activation", ""),
        ("/jointset/hip/hip_flexion_r/value", "rad"),
        ("/jointset/hip/hip_flexion_r/speed", "rad/s"), ("/jointset/root/pelvis_tx/speed", "m/s"),
        ("/forceset/soleus_r/activation", ""),
    ],
)  # fmt: skip
def test_names_tell_what_is_no_angle(name: str, unit: str, tmp_path: Path):
    path = written(tmp_path, "a.mot", f"head\ninDegrees=yes\nendheader\ntime\t{name}\n0\t90\n")
    table = co.formats.read_table(path)
    assert table.units[name] == unit
    assert table[name][0] == pytest.approx(np.pi / 2 if unit.startswith("rad") else 90.0, rel=1e-15)


def test_heads_and_rows_may_be_as_other_programs_write_them(tmp_path: Path):
    content = (
        "Coordinates\r\nversion=1\r\nnRows=2\r\nnColumns=3\r\ninDegrees=no\r\n\r\nUnits are S.I. units\r\n"
        "EndHeader\r\n  time   hip   knee\r\n  0.0   1e-3   -nan(ind)\r\n\r\n  0.1   2.   3\r\n"
    )
    table = co.formats.read_table(written(tmp_path, "a.sto", content))
    np.testing.assert_array_equal(table["hip"], [1e-3, 2.0])
    np.testing.assert_array_equal(table["knee"], [np.nan, 3.0])
    assert table.metadata["header"] == "Coordinates Units are S.I. units"


TRC = (
    "PathFileType\t4\t(X/Y/Z)\twalk.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
    "100.00\t100.00\t2\t2\tmm\t100.00\t1\t2\n"
    "Frame#\tTime\theel\t\t\ttoe\t\t\n"
    "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
    "{blank}1\t0.00\t1\t2\t3\t4\t5\t6\t\n2\t0.01\t\t\t\t40\n"
)


@pytest.mark.parametrize("blank", ["", "\n"])
def test_markers_in_millimetres_with_gaps(blank: str, tmp_path: Path):
    table = co.formats.read_table(written(tmp_path, "walk.trc", TRC.format(blank=blank)))
    np.testing.assert_allclose(table["heel"], [[0.001, 0.002, 0.003], [np.nan] * 3], rtol=1e-15)
    np.testing.assert_allclose(table["toe"], [[0.004, 0.005, 0.006], [0.04, np.nan, np.nan]], rtol=1e-15)
    assert table.metadata["DataRate"] == "100.00"


def test_csv_files_have_units_in_their_heads(tmp_path: Path):
    content = "Time [ms],hip [deg],x [mm],rate [deg/s],mass [kg],q[a]\n\n0,180,5,90,1,7\n10,,6,90,2,8\n"
    table = co.formats.read_table(written(tmp_path, "a.csv", content))
    assert table.units == {"hip": "rad", "x": "m", "rate": "rad/s", "mass": "kg", "q[a]": ""}
    np.testing.assert_allclose(table.t, [0.0, 0.01], rtol=1e-15)
    np.testing.assert_allclose(table["hip"], [np.pi, np.nan], rtol=1e-15)
    np.testing.assert_allclose(table["rate"], np.pi / 2, rtol=1e-15)
    np.testing.assert_allclose(table["x"], [0.005, 0.006], rtol=1e-15)


def test_a_solution_in_csv_is_a_table(tmp_path: Path):
    problem = co.Problem(two_link(), 1.0, co.integral(lambda now: now.tau[0] ** 2 + now.tau[1] ** 2), [co.initial(q=0)])
    solution = co.solve(problem, co.BSpline(4), guess=co.line((0.0, 0.0), (0.1, 0.1)))
    co.storage.to_csv(solution, tmp_path / "a.csv")
    table = co.formats.read_table(tmp_path / "a.csv")
    np.testing.assert_array_equal(table["tau[elbow]"], solution.tau["elbow"])
    assert table.units["tau[elbow]"] == "N m"


def test_parquet_files_of_pandas_may_have_time_as_index(tmp_path: Path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"hip [deg]": [0.0, 90.0]}, index=pandas.Index([0.0, 0.1], name="time"))
    frame.to_parquet(tmp_path / "a.parquet")
    table = co.formats.read_table(tmp_path / "a.parquet")
    np.testing.assert_allclose(table["hip"], [0.0, np.pi / 2], rtol=1e-15)
    np.testing.assert_array_equal(table.t, [0.0, 0.1])
    pandas.DataFrame({"time": [0.0], "phase": ["a"]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(co.InputError, match=r"b.parquet': column 'phase' must be numbers"):
        co.formats.read_table(tmp_path / "b.parquet")
    with pytest.raises(co.InputError, match="cannot be read as a Parquet file"):
        co.formats.read_table(written(tmp_path, "c.parquet", "no"))


# -- heads that contradict their rows ---------------------------------------------------------------------------------


def trc(rows: np.ndarray, head: str = "100\t100\t{n}\t{k}\tm\t100\t1\t{n}", names: str = "") -> str:
    """A file of markers by rows (N, 1 + 3k), beginning with the time."""
    n, k = rows.shape[0], rows.shape[1] // 3
    names = names or "Frame#\tTime\t" + "\t\t\t".join(f"m{j}" for j in range(k))
    lines = [TRC.split("\n")[0], TRC.split("\n")[1], head.format(n=n, k=k), names, "", ""]
    return "\n".join([*lines, *("\t".join(map(repr, [j, *row])) for j, row in enumerate(rows.tolist(), 1))])


def room(n: int = 5, k: int = 3) -> np.ndarray:
    """Rows of markers in a cube of a metre, at 100 Hz."""
    return np.hstack([0.01 * np.arange(n)[:, None], np.random.default_rng(1).uniform(0.1, 1.1, (n, 3 * k))])


def read_with(tmp_path: Path, name: str, content: str | bytes, match: str, **arguments) -> co.formats.TimeSeriesTable:
    """A table whose file is read with one warning."""
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.warns(co.support.InputWarning, match=match) as caught:
        table = co.formats.read_table(tmp_path / name, **arguments)
    assert len(caught) == 1
    return table


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.sto", "nRows=3\nendheader\ntime\ta\n0\t1\n1\t2\n", "line 1: nRows is 3, and there are 2, which are read"),
        ("a.mot", "nRows=2\nnColumns=9\nendheader\ntime\ta\n0\t1\n1\t2\n", "line 2: nColumns is 9, and there are 2"),
        ("a.trc", trc(room(2, 1)).replace("\t2\t1\tm", "\t7\t1\tm"), "line 3: NumFrames is 7, and there are 2"),
        ("a.trc", trc(room(2, 1)).replace("\t2\t1\tm", "\t2\t4\tm"), "line 3: NumMarkers is 4, and there are 1"),
    ],
)
def test_rows_are_believed_more_than_counts(name: str, content: str, message: str, tmp_path: Path):
    assert read_with(tmp_path, name, content, message).t.size == 2


@pytest.mark.parametrize("head", ["Frame#\tTimes\tm0\t\t\tm1\t\t\tm2", "Frame#\tTime   m0      m1     m2"])
def test_headings_of_markers_may_be_aligned_by_spaces_or_misspell_the_time(head: str, tmp_path: Path):
    table = co.formats.read_table(written(tmp_path, "a.trc", trc(room(), names=head)))
    assert table.names == ("m0", "m1", "m2")
    np.testing.assert_array_equal(table["m2"], room()[:, 7:])


def test_rows_may_begin_with_a_tab(tmp_path: Path):
    content = trc(room()).replace("\n1\t", "\n\t1\t")
    np.testing.assert_array_equal(co.formats.read_table(written(tmp_path, "a.trc", content))["m0"], room()[:, 1:4])


def test_flags_may_be_true_and_false(tmp_path: Path):
    for word, factor in (("true", np.pi / 180), ("false", 1.0)):
        path = written(tmp_path, "a.mot", f"inDegrees={word}\nendheader\ntime\thip\n0\t2\n")
        assert co.formats.read_table(path)["hip"][0] == pytest.approx(2 * factor, rel=1e-15)


def test_markers_at_the_origin_are_missing(tmp_path: Path):
    rows = room(6, 3)
    rows[2:4, 1:4] = 0.0
    rows[5, 4] = 0.0  # on the plane x = 0, as may be
    table = read_with(tmp_path, "a.trc", trc(rows), r"0 0 0, as many programs .* missing: m0 \(2 of 6\)$")
    np.testing.assert_array_equal(np.isnan(table["m0"]).all(axis=1), [False, False, True, True, False, False])
    np.testing.assert_array_equal(table["m1"], rows[:, 4:7])


@pytest.mark.parametrize(
    ("scale", "unit", "other"), [(1.0, "mm", "m"), (1000.0, "m", "mm"), (1000.0, "mm", ""), (1.0, "m", "")]
)
def test_a_person_of_a_millimetre_or_a_kilometre_is_in_another_unit(
    scale: float, unit: str, other: str, tmp_path: Path
):
    rows = room()
    rows[:, 1:] *= scale
    content = trc(rows).replace("\tm\t", f"\t{unit}\t")
    if other:
        read_with(tmp_path, "a.trc", content, f"Units are {unit}, and all markers are within .* m: are they in {other}")
    else:
        co.formats.read_table(written(tmp_path, "a.trc", content))


def test_milliseconds_are_suspected(tmp_path: Path):
    rows = room()
    rows[:, 0] *= 1000
    read_with(tmp_path, "a.trc", trc(rows), "DataRate is 100 Hz, and samples are 10 s apart: are times in milliseconds")
    content = "endheader\ntime\ta\n" + "".join(f"{k}\t1\n" for k in range(100))
    read_with(tmp_path, "a.mot", content, "100 samples are 1 s apart: are times in milliseconds")


@pytest.mark.parametrize(
    ("flag", "degrees", "message"),
    [
        (
            "no",
            True,
            "no, or missing, and 1 angles are far beyond their limits: knee reaches 112 rad, with limits of -2",
        ),
        ("yes", False, "inDegrees is yes, and none of 3 angles exceeds 1.95 degrees"),
        ("no", False, ""),
        ("yes", True, ""),
    ],
)
def test_limits_of_a_model_tell_degrees(flag: str, degrees: bool, message: str, tmp_path: Path):
    knee = co.Body("shank", co.revolute(limits=co.Limits(position=(-2.0, 0.2)), name="knee"))
    rest = [co.Body(name, co.revolute(name=name), "shank") for name in ("ankle", "toes")]
    values = np.array([-112.0, 12.0, 3.0]) * (1.0 if degrees else np.pi / 180)
    content = f"inDegrees={flag}\nendheader\ntime\tknee\tankle\ttoes\n0\t" + "\t".join(map(str, values))
    if message:
        read_with(tmp_path, "a.mot", content, message, model=co.Model([knee, *rest]))
    else:
        co.formats.read_table(written(tmp_path, "a.mot", content), co.Model([knee, *rest]))


def test_names_in_latin_1_are_read(tmp_path: Path):
    content = "endheader\ntime\tFuß\n0\t1\n".encode("latin-1")
    assert read_with(tmp_path, "a.sto", content, "is not UTF-8 and is read as Latin-1, with .*'Fuß'").names == ("Fuß",)


# -- files that are refused -------------------------------------------------------------------------------------------

HEAD = "name\nnRows=2\nnColumns=3\ninDegrees=no\nendheader\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.sto", "time\ta\n0\t1\n", "no OpenSim table: it has no line endheader"),
        ("a.sto", HEAD, "line 5: names of columns must follow endheader"),
        ("a.sto", HEAD + "hip\tknee\n", "line 6: the first column must be time, got 'hip'"),
        ("a.sto", HEAD + "time\ta\ta\n", "line 6: two columns are named 'a'"),
        ("a.sto", HEAD + "time\ta\tb\n0\t1\t2\n0.1\t1\n", "line 8: there must be 3 columns, got 2"),
        (
            "a.sto",
            HEAD + "time\ta\tb\n0\t1\t2\n0.1\t1\t2,5\n",
            "line 8: 'b' must be a number, nan or empty, got '2,5'; use a decimal point",
        ),
        ("a.sto", HEAD + "time\ta\tb\n0\t1\t2\n\n0.1\t1\tinf\n", "line 9: 'b' must be finite"),
        ("a.sto", HEAD + "time\ta\tb\n0\t1\t2\n0\t1\t2\n", "line 8: times must rise, got 0 s after 0 s"),
        ("a.sto", HEAD + "time\ta\tb\n0\t1\t2\nnan\t1\t2\n", "line 8: the time is missing"),
        ("a.sto", "inDegrees=maybe\nendheader\ntime\n", "line 1: inDegrees must be yes or no, got 'maybe'"),
        ("a.sto", "a\nDataType=Mat33\nendheader\ntime\n", "line 2: DataType must be one of double, Vec3"),
        ("a.sto", "DataType=Vec3\nendheader\ntime\ta\n0\t1,2\n", "line 4: 'a' must be 3 numbers with commas between"),
        ("a.sto", "a\0b", "is not text"),
        ("a.trc", "Frame#\n", "line 1: a TRC file begins with PathFileType, got 'Frame#'"),
        ("a.trc", TRC.format(blank="").replace("mm", "in"), "line 3: Units must be m, cm or mm, got 'in'"),
        ("a.trc", TRC.format(blank="").replace("mm\t", ""), "line 3: there must be a value for each of DataRate"),
        ("a.trc", TRC.format(blank="").replace("\ttoe", "\theel"), "line 4: two markers are named 'heel'"),
        ("a.trc", TRC.format(blank="").replace("\ttoe", ""), "line 4: NumMarkers is 2, and 1 are named"),
        ("a.trc", TRC.format(blank="").replace("\t40", "\t4o"), "line 7: 'toe X' must be a number, nan or empty"),
        ("a.trc", TRC.format(blank="").replace("\t6\t", "\t6\t7"), "line 6: there must be 7 columns after the frame's"),
        ("a.trc", TRC.format(blank="").replace("2\t0.01", "2\t0.00"), "line 7: times must rise"),
        ("a.csv", "", "line 1: names of columns must be in the first line"),
        ("a.csv", "time;hip\n0;1\n", "columns must be separated by commas, got semicolons"),
        ("a.csv", "hip,time\n1,0\n", "the first column must be time, in s or ms, got"),
        ("a.csv", "time,a\n0,1\n1,2,3\n", "line 3: there must be 2 columns, got 3"),
        ("a.csv", "time,a\n0,left\n", "line 2: 'a' must be a number, nan or empty, got 'left'"),
        ("a.csv", "time,a\n1,0\n0,1\n", "line 3: times must rise, got 0 s after 1 s"),
        ("a.csv", 'time,"a\n0,1\n', "cannot be read as a CSV file: unexpected end of data"),
        ("a.c3d", "", "a C3D file has tables of two rates: co.formats.from_c3d"),
        ("a.txt", "", "file name must end in .sto, .mot, .trc, .csv, .parquet, got"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_by_name_and_line(name: str, content: str, message: str, tmp_path: Path):
    with pytest.raises(co.InputError, match=re.escape(message)) as caught:
        co.formats.read_table(written(tmp_path, name, content))
    assert name in str(caught.value)


def test_files_that_are_not_there_are_refused(tmp_path: Path):
    for suffix in (".sto", ".trc", ".csv"):
        with pytest.raises(co.InputError, match="is no file"):
            co.formats.read_table(tmp_path / f"none{suffix}")
    (tmp_path / "a.sto").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(co.InputError, match="is no table of OpenSim's: it is not text"):
        co.formats.read_table(tmp_path / "a.sto")
    with pytest.raises(co.InputError, match=r"model is for the units of \.sto and .mot files"):
        co.formats.read_table(written(tmp_path, "a.csv", "time\n"), two_link())


def test_what_a_format_cannot_hold_is_not_written(tmp_path: Path):
    spaced = co.formats.TimeSeriesTable([0.0], {"left hip": [1.0]})
    angle = co.formats.TimeSeriesTable([0.0], {"hip": np.zeros((1, 3))}, {"hip": "rad"})
    noted = co.formats.TimeSeriesTable([0.0], {"hip": [1.0]}, metadata={"note": "two\nlines"})
    for table, name, message in (
        (spaced, "a.mot", "names of columns in 'a.mot' must be without spaces and commas, got 'left hip'"),
        (scalars(), "a.trc", r"a TRC file holds markers, of shape \(N, 3\), got 'hip' of shape \(7,\)"),
        (angle, "a.trc", "a TRC file holds places in metres, got 'hip' in 'rad'"),
        (noted, "a.sto", "must be lines key=value, got 'note'"),
        (scalars(), "a.txt", "file name must end in"),
        (scalars(), "no/a.sto", "does not exist"),
    ):
        with pytest.raises(co.InputError, match=message):
            co.formats.write_table(table, tmp_path / name)
    with pytest.raises(co.InputError, match=r"degrees are for \.sto and .mot files"):
        co.formats.write_table(scalars(), tmp_path / "a.csv", degrees=True)
    assert list(tmp_path.iterdir()) == []
