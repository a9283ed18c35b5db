"""OpenSim reads what is written here without a word, and what it writes is read here, all to the bit."""

from pathlib import Path

import numpy as np
import pytest

import colloc as co
from tests.formats.test_tables import NUMBERS, T, gaps, markers, scalars
from tests.support.opensim import needs_opensim, run_opensim

pytestmark = needs_opensim

READ = """
table = osim.{kind}("{name}")
np.savez("read.npz", t=np.array(table.getIndependentColumn()), **{{
    label: np.array([table.getDependentColumn(label)[k]{get} for k in range(table.getNumRows())])
    for label in table.getColumnLabels()
}})
print(dict((key, table.getTableMetaDataString(key)) for key in table.getTableMetaDataKeys()))
"""
SCALARS = "TimeSeriesTable", ""
VECTORS = "TimeSeriesTableVec3", ".to_numpy()"


def read_by_opensim(folder: Path, name: str, how: tuple[str, str]) -> tuple[dict[str, np.ndarray], str]:
    kind, get = how
    said = run_opensim(READ.format(kind=kind, name=name, get=get), folder)
    with np.load(folder / "read.npz") as file:
        return dict(file), said


@pytest.mark.parametrize("suffix", [".sto", ".mot"])
@pytest.mark.parametrize("degrees", [False, True])
def test_it_reads_our_scalars(suffix: str, degrees: bool, tmp_path: Path):
    co.formats.write_table(scalars(), tmp_path / f"a{suffix}", degrees=degrees)
    read, said = read_by_opensim(tmp_path, f"a{suffix}", SCALARS)
    assert f"'inDegrees': '{'yes' if degrees else 'no'}'" in said
    assert "'subject': 'a, b'" in said
    np.testing.assert_array_equal(read["t"], T)
    factor = {"hip": 180 / np.pi if degrees else 1.0}
    for name in scalars().names:
        np.testing.assert_array_equal(read[name], factor.get(name, 1.0) * scalars()[name], err_msg=name)


def test_the_part_of_it_that_its_windows_use_reads_our_motions(tmp_path: Path):
    co.formats.write_table(scalars(), tmp_path / "a.mot", degrees=True)
    said = run_opensim('s = osim.Storage("a.mot"); print(s.isInDegrees(), s.getSize(), s.getName())', tmp_path)
    assert said.split("\n")[-2] == "True 7 a"


def test_it_reads_our_gaps_but_for_its_older_part(tmp_path: Path):
    """Which ends silently at the first: the reason for a warning."""
    with pytest.warns(co.support.InputWarning, match="has gaps"):
        co.formats.write_table(gaps(), tmp_path / "a.sto")
    read, _ = read_by_opensim(tmp_path, "a.sto", SCALARS)
    np.testing.assert_array_equal(read["hip"], gaps()["hip"])
    assert run_opensim('print(osim.Storage("a.sto").getSize())', tmp_path).split("\n")[-2] == "4"  # of 7


@pytest.mark.parametrize("suffix", [".trc", ".sto"])
def test_it_reads_our_markers(suffix: str, tmp_path: Path):
    co.formats.write_table(markers(), tmp_path / f"a{suffix}")
    read, said = read_by_opensim(tmp_path, f"a{suffix}", VECTORS)
    assert suffix == ".sto" or "'Units': 'm'" in said
    np.testing.assert_array_equal(read["t"], T)
    for name in markers().names:
        np.testing.assert_array_equal(read[name], markers()[name], err_msg=name)


WRITE = """
numbers = np.load("numbers.npz")
table = osim.TimeSeriesTable()
table.setColumnLabels(["hip", "/jointset/root/pelvis_tx/value"])
vectors = osim.TimeSeriesTableVec3()
vectors.setColumnLabels(["heel", "toe"])
for t, row in zip(numbers["t"], numbers["values"]):
    table.appendRow(t, osim.RowVector(list(row[:2])))
    places = osim.RowVectorVec3(2)
    places[0], places[1] = osim.Vec3(*row), osim.Vec3(np.nan)
    vectors.appendRow(t, places)
table.addTableMetaDataString("inDegrees", "yes")
vectors.addTableMetaDataString("DataRate", "100")
vectors.addTableMetaDataString("Units", "mm")
osim.STOFileAdapter.write(table, "a.sto")
osim.STOFileAdapterVec3.write(vectors, "b.sto")
osim.TRCFileAdapter().write(vectors, "c.trc")
"""


def test_we_read_what_it_writes(tmp_path: Path):
    np.savez(tmp_path / "numbers.npz", t=T, values=NUMBERS)
    run_opensim(WRITE, tmp_path)
    table = co.formats.read_table(tmp_path / "a.sto")
    np.testing.assert_allclose(table.t, T, rtol=1e-15)
    np.testing.assert_allclose(table["hip"], np.radians(NUMBERS[:, 0]), rtol=1e-14)
    assert table.units == {"hip": "rad", "/jointset/root/pelvis_tx/value": "m"}
    np.testing.assert_allclose(table["/jointset/root/pelvis_tx/value"], NUMBERS[:, 1], rtol=1e-14)
    for name in ("b.sto", "c.trc"):
        places = co.formats.read_table(tmp_path / name)
        assert places.units == {"heel": "m", "toe": "m"}
        np.testing.assert_allclose(places.t, T, rtol=1e-14)
        np.testing.assert_allclose(places["heel"], 1e-3 * NUMBERS, rtol=1e-14, err_msg=name)
        np.testing.assert_array_equal(places["toe"], np.full((7, 3), np.nan), err_msg=name)
