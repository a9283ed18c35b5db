"""Parameter studies: the same table from everything they run on, files that are taken up again, failures as rows."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
import pytest

import colloc as co
from colloc.problem import Instant
from colloc.sweeps.cases import enumerate_cases, read_case, warm_start_parents
from colloc.sweeps.executors import Processes
from tests.storage.test_phases_files import bounce
from tests.support.problems import time_optimal

CURVE = co.BSpline(12)
GRID = {"gain": [0.1, 0.5, 2.0, 8.0], "reach": [0.8, 1.0, 1.2]}


def weighed_effort(now: Instant) -> Any:
    return 1e-3 * now.gain * ca.sumsqr(now.tau)


def reached(start: Instant, end: Instant) -> Any:
    return end.q[0] - end.reach


def peak(solution: co.Solution) -> float:
    return float(abs(solution.tau).max())


def problem() -> co.Problem:
    """Two links that swing to where a parameter says."""
    stated = time_optimal()
    ends = [
        co.initial(q=(0.0, -2.0), qd=0.0),
        co.final(q={"elbow": -1.0}, qd=0.0),
        co.boundary(reached, equals=0.0),
        co.bounds(tau=(-10.0, 10.0)),
    ]
    cost = co.duration() + co.integral(weighed_effort)
    parameters = [co.Parameter("gain", 1.0), co.Parameter("reach", 1.0)]
    return co.Problem(stated.model, stated.duration, cost, ends, parameters=parameters)


def stated(gain: float, reach: float) -> co.Problem:
    """The same as a function of the values; one of them is impossible, one is a mistake."""
    if reach == 1.2 and gain == 2.0:
        raise ValueError("nobody reaches that far")
    limit = 1e-3 if reach == 1.2 and gain == 8.0 else 10.0
    own = time_optimal()
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(reach, -1.0), qd=0.0), co.bounds(tau=(-limit, limit))]
    return co.Problem(own.model, co.Free(0.1, 2.0), co.duration(), ends)


def same(one: co.sweeps.Sweep, other: co.sweeps.Sweep) -> bool:
    """Whether two tables are the same to the bit, and the solutions behind them."""
    if one.table.dtype != other.table.dtype or len(one) != len(other):
        return False
    columns = one.table.dtype.names or ()
    numbers = [name for name in columns if one[name].dtype.kind == "f"]
    texts = [name for name in columns if name not in numbers]
    equal = all(np.array_equal(one[name], other[name], equal_nan=True) for name in numbers)
    return equal and all((one[name] == other[name]).all() for name in texts)


def run(**given: Any) -> co.sweeps.Sweep:
    settings: dict[str, Any] = {"record": {"peak": peak}, "progress": False} | given
    return co.sweep(co.transcribe(problem(), CURVE, compile=False), GRID, **settings)


@pytest.fixture(scope="module")
def table() -> co.sweeps.Sweep:
    return run()


def test_the_table_holds_what_single_solves_find(table: co.sweeps.Sweep):
    nlp = co.transcribe(problem(), CURVE, compile=False)
    assert len(table) == 12
    assert table.failed.size == 0
    for case in (0, 5, 11):
        values = {"gain": float(table["gain"][case]), "reach": float(table["reach"][case])}
        alone = co.solve(nlp, parameters=values)
        assert table["cost"][case] == pytest.approx(alone.cost, rel=1e-6)
        assert table["duration"][case] == pytest.approx(alone.duration, rel=1e-4)
        assert table["peak"][case] == pytest.approx(peak(alone), rel=1e-3)
        solution = table.solution(case)
        assert solution.cost == table["cost"][case]
        assert solution.at(0.0).q == pytest.approx([0.0, -2.0])
        assert co.verify(solution).kkt.stationarity < 1e-4


def test_neighbours_save_iterations(table: co.sweeps.Sweep):
    cold = run(guess=co.sweeps.Independent())
    assert cold["cost"] == pytest.approx(table["cost"], rel=1e-6)
    assert table["iterations"].sum() < 0.9 * cold["iterations"].sum()


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("kind", ["own", "threads", "spawned"])
def test_the_table_is_the_same_to_the_bit_on_any_executor(kind: str, warm: bool, table: co.sweeps.Sweep):
    reference = table if warm else run(guess=co.sweeps.Independent())
    guess = None if warm else co.sweeps.Independent()
    if kind == "own":
        other = run(executor=2, guess=guess)
    elif kind == "threads":
        with ThreadPoolExecutor(2) as executor:
            other = run(executor=executor, guess=guess)
    else:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
            other = run(executor=executor, guess=guess)
    assert same(reference, other)
    assert np.array_equal(reference.solution(7).x, other.solution(7).x)


def test_what_fails_is_a_row_with_its_reason():
    found = co.sweep(stated, GRID, CURVE, progress=False)
    assert found.failed.tolist() == [8, 11]
    assert found["reason"][8] == "ValueError: nobody reaches that far"
    assert found["reason"][11].startswith("no feasible motion found")
    assert np.isnan(found["cost"][[8, 11]]).all()
    assert np.isfinite(np.delete(found["cost"], [8, 11])).all()
    with pytest.raises(co.InputError, match="case 8 has no solution: ValueError: nobody reaches that far"):
        found.solution(8)
    figure = co.plot.map(found, "gain", "reach", "duration")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["no solution"]
    plt.close(figure)
    assert "2 of them without a solution" in repr(found)


def test_a_sweep_that_was_stopped_goes_on_where_it_was(tmp_path: Path, table: co.sweeps.Sweep):
    whole = run(folder=tmp_path)
    assert same(whole, table)
    files = sorted(tmp_path.glob("case_*.npz"))
    assert len(files) == 12
    kept = {file.name: file.stat().st_mtime_ns for file in files}
    gone = files[3:5] + files[9:]
    for file in gone:
        file.unlink()
    assert same(run(folder=tmp_path, executor=2), table)
    unchanged = {file.name: file.stat().st_mtime_ns for file in files if file not in gone}
    assert unchanged == {name: kept[name] for name in unchanged}
    files[6].write_bytes(files[6].read_bytes()[:1000])
    assert same(run(folder=tmp_path), table)
    with np.load(files[6]) as file:
        assert json.loads(str(file["meta"]))["row"]["status"] == "solved"


def test_a_folder_of_another_sweep_is_refused(tmp_path: Path):
    run(folder=tmp_path)
    with pytest.raises(co.InputError, match=r"holds another sweep, which differs in curve$"):
        co.sweep(problem(), GRID, co.BSpline(13), record={"peak": peak}, folder=tmp_path)
    with pytest.raises(co.InputError, match="differs in values"):
        co.sweep(problem(), GRID | {"gain": [1.0]}, CURVE, record={"peak": peak}, folder=tmp_path)
    other = co.Problem(time_optimal().model, 1.0, parameters=problem().parameters)
    with pytest.raises(co.InputError, match=r"differs in problem \(duration\), problem \(cost 'duration'\)"):
        co.sweep(other, GRID, CURVE, record={"peak": peak}, folder=tmp_path)
    note = tmp_path / "sweep.json"
    note.write_text(
        json.dumps({k: v for k, v in json.loads(note.read_text(encoding="utf-8")).items() if k != "format"}),
        encoding="utf-8",
    )
    with pytest.raises(co.InputError, match=r"differs in format$"):
        run(folder=tmp_path)


def test_what_is_not_the_file_of_a_case_is_refused(tmp_path: Path, table: co.sweeps.Sweep):
    assert read_case(table.cases[3].content) == table.cases[3]
    co.save(table.solution(3), tmp_path / "a.npz")
    for content in (b"", table.cases[3].content[:1000], (tmp_path / "a.npz").read_bytes()):
        with pytest.raises(co.InputError, match="'a case' is not"):
            read_case(content)


def test_motions_in_phases_are_swept_as_well(tmp_path: Path):
    curves = {"fall": co.Radau(6, degree=4), "rise": co.BSpline(8, degree=5)}
    for _ in range(2):
        found = co.sweep(falling, [{"mass": 2.0}, {"mass": 2.2}], curves, folder=tmp_path)
        assert found.failed.size == 0
    solution = found.solution(1)
    assert solution.cost == found["cost"][1]
    assert isinstance(solution, co.solution.PhasesSolution)


def falling(mass: float) -> co.Phases:
    return bounce(mass=mass)


def test_cases_in_line_begin_from_their_nearest_forerunner():
    names, values = enumerate_cases({"a": [0.0, 1.0], "b": [0.0, 5.0, 10.0]})
    assert names == ("a", "b")
    assert values.tolist() == [[0, 0], [0, 5], [0, 10], [1, 0], [1, 5], [1, 10]]
    assert warm_start_parents(values) == [None, 0, 1, 0, 3, 4]
    _, values = enumerate_cases([{"a": 3.0}, {"a": 0.0}, {"a": 2.9}, {"a": 0.5}])
    assert warm_start_parents(values) == [None, 0, 0, 1]


def test_a_step_of_a_grid_comes_before_distance_and_in_a_table_does_not():
    _, values = enumerate_cases(
        [{"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 0.0}, {"a": 0.9, "b": 0.9}, {"a": 1.0, "b": 1.0}]
    )
    assert warm_start_parents(values)[3] == 1
    assert warm_start_parents(values, grid=False)[3] == 2


@pytest.mark.parametrize("grid", [True, False])
def test_neighbours_are_the_nearest_by_the_order_that_is_promised(grid: bool):
    """Against the sort by changed names, distance and number, of random tables with equals among their rows."""
    rng = np.random.default_rng(3)
    for table in (rng.integers(0, 4, (80, 3)).astype(float), rng.uniform(size=(60, 2)), np.ones((4, 1))):
        scaled = table / np.where(np.ptp(table, axis=0) > 0, np.ptp(table, axis=0), 1.0)
        for k, parent in enumerate(warm_start_parents(table, grid=grid)):
            traits = [
                (grid * (row != scaled[k]).sum(), np.round(np.abs(row - scaled[k]).sum(), 12), -number)
                for number, row in enumerate(scaled[:k])
            ]
            assert parent == (-min(traits)[2] if k else None)


def test_a_case_starts_alike_from_a_solution_and_from_its_file(tmp_path: Path):
    """A sweep goes on from the solution itself, and a worker that has not solved it from the file."""
    cases = {"gain": [0.1, 0.5, 2.0], "reach": [1.0]}
    through = co.sweep(co.transcribe(problem(), CURVE, compile=False), cases, folder=tmp_path)
    for k in (1, 2):
        (tmp_path / f"case_{k}.npz").unlink()
        again = co.sweep(co.transcribe(problem(), CURVE, compile=False), cases, folder=tmp_path)
        assert (again["duration"] == through["duration"]).all()
        assert (again["iterations"] == through["iterations"]).all()


class Trouble:
    """A function that harms the process that it runs in, once or always."""

    def __init__(self, kind: str, mark: Path | None = None):
        self.kind, self.mark = kind, mark

    def __call__(self) -> str:
        if self.mark is not None and self.mark.exists():
            return "well"
        if self.mark is not None:
            self.mark.write_text("tried", encoding="utf-8")
        if self.kind == "dies":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        while self.kind == "hangs":
            pass
        raise KeyError(self.kind)


def test_a_process_that_dies_or_hangs_costs_its_own_item_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with Processes(1, timeout=3.0) as pool:
        troubles = (
            Trouble("dies", tmp_path / "a"),
            Trouble("dies"),
            Trouble("hangs"),
            Trouble("fails"),
            Trouble("hangs", tmp_path / "a"),
        )
        once, always, late, wrong, well = map(pool.submit, troubles)
        assert once.result() == "well"
        assert "died twice" in str(always.exception())
        assert str(late.exception()) == "not finished within 3 s"
        assert isinstance(wrong.exception(), KeyError)
        assert well.result() == "well"
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(os.getpid)


def test_a_process_that_dies_while_it_starts_is_replaced():
    before = set(multiprocessing.active_children())
    with Processes(1) as pool:
        answer = pool.submit(abs, -3)
        while not (started := set(multiprocessing.active_children()) - before):
            assert not answer.done()
        started.pop().kill()
        assert answer.result() == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cases": {}}, "cases must hold one case or more"),
        ({"cases": {"gain": []}}, "cases must hold one case or more"),
        ({"cases": {"gian": [1.0]}}, "no parameter named 'gian'; did you mean 'gain'"),
        ({"cases": [{"gain": 1.0}, {"reach": 1.0}]}, "mappings of the same names"),
        ({"record": {"cost": peak}}, "name 'cost' in record is a column already"),
        ({"record": {"peak": 3.0}}, "record 'peak' must be a function"),
        ({"seconds": 3.0}, "no argument of sweep named 'seconds'"),
        ({"executor": "all"}, "executor must be a number of processes"),
        ({"problem": 3}, "problem needs a Problem, Phases or a function"),
        ({"problem": lambda other: problem()}, r"called with \(gain=\.\.\., reach=\.\.\.\), got <lambda>\(other\)"),
        ({"parameters": lambda other: {}}, r"called with \(gain=\.\.\., reach=\.\.\.\), got <lambda>\(other\)"),
        ({"folder": "/dev/null/here"}, "cannot be created|must be a file name"),
    ],
)
def test_wrong_calls_say_what_is_wrong(wrong: Mapping[str, Any], message: str):
    given: dict[str, Any] = {"problem": problem(), "cases": GRID, "curve": CURVE} | dict(wrong)
    with pytest.raises(co.InputError, match=message):
        co.sweep(**given)


def test_wrong_columns_and_maps_say_what_is_wrong(table: co.sweeps.Sweep):
    with pytest.raises(co.InputError, match="no column named 'costs'; did you mean 'cost'"):
        _ = table["costs"]
    with pytest.raises(co.InputError, match="no name that varies named 'cost'"):
        co.plot.map(table, "gain", "cost")
    with pytest.raises(co.InputError, match="a column of numbers, got 'status'"):
        co.plot.map(table, "gain", "reach", "status")
    with pytest.raises(co.InputError, match="two of gain, reach, got 'gain' twice"):
        co.plot.map(table, "gain", "gain")
