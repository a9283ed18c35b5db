"""Saved motions in phases: the way there and back, damaged files, other problems, tables."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.models.two_link import two_link
from colloc.storage import archive, storage
from colloc.transcription.layout import lay_out
from tests.campaigns.crafted import crafted
from tests.support.problems import effort


def rod(mass: float = 2.0) -> co.Model:
    """A rigid rod that flies in the plane, with a marker at one end."""
    bodies = [
        co.Body("x", co.prismatic((1, 0, 0))),
        co.Body("y", co.prismatic((0, 1, 0)), "x"),
        co.Body("rod", co.revolute((0, 0, 1)), "y", mass=mass, inertia=(0.0, 0.1, 0.1)),
    ]
    return co.Model(bodies, markers={"end": ("rod", (0.5, 0.0, 0.0))}, name="rod")


def bounce(
    *, mass: float = 2.0, force: float = 5.0, longest: float = 2.0, e: float = 0.5, marked: str = "xy",
    weight: float = 1.0, total: float = 3.0, goal: float = 2.0,
) -> co.Phases:  # fmt: skip
    """A rod that falls, hits the ground with its end and rises, driven by little; every number can be another."""
    drive = co.integral(effort, name="drive")
    spin = co.bounds(tau={"x": (0.0, 0.0), "y": (-force, force), "rod": (-5.0, 5.0)})
    touch = co.at(1.0, lambda now: now.marker("end").position[1], equals=0.0)
    fall = co.Problem(
        rod(mass), co.Free(0.1, longest, 0.4), drive, [co.initial(q=(0, 1, 0.3), qd=(1, 0, 2)), spin, touch]
    )
    rise = co.Problem(rod(mass), co.Free(0.01, 1.0, 0.3), drive, [spin, co.final(q={"rod": goal})])
    hit = co.impact("fall", "rise", {"end": marked}, restitution=e)
    return co.Phases({"fall": fall, "rise": rise}, [hit], weight * co.duration(), co.Free(0.2, total))


GUESS = {"fall": co.line((0, 1, 0.3), (0.4, 0.2, 1.1))}
CURVES = {"fall": co.Radau(6, degree=4), "rise": co.BSpline(8, degree=5)}


@pytest.fixture(scope="module")
def solution() -> co.solution.PhasesSolution:
    return co.solve(bounce(), CURVES, guess=GUESS, compile=False, progress=False)


@pytest.fixture(scope="module")
def saved(solution: co.solution.PhasesSolution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "bounce.npz"
    co.save(solution, path)
    return path


def compare(back: co.solution.PhasesSolution, solution: co.solution.PhasesSolution) -> None:
    """Everything to the last digit."""
    for name in ("x", "t", "q", "qd", "qdd", "tau", "parameters"):
        np.testing.assert_array_equal(getattr(back, name), getattr(solution, name), err_msg=name)
    for name in ("g", "x"):
        np.testing.assert_array_equal(back.multipliers[name], solution.multipliers[name])
    for name in (
        "status", "message", "cost", "terms", "duration", "curve", "iterations", "seconds", "history", "violations",
        "rounds",
    ):  # fmt: skip
        assert getattr(back, name) == getattr(solution, name), name
    assert back.outcome.tolerance == solution.outcome.tolerance


# -- there and back ----------------------------------------------------------------------------------------------------


def test_a_motion_with_an_impact_comes_back_to_the_last_digit(solution: co.solution.PhasesSolution, saved: Path):
    sequence = bounce()
    back = co.load(saved, sequence)
    assert back.status is co.solver.Status.SOLVED
    assert back.problem is sequence
    compare(back, solution)
    np.testing.assert_array_equal(back["rise"].constants["impulse"], solution["rise"].constants["impulse"])
    assert np.abs(back["rise"].constants["impulse"]).max() > 0.1
    assert co.solve(sequence, CURVES, guess=back, compile=False, progress=False).iterations <= 1


def test_files_of_the_present_schema_stay_readable(solution: co.solution.PhasesSolution):
    back = co.load(Path(__file__).parent / "saved" / "phases.npz", bounce())
    assert back.status is co.solver.Status.SOLVED
    assert back.cost == pytest.approx(solution.cost, rel=1e-4)


def test_phases_read_without_this_library(solution: co.solution.PhasesSolution, saved: Path):
    with np.load(saved, allow_pickle=False) as file:
        meta = json.loads(str(file["meta"]))
        np.testing.assert_array_equal(file["phase_1_q"], solution["rise"].q)
    assert list(meta["phases"]) == ["fall", "rise"]
    assert meta["schema"] == 1
    assert meta["phases"]["rise"]["joints"] == ["x", "y", "rod"]


def test_the_rounds_of_a_refinement_come_back(tmp_path: Path):
    # "type" is also what a curve's own type is called in the file.
    names, ends = ("type", "other"), ([co.initial(q=(0, 0), qd=0)], [co.final(q=(1, 0.5), qd=0)])
    stated = co.Phases(
        {k: co.Problem(two_link(), 0.5, co.integral(effort), v) for k, v in zip(names, ends, strict=True)}
    )
    refined = co.solve(stated, tol=1e-4, compile=False, progress=False)
    assert len(refined.rounds) > 1
    co.save(refined, tmp_path / "a.npz")
    compare(co.load(tmp_path / "a.npz", stated), refined)


def test_added_nodes_parameters_and_one_phase_alone(tmp_path: Path):
    goal = co.Parameter("goal", 1.0)
    limits = co.bounds(tau=(-10.0, 10.0))
    reach = co.Problem(
        two_link(), co.Free(0.1, 5.0, 1.0), co.duration(),
        [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q={"elbow": -1.0}, qd=0.0), limits,
         co.at(1.0, lambda now: now.q[0] - now.goal, equals=0.0)], parameters=[goal],
    )  # fmt: skip
    alone = co.Phases({"reach": reach})
    found = co.solve(
        alone, co.BSpline(20, nodes=14), parameters={"goal": 0.9}, compile=False, progress=False, raise_on_failure=False
    )
    assert found["reach"].nlp.grid.extra is not None
    co.save(found, tmp_path / "a.npz")
    compare(co.load(tmp_path / "a.npz", alone), found)


def test_multipliers_of_an_equation_of_two_phases_stay_with_their_rows(tmp_path: Path):
    """Where phases meet such an equation is imposed once, by the first of them."""
    chain = planar_chain(3)
    hand = chain.bodies[-1].name

    def at(when: float, x: float) -> Any:
        return co.at(when, lambda now: now.point(hand).position[0], equals=x)

    line = co.path(lambda now: now.point(hand).position[1], equals=0.3, name="line")
    cost = co.integral(effort) + co.integral(lambda now: ca.sumsqr(now.qdd))
    stated = co.Phases(
        {
            "first": co.Problem(chain, 0.4, cost, [at(0.0, 0.4), line]),
            "second": co.Problem(chain, 0.6, cost, [line, at(1.0, 0.9)]),
        }
    )
    guess = co.line((1.0, -1.0, -1.0), (0.6, -0.6, -0.5))
    found = co.solve(stated, co.Radau(8, degree=5), guess=guess, compile=False, progress=False)
    second = found.nlp.phases["second"]
    left_out = np.flatnonzero(~found.nlp.imposed["second"])
    assert left_out.size == 2  # position and velocity
    assert [second.row_name(row) for row in left_out.tolist()] == ["line at s = 0", "rate of line at s = 0"]
    joined = np.concatenate([found[name].multipliers["g"][found.nlp.imposed[name]] for name in found.phases])
    np.testing.assert_array_equal(joined, found.multipliers["g"][: joined.size])
    assert not found["second"].multipliers["g"][left_out].any()
    co.save(found, tmp_path / "a.npz")
    compare(co.load(tmp_path / "a.npz", stated), found)


def test_a_failed_motion_comes_back_as_it_is(tmp_path: Path):
    found = co.solve(
        bounce(),
        CURVES,
        guess=GUESS,
        compile=False,
        progress=False,
        solver=co.Ipopt(max_iter=3),
        raise_on_failure=False,
    )
    assert not found.success
    co.save(found, tmp_path / "a.npz")
    compare(co.load(tmp_path / "a.npz", bounce()), found)


# -- other problems ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"mass": 2.1}, r"bounce\.npz"),
        (
            {"force": 6.0},
            r"bounce\.npz' is of another problem, which differs in constraint 'tau bounds' of phase 'fall'; .* 'rise'",
        ),
        ({"longest": 2.5}, r"' is of another problem, which differs in duration of phase 'fall'"),
        ({"goal": 2.1}, r"' is of another problem, which differs in constraint 'final' of phase 'rise'"),
        ({"e": 0.4}, r"bounce\.npz' is of another problem, which differs in constraint 'impact from fall to rise'"),
        ({"marked": "y"}, r"bounce\.npz' is of another problem, which differs in constraint 'impact from fall to"),
        ({"weight": 1.001}, r"bounce\.npz' is of another problem, which differs in cost 'duration'"),
        ({"total": 3.1}, r"bounce\.npz' is of another problem, which differs in constraint 'duration'"),
    ],
)
def test_a_motion_of_another_sequence_is_refused_by_what_differs(saved: Path, stated: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        co.load(saved, bounce(**stated))


def test_phases_of_other_names_order_or_links_are_refused(saved: Path):
    original = bounce()
    fall, rise = original.phases.values()
    for phases in ({"fall": fall, "land": rise}, {"rise": rise, "fall": fall}, {"fall": fall}):
        with pytest.raises(co.InputError, match=r"bounce\.npz' was saved for phases \['fall', 'rise'\], the prob"):
            co.load(saved, co.Phases(phases))
    with pytest.raises(co.InputError, match="differs in constraint 'impact from fall to rise'"):
        co.load(saved, co.Phases({"fall": fall, "rise": rise}, minimize=co.duration(), duration=co.Free(0.2, 3.0)))


def test_single_motions_are_distinguished_from_those_in_phases(
    saved: Path, tmp_path: Path, solution: co.solution.PhasesSolution
):
    fall = bounce().phases["fall"]
    with pytest.raises(co.InputError, match=r"bounce\.npz' holds a motion in phases: problem must be Phases"):
        co.load(saved, fall)
    co.save(solution["fall"], tmp_path / "fall.npz")
    np.testing.assert_array_equal(co.load(tmp_path / "fall.npz", fall).x, solution["fall"].x)
    with pytest.raises(co.InputError, match=r"fall\.npz' holds a single motion: problem must be a Problem"):
        co.load(tmp_path / "fall.npz", bounce())


# -- damage ------------------------------------------------------------------------------------------------------------


def in_arrays(**values: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda arrays, meta: arrays.update({k: v(arrays.get(k)) for k, v in values.items()})


def in_meta(**values: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda arrays, meta: meta.update(values)


def in_rise(**values: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda arrays, meta: meta["phases"]["rise"].update(values)


def without(field: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda arrays, meta: (arrays if field in arrays else meta).pop(field)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (in_arrays(phase_1_q=lambda q: q + 1e-3), "its q is not that of its variables here"),
        (in_arrays(phase_1_tau=lambda tau: 1.1 * tau), "its tau is not that of its variables here"),
        (in_arrays(phase_1_t=lambda t: t + 1.0), "times must lie within its duration"),
        (in_rise(joints=["x", "y", "tail"]), "was saved for joints"),
        (in_rise(curve={"type": "BSpline", "intervals": 10**7, "degree": 5}), "intervals of its BSpline is too large"),
        (in_rise(curve={"type": "Spline"}), "the curve's type must be one of"),
        (in_arrays(phase_1_extra_s=lambda _: np.ones(1), phase_1_extra_interval=lambda _: np.ones(1, int)), "extra"),
    ],
)
def test_errors_in_a_phase_are_reported_with_its_name(saved: Path, tmp_path: Path, change: Any, message: str):
    crafted(saved, tmp_path / "wrong.npz", change)
    with pytest.raises(co.InputError, match=rf"wrong\.npz \(phase rise\)'.*{message}"):
        co.load(tmp_path / "wrong.npz", bounce())


def with_a_short_round(arrays: dict[str, Any], meta: dict[str, Any]) -> None:
    numbers = {"variables": 1, "cost": 1.0, "error": 1.0, "seconds": 1.0, "iterations": 1}
    meta["rounds"] = [{**numbers, "curve": {"fall": {"type": "Radau", "intervals": 3}}}]


@pytest.mark.parametrize(
    "change",
    [
        in_arrays(lam_g=lambda g: g[:-1]), in_arrays(lam_g=lambda g: g * np.nan), in_arrays(lam_g=lambda g: g[None]),
        in_arrays(phase_0_q=lambda q: q[:-1]), in_arrays(phase_0_q=lambda q: q.astype("f4")),
        in_arrays(phase_0_t=lambda t: t[:0]), in_arrays(phase_2_q=lambda _: np.zeros(9)),
        in_arrays(q=lambda _: np.zeros((3, 3))), in_arrays(x=lambda x: np.zeros(3)), in_arrays(x=lambda x: 1.01 * x),
        in_arrays(x=lambda x: x[:-1], lam_x=lambda x: x[:-1]), in_arrays(parameters=lambda p: np.ones(1)),
        in_arrays(fingerprint=lambda f: f[:-1]), in_arrays(fingerprint=lambda f: 2 * f),
        in_arrays(history_cost=lambda h: h[:-1]), without("phase_0_q"), without("lam_g"), without("cost"),
        in_meta(cost=0.5), in_meta(duration=0.5), in_meta(phases={}), in_meta(phases=["fall", "rise"]),
        in_meta(phases=3), in_meta(schema=2), in_meta(joints=["x"]), in_meta(status="excellent"), in_meta(rounds=[{}]),
        in_meta(seconds={}), in_rise(joints=["a"]), in_rise(joints=3),
        in_rise(signals=3), in_rise(signals={"u": []}), in_rise(signals={"u": ["u"]}), in_rise(curve=None),
        in_rise(model=[]),
        in_rise(colour="red"), with_a_short_round, lambda arrays, meta: meta["phases"].pop("rise"),
        lambda arrays, meta: arrays.update({f"phase_0_{k}": arrays[f"phase_1_{k}"] for k in ("t", "q", "qd")}),
    ],
)  # fmt: skip
def test_a_wrong_field_is_an_error_that_names_the_file(saved: Path, tmp_path: Path, change: Any):
    crafted(saved, tmp_path / "wrong.npz", change)
    with pytest.raises(co.InputError, match=r"wrong\.npz"):
        co.load(tmp_path / "wrong.npz", bounce())


def test_a_cut_file_is_refused(saved: Path, tmp_path: Path):
    content, sequence = saved.read_bytes(), bounce()
    for size in np.linspace(0, len(content) - 1, 12).astype(int):
        (tmp_path / "cut.npz").write_bytes(content[:size])
        with pytest.raises(co.InputError, match=r"cut\.npz' is not a saved solution"):
            co.load(tmp_path / "cut.npz", sequence)


def test_a_file_unpacks_to_no_more_than_it_may(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "LARGEST", 2**23)
    assert co.load(saved, bounce()).success
    crafted(saved, tmp_path / "long.npz", in_arrays(history_long=lambda _: np.zeros(2**20)))
    with pytest.raises(co.InputError, match=r"long\.npz' is not a saved .* would unpack to .* bytes"):
        co.load(tmp_path / "long.npz", bounce())


def test_curves_that_are_together_longer_than_the_variables_are_not_all_built(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def long(arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        arrays["x"] = arrays["lam_x"] = np.zeros(10_000)
        for phase in meta["phases"].values():
            phase["curve"] = {"type": "Radau", "intervals": 10_000}

    layouts: list[int] = []
    monkeypatch.setattr(storage, "lay_out", lambda *args: layouts.append(1) or lay_out(*args))
    crafted(saved, tmp_path / "long.npz", long)
    with pytest.raises(co.InputError, match=r"long\.npz' is of another problem: it has 10000 variables, not \d+"):
        co.load(tmp_path / "long.npz", bounce())
    assert len(layouts) == 1


# -- tables ------------------------------------------------------------------------------------------------------------


def test_a_table_has_the_phase_and_the_time_of_the_whole(solution: co.solution.PhasesSolution, tmp_path: Path):
    co.storage.to_csv(solution, tmp_path / "bounce.csv")
    with open(tmp_path / "bounce.csv", newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    assert header[:5] == ["phase", "t [s]", "q[x] [m]", "q[y] [m]", "q[rod] [rad]"]
    assert [row[0] for row in rows] == ["fall"] * solution["fall"].t.size + ["rise"] * solution["rise"].t.size
    values = np.array([row[1:] for row in rows], dtype=float)
    np.testing.assert_array_equal(values[:, 0], solution.t)
    np.testing.assert_array_equal(values[:, 1:4], solution.q)
    np.testing.assert_array_equal(values[:, 10:13], solution.tau)
    assert values[-1, 0] == pytest.approx(solution.duration)


def test_a_table_has_no_number_where_a_phase_has_no_such_state(tmp_path: Path):
    levels = [co.State(name, rate=lambda now: now.q[0]) for name in ("level", "width", "depth", "age")]
    first = co.Problem(two_link(), 0.5, co.integral(effort), [co.initial(q=(0, 0), qd=0)])
    second = co.Problem(two_link(), 0.5, co.integral(effort), [co.final(q=(1, 0.5), qd=0)], levels)
    found = co.solve(co.Phases({"a, first": first, "b": second}), co.Radau(8, degree=5), compile=False, progress=False)
    co.storage.to_csv(found, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-4:] == ["level", "width", "depth", "age"]
    assert {row["phase"]: np.isnan(float(row["level"])) for row in rows} == {"a, first": True, "b": False}


@pytest.mark.parametrize("other", ["more joints", "other kinds of joints"])
def test_phases_of_different_joints_have_gaps_in_tables(tmp_path: Path, other: str):
    arm = planar_chain(2)
    one, two = arm.joint_names
    if other == "more joints":
        changed, joints = planar_chain(3), dict(zip(planar_chain(3).joint_names, arm.joint_names, strict=False))
    else:
        slide = co.Body(two, co.prismatic((1, 0, 0)), one, mass=1.0)
        changed, joints = co.Model([arm.bodies[0], slide], gravity=arm.gravity), {one: one}
    first = co.Problem(arm, 0.5, co.integral(effort), [co.initial(q=(-1.5, 0.2), qd=0)])
    second = co.Problem(changed, 0.5, co.integral(effort), [co.final(q={one: -1.0}, qd=0)])
    stated = co.Phases({"first": first, "second": second}, [co.connect("first", "second", joints=joints)])
    found = co.solve(stated, co.Radau(12, degree=6), compile=False, progress=False)
    co.storage.to_csv(found, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    added = {"more joints": f"q[{changed.joint_names[-1]}] [rad]", "other kinds of joints": f"q[{two}, m] [m]"}[other]
    column = np.array([float(row[header.index(added)]) for row in rows])
    first_rows = np.array([row[0] == "first" for row in rows])
    assert np.isnan(column[first_rows]).all()
    np.testing.assert_array_equal(column[~first_rows], found["second"].q[:, -1])
    co.save(found, tmp_path / "a.npz")
    back = co.load(tmp_path / "a.npz", stated)
    np.testing.assert_array_equal(back.x, found.x)
    np.testing.assert_array_equal(back["second"].tau, found["second"].tau)


def test_what_could_not_be_loaded_is_not_saved(
    solution: co.solution.PhasesSolution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("colloc.storage.storage.MOST_PHASES", 1)
    with pytest.raises(co.InputError, match="solution has 2 phases, and files hold at most 1"):
        co.save(solution, tmp_path / "bounce.npz")
    assert not list(tmp_path.iterdir())
