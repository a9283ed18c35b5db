"""Saved solutions damaged by accident or by intent, and those of other problems, read back.

An InputError that names the file is a fine answer, as is the solution that was saved. Another exception is not, nor is
another solution that calls itself solved, or one that its file alone calls so.
"""

from __future__ import annotations

import tempfile
import time
import traceback
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.two_link import two_link
from tests.campaigns.attempt import Attempt, Outcome
from tests.campaigns.crafted import Change, bomb, crafted, header_of

SECONDS = 10.0  # in which a small file is read, or refused
FOLDER = Path(tempfile.mkdtemp(prefix="colloc_files_"))
SNIPPET = (
    "import colloc as co\nfrom tests.campaigns.files import {of}\nprint(repr(co.load({path!r}, {of}({stated}), {tol})))"
)
VALUES: tuple[Any, ...] = (
    None, "", "text", [], [1], {}, {"a": 1}, -1, 0, 1, 7, 10**7, 10**30, 10**400, 1e300, -1.5, True, float("nan"),
    float("inf"), [[1, 2], [3]], "solved", "\ud800", "[" * 500,
)  # fmt: skip
STATED = {
    "torque": 5.0, "mass": 10.0, "longest": 4.0, "goal": 1.1, "effort": 0.2, "reach": 0.8, "gravity": -1.6,
    "fastest": 3.0, "weight": 2.0, "spring": 0.5,
}  # fmt: skip


def swing(
    *,
    torque: float = 10.0,
    mass: float = 1.0,
    longest: float = 5.0,
    goal: float = 1.0,
    effort: float = 0.0,
    reach: float = 5.0,
    gravity: float = -9.81,
    fastest: float = 100.0,
    weight: float = 1.0,
    spring: float = 0.0,
) -> co.Problem:
    """A time-optimal swing of which every number can be another."""
    arm = two_link()
    first, second = arm.bodies
    heavier = co.Body(first.name, first.joint, None, mass * first.mass, first.com, mass * first.inertia)
    elbow = co.model.Joint(
        second.joint.before, second.joint.screw, second.joint.after, passive=co.Passive(stiffness=spring)
    )
    moved = co.Body(second.name, elbow, second.parent, second.mass, second.com, second.inertia)
    return co.Problem(
        co.Model([heavier, moved], (0, gravity, 0), arm.name),
        co.Free(0.1, longest, 1.0),
        weight * co.duration() + effort * co.integral(lambda now: ca.sumsqr(now.tau), name="effort"),
        [
            co.initial(q=(0.0, -2.0), qd=0.0),
            co.final(q=(goal, -1.0), qd=0.0),
            co.bounds(tau=(-torque, torque), qd=(-fastest, fastest)),
            co.path(lambda now: now.point("elbow").position[0], upper=reach, name="reach"),
        ],
    )


def halves(**stated: float) -> co.Phases:
    """The same in two phases, which take half of the time each."""
    whole = swing(**stated)
    start, end, *limits = whole.subject_to
    first = co.Problem(whole.model, whole.duration, whole.minimize, [start, *limits])
    second = co.Problem(whole.model, whole.duration, whole.minimize, [end, *limits])
    cut = co.boundary(lambda phases: phases["first"].duration - phases["second"].duration, equals=0.0)
    return co.Phases({"first": first, "second": second}, [cut])


@cache
def saved() -> tuple[tuple[Path, co.Solution | co.solution.PhasesSolution], ...]:
    """A spline, a refined one with nodes that were added, one by Radau, and one in phases."""
    found: list[tuple[Path, co.Solution | co.solution.PhasesSolution]] = []
    for name, curve in (("spline", co.BSpline(8)), ("added", co.BSpline(20, nodes=14)), ("radau", co.Radau(4))):
        solution = co.solve(swing(), curve, tol=0.2 if name == "radau" else None)
        co.save(solution, FOLDER / f"{name}.npz")
        found.append((FOLDER / f"{name}.npz", solution))
    in_phases = co.solve(halves(), co.BSpline(8), tol=0.2)
    co.save(in_phases, FOLDER / "phases.npz")
    return (*found, (FOLDER / "phases.npz", in_phases))


@cache
def unsolved() -> tuple[tuple[Path, co.Solution], ...]:
    """Motions that take over 1 % longer than the fastest one: of runs that were cut off, and of a coarse grid."""
    found: list[tuple[Path, co.Solution]] = []
    for iterations in (3, 6, 8, 12, 500):
        solution = co.solve(swing(), co.BSpline(8), solver=co.Ipopt(max_iter=iterations), raise_on_failure=False)
        co.save(solution, FOLDER / f"unsolved_{iterations}.npz")
        found.append((FOLDER / f"unsolved_{iterations}.npz", solution))
    return tuple(found)


def attempt(rng: np.random.Generator) -> Attempt:
    """One file, damaged in one way."""
    if rng.random() < 0.1:
        return _claim(rng)
    source, solution = saved()[rng.integers(len(saved()))]
    target = FOLDER / f"damaged_{rng.integers(10**9)}.npz"
    kinds = (_flipped, _cut, _field, _field, _number, _foreign, _header, _bomb)
    kind, stated = kinds[rng.integers(len(kinds))](rng, source, target)
    attempt = _judged(kind, target, solution, stated)
    if attempt.outcome is Outcome.FINE:
        target.unlink(missing_ok=True)
    return attempt


def _judged(
    kind: str, path: Path, original: co.Solution | co.solution.PhasesSolution, stated: dict[str, float]
) -> Attempt:
    of = halves if isinstance(original, co.solution.PhasesSolution) else swing
    given = ", ".join(f"{k}={v!r}" for k, v in stated.items())
    tol = original.outcome.tolerance
    snippet = SNIPPET.format(of=of.__name__, path=str(path), stated=given, tol=tol)
    begin = time.perf_counter()
    try:
        found = co.load(path, of(**stated), tol)
        same = np.array_equal(found.x, original.x) and found.status == original.status and not stated
        same = same and found.iterations == original.iterations and found.history == original.history
        same = same and all(np.array_equal(found.multipliers[k], original.multipliers[k]) for k in ("g", "x"))
    except co.InputError as error:
        named = path.name in str(error)
        outcome, what = Outcome.FINE if named else Outcome.NONSENSE, f"the file is not named: {error}"
    except Exception:
        outcome, what = Outcome.RAW_TRACEBACK, traceback.format_exc()
    else:
        # A crafted file may claim what nobody can check, such as another number of iterations; never another motion.
        motion = np.array_equal(found.x, original.x) and not stated
        fine = same or (kind in ("field", "number") and (motion or not found.success))
        outcome, what = Outcome.FINE if fine else Outcome.NONSENSE, f"accepted: {found!r}"
    if (seconds := time.perf_counter() - begin) > SECONDS:
        return Attempt(kind, Outcome.HANG, snippet, f"{seconds:.0f} s")
    return Attempt(kind, outcome, snippet, what)


def _claim(rng: np.random.Generator) -> Attempt:
    """A motion that is not the fastest, in a file that calls it solved."""
    source, _ = unsolved()[rng.integers(len(unsolved()))]
    target = FOLDER / f"claim_{rng.integers(10**9)}.npz"

    def change(arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        meta["status"] = str(rng.choice(["solved", "too coarse a grid", "violated between nodes"]))
        if rng.random() < 0.8:
            meta["message"] = str(rng.choice(["Solve_Succeeded", "Feasible_Point_Found", "content"]))
        for name in ("tolerance", "cost_tolerance"):
            if rng.random() < 0.6:
                meta[name] = float(10.0 ** rng.uniform(-4, 19))
        if rng.random() < 0.3:
            meta["iterations"] = int(rng.integers(10**9))
        if rng.random() < 0.3:
            meta["violations"] = []

    crafted(source, target, change)
    attempt = Attempt("claim", Outcome.FINE, SNIPPET.format(of="swing", path=str(target), stated="", tol=1e-2))
    try:
        found = co.load(target, swing())
    except co.InputError as error:
        return attempt if target.name in str(error) else attempt._replace(outcome=Outcome.NONSENSE, what=str(error))
    except Exception:
        return attempt._replace(outcome=Outcome.RAW_TRACEBACK, what=traceback.format_exc())
    return attempt._replace(outcome=Outcome.NONSENSE, what=f"accepted: {found!r}") if found.success else attempt


def _flipped(rng: np.random.Generator, source: Path, target: Path) -> tuple[str, dict[str, float]]:
    content = bytearray(source.read_bytes())
    for place in rng.integers(len(content), size=rng.choice([1, 1, 1, 2, 20])):
        content[place] ^= 1 << int(rng.integers(8))
    target.write_bytes(content)
    return "flipped bits", {}


def _cut(rng: np.random.Generator, source: Path, target: Path) -> tuple[str, dict[str, float]]:
    content = source.read_bytes()
    a, b = sorted(rng.integers(len(content), size=2).tolist())
    ways = (
        content[:a],
        content[a:],
        content[:a] + content[b:],
        content + content[a:b],
        content[:a] + bytes(b - a),
        b"",
    )
    target.write_bytes(ways[rng.integers(len(ways))])
    return "cut", {}


def _field(rng: np.random.Generator, source: Path, target: Path) -> tuple[str, dict[str, float]]:
    """A field of the metadata, or of what stands in it, is missing or another."""
    value = VALUES[rng.integers(len(VALUES))]

    def change(arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        place: Any = meta
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = keys[rng.integers(len(keys))]
            if not (isinstance(place[key], dict | list) and place[key] and rng.random() < 0.6):
                break
            place = place[key]
        way = rng.integers(4)
        if way == 0 and isinstance(place, dict):
            del place[key]
        elif way == 1 and isinstance(place, dict):
            place["colour"] = value
        else:
            place[key] = value

    return _written("field", rng, source, target, change)


def _number(rng: np.random.Generator, source: Path, target: Path) -> tuple[str, dict[str, float]]:
    """An array is missing, or has other numbers, another type or another shape."""

    def change(arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        name = list(arrays)[rng.integers(len(arrays))]
        array = arrays[name]
        flat = array.ravel().copy()
        if flat.size and array.dtype.kind == "f":
            flat[rng.integers(flat.size)] = rng.choice([np.nan, np.inf, 0.0, 1e300, -1.0, flat[0] * 1.01])
        ways = (
            None, flat.reshape(array.shape), array[:-1], array[None], array.astype(complex), array.astype(str),
            array.astype("f4"), array[::-1], 1.001 * array, array.astype(bool), np.zeros(0), np.array(1.0),
            np.tile(array, (2, *[1] * (array.ndim - 1))), array.T, array.astype(">f8"), array.astype("i8"),
        )  # fmt: skip
        changed = ways[rng.integers(len(ways))]
        if changed is None:
            del arrays[name]
        else:
            arrays[name if rng.random() < 0.95 else "colour"] = changed

    return _written("number", rng, source, target, change)


def _written(
    kind: str, rng: np.random.Generator, source: Path, target: Path, change: Change
) -> tuple[str, dict[str, float]]:
    signed = bool(rng.random() < 0.8)
    try:
        crafted(source, target, change, signed=signed)
    except (ValueError, UnicodeEncodeError, RecursionError, TypeError):  # nobody can write such a file
        target.write_bytes(b"")
    return kind, {}


def _foreign(rng: np.random.Generator, source: Path, target: Path) -> tuple[str, dict[str, float]]:
    """The file is whole, the problem another; the change is large, or just above rounding."""
    target.write_bytes(source.read_bytes())
    name = list(STATED)[rng.integers(len(STATED))]
    return "foreign problem", {name: STATED[name]}


def _header(rng: np.random.Generator, source: Path, target: Path) -> tuple[str, dict[str, float]]:
    shapes = ((10**13,), (10**6, 10**6), (0,), (2**62, 4), (), (10**9,) * 3)
    names = ("x", "q", "lam_g", "t", "fingerprint")
    header_of(shapes[rng.integers(len(shapes))], names[rng.integers(len(names))], source, target)
    return "header", {}


def _bomb(rng: np.random.Generator, source: Path, target: Path) -> tuple[str, dict[str, float]]:
    """A small file unpacks to much, or says that a motion has very many intervals."""
    if rng.random() < 0.2:
        bomb(target, 2**26)
        return "bomb", {}
    number = int(rng.choice([10**3, 10**5, 10**7, 10**9]))

    def change(arrays: dict[str, Any], meta: dict[str, Any]) -> None:
        curve = next(iter(meta["phases"].values()))["curve"]
        curve[("intervals", "degree", "nodes")[rng.integers(3)]] = number

    return "bomb", _written("bomb", rng, source, target, change)[1]
