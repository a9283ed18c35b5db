"""Tables and memory of step.c, which makes the steps of a controller without Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.control.horizon import (
    MEASURED,
    START,
    TORQUE,
    Plan,
    determined_by_start,
    durations_of,
    inside_balls,
    place_order,
    rows_of,
    shifts,
    times_of_variables,
)
from colloc.control.schedule import ELAPSED, PlanShift, Schedule, plan_shifts
from colloc.kernels import Compile, build_source, ship

_LANES = 8  # to which vectors are padded, and the longest run of zeros within a segment
_GROUP, _HAND, _SPARE = 16, 128, 512  # as in step.c
_LOST = 1.0  # residual of equations of a plan of phases that is given up; contact makes bad ones at times
_DOUBLE, _INT, _POINTER = ctypes.c_double, ctypes.c_int32, ctypes.c_void_p
SOURCE = Path(__file__).with_name("step.c")
FUNCTIONS = {  # of a program, with their arguments and results in its memory
    "all": (("x", "p", "lam_f", "lam_g"), ("f", "gradient", "g", "jacobian", "hessian")),
    "values": (("trial", "p"), ("f", "g")),
}
_EVALUATE = "_ZN6casadi21_function_buffer_evalEPv"  # `FunctionBuffer` of CasADi, without Python


def ship_step(folder: Path) -> list[Path]:
    """Compile the library for wheels; see `kernels.ship`."""
    text = SOURCE.read_text(encoding="utf-8")
    return ship("step", text, lambda *_: text, folder)


class _Tables(ctypes.Structure):
    sizes = (
        "size", "variables", "rows", "equations", "groups", "limits", "jacobian", "hessian", "starts", "envelope",
        "values", "unknowns", "parameters", "measured", "torques", "curves",
    )  # fmt: skip
    numbers = (
        "size_x", "size_g", "limit_sign", "limit", "weight", "least", "most", "low", "high", "shift", "rest",
    )  # fmt: skip
    arrays = (
        "variable", "place", "size_x", "size_g", "group", "limited", "segment", "segment_first", "segment_length",
        "segment_value", "jacobian_to", "hessian_to", "equation", "equation_place", "first", "row_start", "limit_of",
        "limit_after", "limit_sign", "limit", "weight", "torque", "least", "most", "low", "high", "points", "width",
        "point", "shift", "rest",
    )  # fmt: skip
    _fields_ = (*((n, _INT) for n in sizes), *((n, _POINTER) for n in arrays), ("cost", _DOUBLE))


class _Memory(ctypes.Structure):
    of_functions = ("x", "trial", "p", "f", "gradient", "g", "jacobian", "hessian", "lam_f", "lam_g")
    of_system = ("value", "base", "K", "inverse", "slope", "d", "centre", "scaled", "rhs", "step", "gap")
    of_limits = ("t", "z", "s", "b", "residual", "rt", "rs", "dt", "dz", "ds", "by", "side")
    of_ticks = ("item", "x_before", "lam_before", "p_before", "tau", "gains")
    of_hand = ("column", "schur", "cholesky", "dual", "beyond", "small", "next", "hand", "kind", "place", "count")
    _fields_ = tuple((name, _POINTER) for name in (*of_functions, *of_system, *of_limits, *of_ticks, *of_hand))


class Settings(ctypes.Structure):
    """Settings of a call of `receding_tick`; see step.c."""

    names = ("small", "barrier", "tolerance", "seconds", "lost", "steps", "iterations")
    _fields_ = (*((name, _DOUBLE) for name in names[:5]), *((name, _INT) for name in names[5:]))


class Result(ctypes.Structure):
    """The result of a call of `receding_tick`; see step.c."""

    _fields_ = (
        *((name, _INT) for name in ("status", "iterations", "steps", "raised", "many")),
        *((n, _DOUBLE) for n in ("mu", "residual", "excess", "gap", "change", "cost", "work", "seconds", "processor")),
    )


class _Functions(ctypes.Structure):
    _fields_ = tuple((name, _POINTER) for name in ("evaluate", "all", "values"))


class _MoveTables(ctypes.Structure):
    _fields_ = (*((name, _INT) for name in ("maps", "runs")), *((name, _POINTER) for name in PlanShift._fields))


class _HorizonTables(ctypes.Structure):
    parts = ("program", "memory", "functions")
    arrays = ("target", "p", "lam_g", "duration", "turning")
    _fields_ = (*((name, _POINTER) for name in (*parts, *arrays, "moves")), ("ticks", _INT))


class _ScheduleTables(ctypes.Structure):
    _fields_ = (*((n, _INT) for n in ("phases", "elapsed")), *((n, _DOUBLE) for n in ("tick", "lost")),
                ("horizons", _POINTER))  # fmt: skip


class _SchedulePlace(ctypes.Structure):
    _fields_ = tuple((name, _INT) for name in ("phase", "gone", "lost"))


class NativeStep:
    """The program of a plan in C: its tables, its memory, and the functions that its steps call.

    Parameters
    ----------
    plan : Solution or PhasesSolution
        With `START` rows.
    tick : float [s]
    price : float
        Of the excess of a limit by its natural size, relative to the scale of the cost.
    """

    def __init__(self, plan: Plan, tick: float, price: float):
        self.nlp = plan.nlp
        self.code = ctypes.CDLL(str(build_source("step", SOURCE.read_text(encoding="utf-8"), Compile())))
        self._tables(plan, tick, price)
        self._functions()
        self._first_plan(plan)
        self.result = Result()

    def restart(self) -> None:
        """Begin with the first plan again."""
        self.code.begin_horizon(ctypes.byref(self.horizon))

    def tick(self, settings: Settings, ticks: int, state: np.ndarray, parameters: np.ndarray) -> Result:
        """Move the plan on by so many ticks, and improve it; see step.c."""
        self.code.receding_tick(
            *map(ctypes.byref, (self.horizon, settings)), _INT(ticks), _address(state), _address(parameters),
            ctypes.byref(self.result),
        )  # fmt: skip
        return self.result

    def _tables(self, plan: Plan, tick: float, price: float) -> None:
        nlp, scale = plan.nlp, plan.outcome.scale
        assert scale is not None
        variable = np.setdiff1d(np.flatnonzero(nlp.free), durations_of(plan))
        of_variable = np.full(nlp.n_x, -1)
        of_variable[variable] = np.arange(variable.size)
        row, column = _triplet(nlp.jac_g.sparsity_out(1))
        lower, upper = nlp.bounds_g
        start = rows_of(plan, START)
        self.determined = determined_by_start(plan)
        equal = np.setdiff1d(np.flatnonzero((lower == upper) & ~self.determined[0]), start)
        equation = np.concatenate([equal, start])
        entries = _by_row(row, of_variable[column], nlp.n_g)
        place, equation_place = place_order(times_of_variables(plan)[variable], [entries[r] for r in equation])
        t: dict[str, Any] = {
            "variable": variable, "place": place, "size_x": np.zeros(variable.size + equation.size + _LANES),
            "size_g": scale.rows, "equation": equation, "equation_place": equation_place, "cost": scale.cost,
        }  # fmt: skip
        t["size_x"][place] = nlp.scale_x[variable]
        t |= _limits(nlp, scale.rows, variable, place, price)
        chunks = _chunks(nlp)
        t |= _groups(chunks, t["limit_of"][t["limit_sign"] != 0], nlp.n_g)
        t |= _segments(chunks, [np.unique(place[seen]) for seen in entries])
        t["jacobian_to"] = _jacobian(t, nlp, row, of_variable[column])
        second = [of_variable[k] for k in _triplet(self.nlp.hess_lag.sparsity_out(0))]
        first = _envelope(t, *second)
        widths = np.arange(first.size) - first + 2 * _LANES
        t["first"], t["row_start"] = first, np.cumsum(widths) - widths - first
        t["hessian_to"] = _hessian(t, *second)
        t |= _of_ticks(plan, tick)
        t |= {
            "size": first.size, "variables": variable.size, "rows": nlp.n_g, "equations": equation.size,
            "groups": t["group"].size - 1, "limits": t["limit"].size, "jacobian": row.size,
            "hessian": t["hessian_to"].size, "starts": start.size, "envelope": int(widths.sum()),
            "values": int(t["segment_length"].sum()),
        }  # fmt: skip
        self.tables, self.sizes = t, _Tables.sizes
        kinds = {name: float if name in _Tables.numbers else np.int32 for name in _Tables.arrays}
        self.arrays = {name: np.ascontiguousarray(t[name], kind) for name, kind in kinds.items()}
        addresses = {name: array.ctypes.data for name, array in self.arrays.items()}
        self._program = _Tables(**{name: t[name] for name in (*_Tables.sizes, "cost")}, **addresses)
        self.target = lower[equation] / scale.rows[equation]

    def _functions(self) -> None:
        nlp, program = self.nlp, self._program
        functions = _functions_of(nlp)
        padded = program.size + _LANES
        sizes = {
            "x": nlp.n_x, "trial": nlp.n_x, "p": nlp.n_p, "f": 1, "gradient": nlp.n_x, "g": nlp.n_g,
            "jacobian": program.jacobian, "hessian": program.hessian, "lam_f": 1, "lam_g": nlp.n_g,
            "value": program.values, "base": program.envelope, "K": program.envelope, "gap": program.equations,
            "item": nlp.n_g + padded,
            "x_before": nlp.n_x, "lam_before": nlp.n_g, "p_before": nlp.n_p, "tau": program.torques,
            "gains": program.torques * program.starts,
        }  # fmt: skip
        sizes = dict.fromkeys(_Memory.of_system, padded) | dict.fromkeys(_Memory.of_limits, program.limits) | sizes
        sizes |= dict.fromkeys(_Memory.of_hand, _HAND) | {"column": _HAND * padded}
        sizes |= {"schur": _HAND**2, "cholesky": _HAND**2, "count": 2}
        memory = {name: np.zeros(size, _kind(name)) for name, size in sizes.items()}
        self.memory = memory
        self._memory = _Memory(**{name: array.ctypes.data for name, array in memory.items()})
        self.functions, self._buffers = functions, []
        for function in functions:
            buffer, trigger = function.buffer()
            arguments, results = FUNCTIONS[function.name()]
            for i, name in enumerate(arguments):
                buffer.set_arg(i, memory[name].data)  # pyright: ignore[reportCallIssue]
            for i, name in enumerate(results):
                buffer.set_res(i, memory[name].data)  # pyright: ignore[reportCallIssue]
            self._buffers.append((function, buffer, trigger))
        names = (Path(ca.__file__).parent / f"libcasadi.{suffix}" for suffix in ("so", "dylib", "dll"))
        library = ctypes.CDLL(str(next(path for path in names if path.exists())))
        evaluate = ctypes.cast(getattr(library, _EVALUATE), _POINTER)
        self._evaluators = _Functions(evaluate, *(_raw(buffer) for _, buffer, _ in self._buffers))

    def _first_plan(self, plan: Plan) -> None:
        first = {
            "target": self.target, "p": plan.parameters, "lam_g": plan.multipliers["g"],
            "duration": durations_of(plan), "turning": inside_balls(plan.nlp.motions[0].problem.model),
        }  # fmt: skip
        kinds = {"duration": np.int32, "turning": np.int32}
        self.first = {name: np.array(values, kinds.get(name, np.float64)) for name, values in first.items()}
        parts = map(ctypes.addressof, (self._program, self._memory, self._evaluators))
        self.horizon = _HorizonTables(*parts, *(self.first[name].ctypes.data for name in _HorizonTables.arrays))
        self.restart()


class NativeSchedule:
    """The programs of all phases of a schedule in C, and the place in it; see step.c.

    Parameters
    ----------
    schedule : Schedule
    plans : sequence of PhasesSolution
        The first plans from the start of every phase.
    natives : sequence of NativeStep
        Their programs.
    """

    def __init__(self, schedule: Schedule, plans: Sequence[Plan], natives: Sequence[NativeStep]):
        self.natives, self._cycle = natives, sum(schedule.ticks)
        self.moves = plan_shifts(schedule, plans)
        self._moves = [(_MoveTables * len(moves))(*map(_move, moves)) for moves in self.moves]
        self._horizons = (_HorizonTables * len(natives))(*(native.horizon for native in natives))
        for horizon, moves, ticks in zip(self._horizons, self._moves, schedule.ticks, strict=True):
            horizon.moves, horizon.ticks = ctypes.addressof(moves), ticks
        self.numbers: dict[str, Any] = {
            "phases": len(natives), "elapsed": plans[0].problem.parameter_places[ELAPSED].start, "tick": schedule.tick,
            "lost": _LOST,
        }  # fmt: skip
        self._schedule = _ScheduleTables(**self.numbers, horizons=ctypes.addressof(self._horizons))
        self.restart()

    def restart(self) -> None:
        """Go back to the beginning of the schedule."""
        self._place = _SchedulePlace()

    @property
    def phase(self) -> int:
        """The present phase, whose program makes the steps."""
        return self._place.phase

    def move(self, ticks: int) -> None:
        """Go on by so many ticks, with the plan."""
        if ticks > self._cycle:  # any number of whole cycles is the same
            ticks = self._cycle + 1 + (ticks - self._cycle - 1) % self._cycle
        self._code.schedule_move(*map(ctypes.byref, (self._schedule, self._place)), _INT(ticks))

    def tick(self, settings: Settings, state: np.ndarray, parameters: np.ndarray) -> Result:
        """Improve the plan of the present tick."""
        result = self.natives[self.phase].result
        self._code.schedule_tick(
            *map(ctypes.byref, (self._schedule, self._place, settings)), _address(state), _address(parameters),
            ctypes.byref(result),
        )  # fmt: skip
        return result

    @property
    def _code(self) -> ctypes.CDLL:
        return self.natives[0].code


def _move(move: PlanShift) -> _MoveTables:
    return _MoveTables(len(move.size), len(move.run), *(array.ctypes.data for array in move))


def _of_ticks(plan: Plan, tick: float) -> dict[str, Any]:
    """Tables for the beginning and the end of a tick: moving on, torques."""
    maps, motions = shifts(plan, tick), plan.nlp.motions
    problem = plan.nlp.motions[0].problem
    least, most = problem.limits("tau")
    for window, low, high in problem.windows("tau"):
        if window.start <= tick / 2 / problem.horizon.lower <= window.end:
            least, most = np.maximum(least, low), np.minimum(most, high)
    positions = [m.grid.layout["q"] - m.grid.layout.offset + m.part.start for m in motions]
    points = [index for index, _ in maps] or [np.vstack([q for q in positions if q.shape[1] == positions[0].shape[1]])]
    torque = rows_of(plan, TORQUE)
    return {
        "unknowns": plan.nlp.n_x, "parameters": plan.nlp.n_p, "measured": plan.problem.parameter_places[MEASURED].start,
        "torques": torque.size, "curves": len(maps), "torque": torque, "least": least, "most": most,
        "low": plan.nlp.lower, "high": plan.nlp.upper, "points": [index.shape[0] for index in points],
        "width": [index.shape[1] for index in points], "point": np.concatenate([index.ravel() for index in points]),
        "shift": np.concatenate([np.zeros(0), *(shift.ravel() for _, shift in maps)]), "rest": plan.x,
    }  # fmt: skip


def _functions_of(nlp: Any) -> list[ca.Function]:
    x, p, lam_f, lam_g = (ca.MX.sym(n, k) for n, k in (("x", nlp.n_x), ("p", nlp.n_p), ("f", 1), ("g", nlp.n_g)))
    (f, gradient), (g, jacobian) = (fn.call([x, p], True, False) for fn in (nlp.grad_f, nlp.jac_g))
    (hessian,) = nlp.hess_lag.call([x, p, lam_f, lam_g], True, False)
    # One function of all, inlined, so that local variables of slices are computed once.
    results: Any = ca.cse([ca.densify(f), ca.densify(gradient), ca.densify(g), jacobian, hessian])
    return [
        ca.Function("all", [x, p, lam_f, lam_g], results),
        ca.Function("values", [x, p], [ca.densify(nlp.f(x, p)), ca.densify(nlp.g(x, p))]),
    ]


def _kind(name: str) -> type:
    return np.int32 if name in ("hand", "kind", "place", "count") else np.float64


def _raw(buffer: Any) -> int:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = _POINTER, (ctypes.py_object, ctypes.c_char_p)
    return pointer(buffer._self(), None)


def _address(array: np.ndarray) -> ctypes.c_void_p:
    return _POINTER(array.ctypes.data)


def _triplet(pattern: ca.Sparsity) -> tuple[np.ndarray, np.ndarray]:
    row, column = pattern.get_triplet()
    return np.asarray(row, dtype=int), np.asarray(column, dtype=int)


def _by_row(row: np.ndarray, variable: np.ndarray, rows: int) -> list[np.ndarray]:
    """Free variables in every row."""
    free = variable >= 0
    row, variable = row[free], variable[free]
    order = np.argsort(row, kind="stable")
    return np.split(variable[order], np.searchsorted(row[order], np.arange(1, rows)))


def _chunks(nlp: Any) -> list[np.ndarray]:
    """Rows of a block at one point, at most `_GROUP`, which have the same segments."""
    chunks = []
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        for site in range(block.n_slices):
            rows = first + site * block.n_rows + np.arange(block.n_rows)
            chunks += np.array_split(rows, -(-rows.size // _GROUP))
    return chunks


def _groups(chunks: Sequence[np.ndarray], limit_of: np.ndarray, n_g: int) -> dict[str, np.ndarray]:
    """Rows that have limits, and the first one of every group."""
    has = np.zeros(n_g, dtype=bool)
    has[limit_of[limit_of < n_g]] = True
    groups = [rows[has[rows]] for rows in chunks if has[rows].any()]
    ends = np.cumsum([0, *(group.size for group in groups)])
    return {"group": ends, "limited": np.concatenate([np.zeros(0, int), *groups])}


def _segments(chunks: Sequence[np.ndarray], places: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Runs of neighbouring places in every row, padded; the same for all rows of a chunk."""
    first, length, count = [], [], [0]
    for rows in chunks:
        together = np.unique(np.concatenate([places[row] for row in rows]))
        parts = np.split(together, np.flatnonzero(np.diff(together) > _LANES) + 1) if together.size else []
        parts = [piece for part in parts for piece in _pieces(part)]
        first += [part[0] for part in parts] * rows.size
        length += [-(-(part[-1] - part[0] + 1) // _LANES) * _LANES for part in parts] * rows.size
        count += [len(parts)] * rows.size
    lengths = np.array(length, dtype=int)
    return {
        "segment": np.cumsum(count), "segment_first": np.array(first, dtype=int), "segment_length": lengths,
        "segment_value": np.cumsum(lengths) - lengths,
    }  # fmt: skip


def _pieces(run: np.ndarray) -> list[np.ndarray]:
    """A run of places in pieces that are no longer than `_SPARE`."""
    return np.split(run, np.flatnonzero(np.diff((run - run[0]) // _SPARE)) + 1)


def _jacobian(t: dict[str, Any], nlp: Any, row: np.ndarray, variable: np.ndarray) -> np.ndarray:
    """Where every entry of the Jacobian goes."""
    to, free = np.full(row.size, -1), np.flatnonzero(variable >= 0)
    key = np.repeat(np.arange(nlp.n_g), np.diff(t["segment"])) * (1 << 32) + t["segment_first"]
    at = t["place"][variable[free]].astype(np.int64)
    segment = np.searchsorted(key, row[free] * (1 << 32) + at, side="right") - 1
    to[free] = t["segment_value"][segment] + at - t["segment_first"][segment]
    return to


def _limits(nlp: Any, size: np.ndarray, variable: np.ndarray, place: np.ndarray, price: float) -> dict[str, Any]:
    """Limits of rows, then of variables."""
    lower, upper = nlp.bounds_g
    of, sign, limit = [], [], []
    of_rows = np.arange(nlp.n_g), lower, upper, size
    of_variables = nlp.n_g + place, nlp.lower[variable], nlp.upper[variable], nlp.scale_x[variable]
    for number, low, high, by in (of_rows, of_variables):
        sides = np.column_stack([high, low])
        used = (np.abs(sides) < 1e19) & (low < high)[:, None]
        item, side = np.nonzero(used)
        of.append(number[item])
        sign.append(1.0 - 2.0 * side)
        limit.append(sides[item, side] / by[item])
    missing = -sum(part.size for part in limit) % _LANES
    padding = {"of": np.zeros(missing, int), "sign": np.zeros(missing), "limit": np.ones(missing)}
    limits = np.concatenate([*limit, padding["limit"]])
    of, sign = np.concatenate([*of, padding["of"]]), np.concatenate([*sign, padding["sign"]])
    return {
        "limit_of": of, "limit_after": _following(nlp, of, sign), "limit_sign": sign, "limit": limits,
        "weight": np.full(limits.size, price),
    }  # fmt: skip


def _following(nlp: Any, of: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """The limit of the same row of a block, and of the same sign, at the next time; -1 if there is none."""
    numbers = {key: k for k, key in enumerate(zip(of.tolist(), sign.tolist(), strict=True)) if key[1] != 0}
    after = np.full(nlp.n_g + of.max(initial=0) + 1, -1)
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        rows = first + np.arange(block.n_rows * (block.n_slices - 1))
        after[rows] = rows + block.n_rows
    return np.array([numbers.get((after[row], side), -1) for row, side in zip(of, sign, strict=True)], dtype=int)


def _envelope(t: dict[str, Any], row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """First column of every row of the lower triangle."""
    size = t["variable"].size + t["equation"].size
    first, place = np.arange(size), t["place"]
    free = (row >= 0) & (column >= 0)
    i, j = place[row[free]], place[column[free]]
    np.minimum.at(first, np.maximum(i, j), np.minimum(i, j))
    for row in t["limited"].tolist():
        places = _places_of_row(t, row)
        first[places] = np.minimum(first[places], places.min(initial=size))
    for row, at in zip(t["equation"].tolist(), t["equation_place"].tolist(), strict=True):
        places = _places_of_row(t, row)
        first[at] = min(first[at], places.min(initial=size))
        later = places[places > at]
        first[later] = np.minimum(first[later], at)
    return first


def _places_of_row(t: dict[str, Any], row: Any) -> np.ndarray:
    parts = range(t["segment"][row], t["segment"][row + 1])
    runs = [t["segment_first"][k] + np.arange(t["segment_length"][k]) for k in parts]
    places = np.concatenate([np.zeros(0, int), *runs])
    return places[places < t["variable"].size + t["equation"].size]


def _hessian(t: dict[str, Any], row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Where every entry of the upper triangle of the Hessian goes."""
    free = (row >= 0) & (column >= 0)
    i, j = t["place"][row].astype(int), t["place"][column].astype(int)
    to = t["row_start"][np.maximum(i, j)] + np.minimum(i, j)
    return np.where(free, to, -1)
