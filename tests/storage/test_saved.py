"""Saved solutions: a kept one, damaged ones, and ones that belong to other problems."""

import json
import pickle
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.storage import archive
from tests.campaigns.crafted import bomb, crafted, header_of
from tests.support.problems import effort, everything, time_optimal

SAVED = Path(__file__).parent / "saved"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "motion.npz"
    co.save(co.solve(time_optimal(), co.BSpline(12)), path)
    return path


def test_files_of_the_present_schema_stay_readable():
    solution = co.load(SAVED / "extra_nodes.npz", time_optimal())
    assert solution.status == "solved"
    assert solution.nlp.grid.extra is not None


def swing(
    torque: float = 10.0, model: co.Model | None = None, duration: co.Free | None = None, goal: float = 1.0
) -> co.Problem:
    return co.Problem(
        model or two_link(),
        duration or co.Free(0.1, 5.0, 1.0),
        co.duration(),
        [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(goal, -1.0), qd=0.0), co.bounds(tau=(-torque, torque))],
    )


def heavier(model: co.Model) -> co.Model:
    from dataclasses import replace

    first, *rest = model.bodies
    return replace(model, bodies=[replace(first, mass=10 * first.mass), *rest])


FOREIGN = {
    "constraint 'tau bounds'": lambda: swing(torque=5.0),
    "masses, lengths, gravity, passive parts or loads": lambda: swing(model=heavier(two_link())),
    "duration": lambda: swing(duration=co.Free(0.1, 4.0, 1.0)),
    "constraint 'final'": lambda: swing(goal=1.1),
}


@pytest.mark.parametrize("part", FOREIGN)
def test_a_motion_of_another_problem_is_refused_by_what_differs(saved: Path, part: str):
    with pytest.raises(co.InputError, match=f"of another problem, which differs in {part}"):
        co.load(saved, FOREIGN[part]())
    assert co.load(saved, swing()).success


def test_constraints_that_differ_in_their_functions_are_distinguished(tmp_path: Path):
    def problem(size: float) -> co.Problem:
        rows = [*swing().subject_to, co.path(lambda now: size * now.q[0] ** 2, upper=100.0, name="far")]
        return co.Problem(two_link(), co.Free(0.1, 5.0, 1.0), co.duration(), rows)

    co.save(co.solve(problem(1.0), co.BSpline(12)), tmp_path / "a.npz")
    assert co.load(tmp_path / "a.npz", problem(1.0)).success
    with pytest.raises(co.InputError, match="differs in constraint 'far'"):
        co.load(tmp_path / "a.npz", problem(1.1))


def test_the_rounds_of_a_refinement_come_back(tmp_path: Path):
    refined = co.solve(time_optimal(), co.BSpline(12), tol=1e-2)
    co.save(refined, tmp_path / "a.npz")
    back = co.load(tmp_path / "a.npz", time_optimal())
    assert len(back.rounds) > 1
    assert back.rounds == refined.rounds
    assert back.status == refined.status


def change_of(field: str, value: Any) -> Any:
    def change(arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        place = next((fields for fields in (arrays, meta["phases"][""]) if field in fields), meta)
        if value is None:
            del place[field]
        elif callable(value):
            place[field] = value(place[field])
        else:
            place[field] = value

    return change


WRONG = [
    ("x", np.full(23, np.nan)), ("x", lambda x: x[:-1]), ("x", lambda x: x + 0j), ("x", lambda x: x[None, :]),
    ("x", lambda x: x.astype(str)), ("x", None), ("x", lambda x: 1.1 * x), ("lam_g", None), ("lam_x", None),
    ("lam_x", np.ones(3)), ("lam_g", lambda g: g * np.nan), ("lam_x", lambda x: x.astype(str)), ("parameters", None),
    ("parameters", np.ones(2)), ("history_cost", np.ones(3)), ("history_cost", lambda h: h.astype(str)),
    ("q", lambda q: q + 1e-3), ("tau", lambda tau: 2 * tau), ("t", lambda t: t[::-1]), ("fingerprint", np.ones(3)),
    ("cost", "0.39"), ("cost", float("nan")), ("cost", 0.5), ("cost", None), ("status", "excellent"), ("status", 3),
    ("status", None), ("curve", None), ("curve", []), ("curve", {"type": "Spline"}), ("curve", {"type": [1]}),
    ("curve", lambda c: {**c, "colour": "red"}), ("curve", lambda c: {**c, "intervals": 10**7}),
    ("curve", lambda c: {**c, "intervals": "8"}), ("curve", lambda c: {**c, "degree": 10**9}),
    ("curve", lambda c: {**c, "nodes": 10**9}), ("curve", lambda c: {**c, "intervals": 9}),
    ("joints", None), ("joints", ["a"]), ("joints", 3), ("model", None), ("model", 3), ("phases", {}), ("phases", []),
    ("phases", lambda p: {**p, "second": p[""]}), ("phases", lambda p: {"first": p[""]}),
    ("seconds", None), ("seconds", {"build": 1}),
    ("iterations", None), ("iterations", -5), ("iterations", "many"), ("iterations", 1.5), ("message", None),
    ("message", 4), ("tolerance", float("nan")), ("tolerance", -1), ("tolerance", 10**400), ("duration", 2.0),
    ("schema", 99), ("schema", "1"), ("schema", True), ("terms", 3), ("rounds", [{}]), ("rounds", 3), ("versions", 3),
    ("fingerprint", {"a": 1}), ("extra", 1), ("cost_tolerance", 0),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), WRONG, ids=[f"{field} {k}" for k, (field, _) in enumerate(WRONG)])
def test_a_wrong_field_is_an_error_that_names_the_file(saved: Path, tmp_path: Path, field: str, value: Any):
    crafted(saved, tmp_path / "wrong.npz", change_of(field, value))
    with pytest.raises(co.InputError, match=r"wrong\.npz"):
        co.load(tmp_path / "wrong.npz", time_optimal())


def claimed(status: str, **fields: Any) -> Any:
    def change(arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        meta |= {"status": status, **fields}

    return change


def test_a_file_does_not_decide_that_it_is_solved(tmp_path: Path):
    """A run that is cut off takes over 2 % longer than the fastest motion, of 0.3919 s."""
    cut = co.solve(time_optimal(), co.BSpline(8), solver=co.Ipopt(max_iter=8), raise_on_failure=False)
    assert cut.duration > 1.02 * 0.3919
    co.save(cut, tmp_path / "cut.npz")
    for claim in ({}, {"tolerance": 1e9}, {"tolerance": 1e9, "cost_tolerance": 1e9}, {"cost_tolerance": 1e-12}):
        for status in ("solved", "too coarse a grid", "violated between nodes"):
            crafted(tmp_path / "cut.npz", tmp_path / "wrong.npz", claimed(status, **claim))
            with pytest.raises(co.InputError, match=r"wrong.npz' contradicts itself: .*'Maximum_Iterations_Exceeded'"):
                co.load(tmp_path / "wrong.npz", time_optimal())
            crafted(tmp_path / "cut.npz", tmp_path / "wrong.npz", claimed(status, message="Solve_Succeeded", **claim))
            assert not co.load(tmp_path / "wrong.npz", time_optimal()).success


def test_the_caller_says_which_tolerance_is_good_enough(tmp_path: Path):
    coarse = co.solve(time_optimal(), co.BSpline(8), plan=[co.refinement.Solve(tol=0.1)])
    assert coarse.success
    assert float(coarse.error) > 1e-2
    co.save(coarse, tmp_path / "coarse.npz")
    assert co.load(tmp_path / "coarse.npz", time_optimal()).status == "too coarse a grid"
    assert co.load(tmp_path / "coarse.npz", time_optimal(), tol=0.1).success
    assert co.load(tmp_path / "coarse.npz", time_optimal(), tol=1.0).outcome.tolerance == 0.1
    wrong: tuple[Any, ...] = (0.0, -1.0, 2.0, float("nan"), "all")
    for tol in wrong:
        with pytest.raises(co.InputError, match="tol"):
            co.load(tmp_path / "coarse.npz", time_optimal(), tol=tol)


@pytest.mark.parametrize("time_of_a_node", [-1.0, 9.0])
def test_times_outside_of_the_motion_are_an_error_that_names_the_file(saved: Path, tmp_path: Path, time_of_a_node):
    crafted(saved, tmp_path / "wrong.npz", change_of("t", lambda t: np.append(time_of_a_node, t[1:])))
    with pytest.raises(co.InputError, match=r"wrong\.npz"):
        co.load(tmp_path / "wrong.npz", time_optimal())


def test_a_changed_number_is_detected_by_the_checksum(saved: Path, tmp_path: Path):
    crafted(saved, tmp_path / "wrong.npz", change_of("lam_x", lambda lam: 2 * lam), signed=False)
    with pytest.raises(co.InputError, match="damaged: its checksum"):
        co.load(tmp_path / "wrong.npz", time_optimal())


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "3", '"text"', "null"])
def test_metadata_that_are_no_object_are_refused(saved: Path, tmp_path: Path, text: str):
    with np.load(saved) as file:
        arrays = {name: file[name] for name in file.files if name != "meta"}
    np.savez(tmp_path / "wrong.npz", **arrays, meta=np.array(text))
    with pytest.raises(co.InputError, match=r"wrong\.npz"):
        co.load(tmp_path / "wrong.npz", time_optimal())


def test_no_memory_is_taken_for_what_a_file_only_claims(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A thousand times the file's own size would be noticed."""
    crafted(saved, tmp_path / "long.npz", change_of("curve", lambda c: {**c, "intervals": 10**7}))
    header_of((10**13,), "x", saved, tmp_path / "header.npz")
    monkeypatch.setattr(archive, "LARGEST", 2**23)
    bomb(tmp_path / "bomb.npz", 2**24)
    problem = time_optimal()
    for name in ("long", "header", "bomb"):
        tracemalloc.start()
        begin = time.perf_counter()
        with pytest.raises(co.InputError, match=f"{name}.npz"):
            co.load(tmp_path / f"{name}.npz", problem)
        assert tracemalloc.get_traced_memory()[1] < 2e7
        tracemalloc.stop()
        assert time.perf_counter() - begin < 2


def test_flipped_bits_are_noticed_or_harmless(saved: Path, tmp_path: Path):
    content, problem, rng = saved.read_bytes(), time_optimal(), np.random.default_rng(0)
    original = co.load(saved, problem)
    refused = harmless = 0
    for place in rng.choice(len(content), 60, replace=False).tolist():
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "flipped.npz").write_bytes(damaged)
        try:
            np.testing.assert_array_equal(co.load(tmp_path / "flipped.npz", problem).x, original.x)
        except co.InputError as error:
            refused += "flipped.npz" in str(error)
        else:
            harmless += 1
    assert refused + harmless == 60
    assert refused > 30


@pytest.mark.parametrize("argument", [None, 3, "solution", [1]])
def test_what_is_no_solution_is_not_saved(tmp_path: Path, argument: Any):
    for write, name in ((co.save, "a.npz"), (co.storage.to_csv, "a.csv")):
        with pytest.raises(co.InputError, match="solution must be a Solution"):
            write(argument, tmp_path / name)
    with pytest.raises(co.InputError, match="problem must be a Problem"):
        co.load(SAVED / "extra_nodes.npz", argument)
    assert not list(tmp_path.iterdir())


def test_a_motion_that_is_not_finite_is_not_saved(tmp_path: Path):
    from dataclasses import replace

    solution = co.solve(time_optimal(), co.BSpline(12))
    broken = replace(
        solution, outcome=replace(solution.outcome, x=solution.x * np.nan, status=co.solver.Status.DIVERGED)
    )
    with pytest.raises(co.InputError, match="cannot be saved: it is not finite, status diverged"):
        co.save(broken, tmp_path / "a.npz")


def test_everything_that_a_problem_holds_is_in_its_fingerprint(tmp_path: Path):
    co.save(co.solve(everything(), co.Radau(6)), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        parts = json.loads(str(file["meta"]))["fingerprint"]
    named = {part.split(" '")[0] for part in parts}
    assert named == {
        "masses, lengths, gravity, passive parts or loads", "duration", "unknown", "parameter", "cost", "constraint"
    }  # fmt: skip
    assert {f"constraint {name!r}" for name in everything().rows} <= set(parts)


def first_joint(now: co.problem.Instant) -> Any:
    return now.q[0]


def test_the_reason_of_a_failed_solve_and_its_last_iterate_reach_other_processes():
    with pytest.raises(co.SolveError) as raised:
        co.solve(
            co.Problem(
                two_link(),
                1.0,
                co.integral(effort),
                [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0), co.path(first_joint, lower=2.0)],
            ),
            co.BSpline(12),
        )
    assert raised.value.solution.status == "infeasible"
    there = pickle.loads(pickle.dumps(raised.value))
    assert type(there) is co.SolveError
    assert str(there) == str(raised.value)
    assert np.array_equal(there.solution.x, raised.value.solution.x)
