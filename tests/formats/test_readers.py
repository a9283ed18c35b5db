"""Readers of all formats: what is no file, what packages raise, which numbers there are, time in proportion to size."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.formats.urdf import _coupling
from colloc.formats.xml import by_name, read_root
from colloc.model.coupling import Coupling
from colloc.model.tree import _check_tree
from tests.platforms import needs_unix
from tests.support.problems import time_optimal

LINK = (
    '<link name="l{k}"><inertial><mass value="{mass}"/>'
    '<inertia ixx="{mass}" iyy="{mass}" izz="{mass}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)


def urdf(mass: str) -> str:
    """A link that turns on another."""
    links = "".join(LINK.format(k=k, mass=mass) for k in range(2))
    joint = '<joint name="j" type="continuous"><parent link="l0"/><child link="l1"/></joint>'
    return f'<robot name="r">{links}{joint}</robot>'


def written(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


READERS: dict[str, Callable[[Path], object]] = {
    "a.urdf": co.formats.from_urdf, "a.xacro": co.formats.from_urdf, "a.xml": co.formats.from_mjcf,
    "a.osim": co.formats.from_osim, "a.sdf": co.formats.from_sdf, "a.c3d": co.formats.from_c3d,
    "a.obj": co.formats.mesh_vertices, "a.stl": co.formats.mesh_vertices,
    "a.npz": lambda path: co.load(path, time_optimal()),
    **dict.fromkeys(("a.sto", "a.mot", "a.csv", "a.trc", "a.parquet"), co.formats.read_table),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_not_waited_for_and_a_directory_is_no_file(tmp_path: Path, name: str):
    if name.endswith(".c3d"):
        pytest.importorskip("ezc3d")
    if name.endswith(".parquet"):
        pytest.importorskip("pandas")
    needs_unix("pipes with a path")
    os.mkfifo(tmp_path / name)
    (tmp_path / "folder" / name).mkdir(parents=True)
    for path in (tmp_path / name, tmp_path / "folder" / name, tmp_path / "missing" / name):
        with pytest.raises(co.InputError, match="is no file"):
            READERS[name](path)


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("a.c3d", "a.parquet")])
def test_a_file_larger_than_any_is_refused_before_it_is_read(tmp_path: Path, name: str):
    with open(tmp_path / name, "wb") as file:
        file.truncate(10**12)  # of which the disk holds nothing
    with pytest.raises(co.InputError, match=r"has more than the .* MB of which a"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("error", [RuntimeError("Caught an unknown exception"), MemoryError(), KeyError("x")])
def test_whatever_a_package_raises_is_an_error_with_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error):
    def refuse(path: str) -> None:
        raise error

    monkeypatch.setattr(mujoco, "MjModel", type("MjModel", (), {"from_xml_path": staticmethod(refuse)}))
    with pytest.raises(co.InputError, match=r"a.xml' is refused by MuJoCo: .*(unknown exception|MemoryError|x)"):
        co.formats.from_mjcf(written(tmp_path, "a.xml", "<mujoco/>"))


WORDS = {"10": 10.0, "+1e1": 10.0, "1E+01": 10.0, "10.": 10.0, " 10 ": 10.0, "1_0": None, "\u0661\u0660": None}


@pytest.mark.parametrize("word", WORDS)
def test_numbers_are_those_that_other_programs_read(tmp_path: Path, word: str):
    """Python's own have underscores and the digits of all scripts."""
    number = WORDS[word]
    box = f"<visual><geometry><box size='{word} {word} {word}'/></geometry></visual></link>"
    robot = written(tmp_path, "a.urdf", urdf(word).replace("</link>", box, 1))
    tables = {
        "a.csv": f"t [s],a\n0,{word}\n",
        "a.sto": f"x\nendheader\ntime\ta\n0\t{word}\n",
        "a.trc": "PathFileType\nNumFrames NumMarkers Units\n1 1 m\nFrame#\tTime\ta\n\n1\t0\t" + "\t".join([word] * 3),
    }
    if number is None:
        with pytest.raises(co.InputError, match="must be a finite number"):
            co.formats.from_urdf(robot)
        for name, content in tables.items():
            with pytest.raises(co.InputError, match="must be a number"):
                co.formats.read_table(written(tmp_path, name, content))
        with pytest.raises(co.InputError, match="cannot be read as a mesh"):
            co.formats.mesh_vertices(written(tmp_path, "a.obj", f"v 0 0 {word}\n"))
        return
    reading = co.formats.from_urdf(robot)
    assert float(reading.model.bodies[1].mass) == number
    assert reading.shapes[0].entries("size", 3).tolist() == [number] * 3
    for name, content in tables.items():
        assert np.all(co.formats.read_table(written(tmp_path, name, content))["a"] == number)
    assert co.formats.mesh_vertices(written(tmp_path, "a.obj", f"v 0 0 {word}\n")).tolist() == [[0, 0, number]]


@pytest.mark.parametrize("word", ["\u0661", "\u00b2", "9" * 5000, "1e3", "-1", "1_0"])
def test_counts_are_digits_and_not_more_than_there_can_be(tmp_path: Path, word: str):
    head = f"PathFileType\nNumFrames NumMarkers Units\n1 {word} m\nFrame#\tTime\ta\n\n1\t0\t0\t0\t0"
    with pytest.raises(co.InputError, match="NumMarkers must be a number of them"):
        co.formats.read_table(written(tmp_path, "a.trc", head))
    document = f'<OpenSimDocument Version="{word}"><Model/></OpenSimDocument>'
    with pytest.raises(co.InputError, match="is of version"):
        co.formats.from_osim(written(tmp_path, "a.osim", document))


def test_masses_that_nobody_can_mean_are_refused(tmp_path: Path):
    for mass in ("1e308", "1e16"):
        with pytest.raises(co.InputError, match=r"mass of body 'l0' must be at most 1e\+15 kg, got .*: which unit"):
            co.formats.from_urdf(written(tmp_path, "a.urdf", urdf(mass)))
    for tensor in (1e308, 1e16):
        with pytest.raises(co.InputError, match=r"inertia of body 'a' must be at most 1e\+15 kg m2"):
            co.Body("a", co.revolute(), mass=1.0, inertia=(tensor, tensor, tensor))
    with pytest.warns(co.support.InputWarning, match="denser than any matter: grams"):
        assert co.formats.from_urdf(written(tmp_path, "a.urdf", urdf("1e14"))).model.n == 1


def test_entries_of_matrices_are_in_messages_and_casadis_names_are_not():
    place = np.eye(4)
    place[0, 3] = np.nan
    with pytest.raises(co.InputError, match=r"must be finite, got SX\(\[\[1, 0, 0, nan\], \[0, 1, 0, 0\], "):
        co.fixed(ca.SX(place))


def of_columns(folder: Path, size: int) -> Callable[[], object]:
    head = "\t".join(["time", *(f"c{k}" for k in range(size))])
    path = written(folder, "a.sto", f"x\nendheader\n{head}\n")
    return lambda: co.formats.read_table(path)


def of_text(folder: Path, size: int) -> Callable[[], object]:
    path = written(folder, "a.urdf", f"<robot><x>{'a' * 600 * size}</x></robot>")
    return lambda: read_root(path, "URDF", "robot")


def of_a_chain(folder: Path, size: int) -> Callable[[], object]:
    bodies: Any = [SimpleNamespace(name=f"l{k}", parent=f"l{k - 1}" if k else None) for k in range(size)]
    return lambda: _check_tree(bodies)


def of_mimics(folder: Path, size: int) -> Callable[[], object]:
    text = "".join(f'<joint name="j{k}"><mimic joint="j{k - 1}"/></joint>' for k in range(1, size))
    joints = by_name(ElementTree.fromstring(f'<robot><joint name="j0"/>{text}</robot>'), "joint")

    def couple() -> Coupling:
        known: dict[str, Coupling] = {}
        return [_coupling(name, joints, known) for name in joints][-1]

    assert couple().joint == "j0"
    return couple


@pytest.mark.parametrize("made", [of_columns, of_text, of_a_chain, of_mimics])
def test_four_times_the_size_takes_less_than_nine_times_the_time(tmp_path: Path, made):
    def seconds(size: int) -> float:
        read, spent = made(tmp_path, size), list[float]()
        for _ in range(3):
            begin = time.process_time()
            read()
            spent.append(time.process_time() - begin)
        return min(spent)

    size = 5000 if made in (of_columns, of_text) else 1000
    assert seconds(4 * size) < 9 * max(seconds(size), 2e-3)


def test_couplings_of_couplings_multiply_and_circles_are_named():
    mimics = '<joint name="{}"><mimic joint="{}" multiplier="{}" offset="{}"/></joint>'
    chain = mimics.format("c", "b", 3, 5) + mimics.format("b", "a", -2, 7) + '<joint name="a"/>'
    joints = by_name(ElementTree.fromstring(f"<robot>{chain}</robot>"), "joint")
    known: dict[str, Coupling] = {}
    assert _coupling("c", joints, known) == Coupling("a", -6.0, 26.0)
    assert _coupling("b", joints, known) == Coupling("a", -2.0, 7.0)
    circle = mimics.format("c", "b", 1, 0) + mimics.format("b", "a", 1, 0) + mimics.format("a", "b", 1, 0)
    joints = by_name(ElementTree.fromstring(f"<robot>{circle}</robot>"), "joint")
    with pytest.raises(co.InputError, match="in a circle: c -> b -> a -> b"):
        _coupling("c", joints, {})
