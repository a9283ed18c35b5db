"""A receding horizon as C sources without dependencies."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.control.c_code import UNUSED
from colloc.control.horizon import MEASURED, Plan, measured_names, state_names
from colloc.control.native import FUNCTIONS, SOURCE, NativeSchedule, NativeStep, Settings
from colloc.control.receding import Receding
from colloc.control.schedule import ELAPSED, PlanShift
from colloc.kernels import Compile
from colloc.problem import Problem
from colloc.support.checks import InputError, instance, quoted, spelt
from colloc.support.files import check_path, check_writable, write_atomically
from colloc.support.lazy import cached_property

_RECORDED = 5  # ticks that the test repeats; of phases a whole cycle, and the first tick of the next one
_SAME = 1e-9  # relative difference of torques that the test accepts: compilers round differently
_LICENCE = "/* Written by colloc (MIT License, the colloc authors) for one controller. */\n"
_PREFIX = "controller_"
# Arrays of which nothing is read that a tick has not written: programs of phases share them.
_SHARED = ("jacobian", "hessian", "base", "K", "column", "schur", "cholesky")
_BYTES = {"double": 8, "int32_t": 4}
_SMALL = 0.02  # share of the memory of arrays that the header does not name

_HEADER = """#ifndef CONTROLLER_H
#define CONTROLLER_H

#include <stdint.h>

#define CONTROLLER_TORQUES {torques}
#define CONTROLLER_STATE {state} /* {state_names} */
#define CONTROLLER_GAINS {gains} /* {gain_names} */
#define CONTROLLER_PARAMETERS {parameters} /* {parameter_names} */
#define CONTROLLER_TICK {tick} /* s */
{phases}
/* Memory beside the code: {constant} bytes of constants and {memory} bytes that are written, of which
{arrays}. */

/* Of the last step of a tick: 0 solved, 1 too many iterations, 2 no minimum nearby, 3 a function is not finite, 4 the
deadline came first, 5 state or parameters are not finite. Without a step, torques are those of the last plan. */
struct controller_answer {{
    int32_t status, steps, iterations;
    double tau[CONTROLLER_TORQUES];                     /* N m, N; to be held for one tick */
    double gains[CONTROLLER_TORQUES][CONTROLLER_GAINS]; /* derivatives of tau */
    double gap, excess, change, cost, seconds;          /* residual of equations, excess of limits: in natural sizes */
}};

/* The first plan and its parameters, at the beginning of the first phase. */
void controller_begin(void);

/* Moves the plan on by so many ticks and improves it from the measured state; returns the status. It allocates no
memory, and is for one thread. `seconds` is the time to the deadline. */
int controller_tick(int ticks, const double state[], const double parameters[], double seconds,
                    struct controller_answer *answer);

#endif
"""

_GLUE = """#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "controller.h"
#include "step.h"
#include "tables.h"

typedef int function(const double **arg, double **res, int *iw, double *w, int mem);
function {names};

struct call {{
    function *function;
    const double *arg[{sz_arg}];
    double *res[{sz_res}];
}};
static int iw[{sz_iw}];
static double w[{sz_w}];

static void evaluate(void *given)
{{
    struct call *call = given;
    call->function(call->arg, call->res, iw, w, 0);
}}

{calls}
{horizons}
void controller_begin(void)
{{
    for (size_t k = 0; k < sizeof horizons / sizeof *horizons; k++) begin_horizon(&horizons[k]);{begin}
}}

int controller_tick(int ticks, const double state[], const double parameters[], double seconds,
                    struct controller_answer *answer)
{{
    struct settings settings = {settings};
    struct result r;
    static double given[{parameters}];
    settings.seconds = seconds;{move}
    const struct memory *m = h->memory;
    memcpy(given, m->p, h->program->parameters * sizeof *given);
    memcpy(given, parameters, CONTROLLER_PARAMETERS * sizeof *given);
    {tick};
    answer->status = r.status, answer->steps = r.steps, answer->iterations = r.iterations;
    memcpy(answer->tau, m->tau, sizeof answer->tau), memcpy(answer->gains, m->gains, sizeof answer->gains);
    answer->gap = r.gap, answer->excess = r.excess, answer->change = r.change;
    answer->cost = r.cost, answer->seconds = r.seconds;
    return r.status;
}}
"""

# Lines of the template without phases, and with them.
_ALONE = {
    "begin": "",
    "move": "\n    const struct horizon *h = horizons;",
    "tick": "receding_tick(h, &settings, ticks, state, given, &r)",
}
_OF_PHASES = {
    "begin": "\n    place = (struct place){0, 0, 0};",
    "move": "\n    schedule_move(&schedule, &place, ticks);\n    const struct horizon *h = &horizons[place.phase];",
    "tick": "schedule_tick(&schedule, &place, &settings, state, given, &r)",
}

_MAIN = """/* Repeats ticks that were recorded in Python; fails if torques differ by more than {same} of their size. */

#include "controller.h"
#include <math.h>
#include <stdio.h>

{records}
int main(void)
{{
    static struct controller_answer answer;
    double worst = 0, longest = 0;
    controller_begin();
    for (int k = 0; k < {ticks}; k++) {{
        controller_tick(k > 0, states + k * CONTROLLER_STATE, parameters, 1e9, &answer);
        for (int j = 0; j < CONTROLLER_TORQUES; j++) {{
            double expected = torques[k * CONTROLLER_TORQUES + j];
            worst = fmax(worst, fabs(answer.tau[j] - expected) / fmax(1, fabs(expected)));
        }}
        longest = fmax(longest, answer.seconds);
    }}
    printf("%d ticks, largest difference %.1e, longest step %.3f ms\\n", {ticks}, worst, 1e3 * longest);
    return !(worst <= {same});
}}
"""

_CMAKE = """cmake_minimum_required(VERSION 3.10)
project(controller C)
set(CMAKE_C_STANDARD 11)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_library(controller controller.c functions.c)
# Long straight lines: by -Og as fast as by -O3, and compiled in a third of the time.
set_source_files_properties(functions.c PROPERTIES COMPILE_OPTIONS "$<$<C_COMPILER_ID:GNU>:-Og>")
target_include_directories(controller PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(controller m)
enable_testing()
add_executable(check main.c)
target_link_libraries(check controller m)
add_test(NAME check COMMAND check)
"""


@spelt
def export(controller: Receding, folder: str | os.PathLike[str]) -> None:
    """Write a controller as C11 sources that need no library, and allocate no memory.

    ``controller.h`` declares ``controller_begin`` and ``controller_tick``. ``main.c`` repeats recorded ticks, and
    ``CMakeLists.txt`` builds and tests all. The plan is the first one of the controller.

    A schedule of phases has a program for every phase, and the next one takes over the plan where a phase ends. The
    header says how much memory there is, and ``main.c`` repeats a whole cycle.

    Parameters
    ----------
    controller : Receding
    folder : path
        Made if it does not exist; files in it with the same names are replaced.

    Raises
    ------
    InputError
        For a folder that cannot be written, and phases with different joints or `State` unknowns.

    See Also
    --------
    receding
    to_c : Torques, their derivatives and feedback gains alone.

    Examples
    --------
    >>> still = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    >>> hold = co.Problem(two_link(9.81), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    >>> co.control.export(co.control.receding(hold, co.BSpline(6), tick=0.02), "hold")
    >>> import os
    >>> sorted(os.listdir("hold"))
    ['CMakeLists.txt', 'controller.c', 'controller.h', 'functions.c', 'main.c', 'step.h', 'tables.h']
    """
    _check_alike(instance("controller", controller, Receding))
    if not isinstance(folder, str | os.PathLike) or not isinstance(os.fspath(folder), str):
        raise InputError(f"folder must be a path, got {quoted(folder)}")
    target = check_path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder {str(folder)!r} cannot be made: {error.strerror}") from error
    written = _Written.of(controller)
    tables, memory, functions = _tables(written), _memory(written), _functions(written)
    texts = {
        "controller.h": _header(written, tables.bytes + _bytes_of_constants(functions)),
        "controller.c": _glue(written, tables.horizons),
        "functions.c": functions,
        "tables.h": "\n".join([*tables.lines, *memory]),
        "step.h": SOURCE.read_text(encoding="utf-8"),
        "main.c": _main(written),
        "CMakeLists.txt": _CMAKE,
    }
    for name, text in texts.items():
        licence = _LICENCE if name.endswith((".c", ".h")) else ""
        path = check_writable(target / name, (Path(name).suffix,))
        write_atomically(path, (licence + text).encode())


def _first_problem(plan: Plan) -> Problem:
    return plan.nlp.motions[0].problem


def _check_alike(controller: Receding) -> None:
    """InputError for phases whose states or gains have other entries than those of the first one."""
    entries = [(*state_names(problem), *measured_names(problem)) for problem in map(_first_problem, controller.plans)]
    for k, names in enumerate(entries):
        if controller.schedule is not None and names != entries[0]:
            first, other = controller.schedule.names[0], controller.schedule.names[k]
            raise InputError(
                "phases in C must have the same joints and State unknowns: state those of "
                f"{first!r} and {other!r} in both"
            )


@dataclass(frozen=True, eq=False)
class _Written:
    """A controller whose functions are those of CasADi alone, which it can write in C."""

    controller: Receding
    steps: list[NativeStep]
    schedule: NativeSchedule | None

    @classmethod
    def of(cls, controller: Receding) -> _Written:
        plans = [_uncompiled(plan) for plan in controller.plans]
        steps = [NativeStep(plan, controller.tick, controller.price) for plan in plans]
        schedule = controller.schedule
        return cls(controller, steps, None if schedule is None else NativeSchedule(schedule, plans, steps))

    @property
    def parameters(self) -> list[str]:
        """Names of the user's parameters, and how many entries they have."""
        places = self.controller.first.problem.parameter_places.items()
        sizes = {name: part.stop - part.start for name, part in places if name not in (MEASURED, ELAPSED)}
        return [name if size == 1 else f"{name} ({size})" for name, size in sizes.items()]

    @property
    def known(self) -> int:
        """Entries of the user's parameters, which come first."""
        return self.steps[0].tables["measured"] if self.schedule is None else self.schedule.numbers["elapsed"]

    @cached_property
    def functions(self) -> list[ca.Function]:
        """The functions of all programs under their names in C."""
        functions = []
        for k, native in enumerate(self.steps):
            for function in native.functions:
                arguments = function.mx_in()
                outputs = function.call(arguments, True, False)
                functions.append(ca.Function(_name(function.name(), k), arguments, outputs))
        return functions

    @cached_property
    def work(self) -> dict[str, int]:
        """Sizes of what the functions work with."""
        kinds = "sz_arg", "sz_res", "sz_iw", "sz_w"
        return {kind: max(1, *(getattr(function, kind)() for function in self.functions)) for kind in kinds}

    @cached_property
    def memory(self) -> dict[str, tuple[str, int]]:
        """Kind and size of all arrays that are written; those of a program have its number in their names."""
        arrays: dict[str, tuple[str, int]] = {}
        for k, native in enumerate(self.steps):
            for name, array in native.memory.items():
                place = _place(name, k)
                arrays[place] = _kind(array), max(1, array.size, arrays.get(place, ("", 0))[1])
        return arrays


def _uncompiled(plan: Any) -> Plan:
    phases = {name: replace(nlp, compile=Compile(inline=True)) for name, nlp in plan.nlp.phases.items()}
    return replace(plan, program=plan.nlp.with_phases(phases))


def _place(name: str, k: int) -> str:
    """Name of an array of a program's memory."""
    return f"shared_{name}" if name in _SHARED else f"memory_{k}_{name}"


def _header(written: _Written, constant: int) -> str:
    controller, sizes = written.controller, written.steps[0].tables
    problem = _first_problem(controller.first)
    arrays = {name: _BYTES[kind] * size for name, (kind, size) in written.memory.items()}
    arrays |= {"w": 8 * written.work["sz_w"], "iw": 4 * written.work["sz_iw"]}
    total = sum(arrays.values())
    large = sorted((name for name, size in arrays.items() if size > _SMALL * total), key=lambda name: -arrays[name])
    return _HEADER.format(
        torques=sizes["torques"], state=sizes["parameters"] - sizes["measured"],
        state_names=_listed(state_names(problem)), gains=sizes["starts"], gain_names=_listed(measured_names(problem)),
        parameters=written.known, parameter_names=_listed(written.parameters), tick=repr(controller.tick),
        phases=_phases(written),
        constant=constant, memory=total, arrays=",\n".join(f"{name} has {arrays[name]}" for name in large),
    )  # fmt: skip


def _phases(written: _Written) -> str:
    schedule = written.controller.schedule
    if schedule is None:
        return ""
    lengths = [f"{name}: {ticks}" for name, ticks in zip(schedule.names, schedule.ticks, strict=True)]
    return f"#define CONTROLLER_PHASES {len(lengths)} /* ticks of each, in a cycle: {_listed(lengths)} */\n"


def _listed(names: Sequence[str]) -> str:
    """Names for a comment in C."""
    return (", ".join(names) or "none").replace("*/", "* /").replace("/*", "/ *")


def _glue(written: _Written, fields: Sequence[Mapping[str, Any]]) -> str:
    steps, schedule, settings = written.steps, written.schedule, written.controller.settings
    calls = []
    for k in range(len(steps)):
        for name, arrays in FUNCTIONS.items():
            arguments, results = (", ".join(_place(array, k) for array in part) for part in arrays)
            calls.append(f"static struct call {name}_{k} = {{{_name(name, k)}, {{{arguments}}}, {{{results}}}}};\n")
        calls.append(f"static const struct functions functions_{k} = {{evaluate, &all_{k}, &values_{k}}};\n")
    horizons = [f"    {_struct(horizon)},\n" for horizon in fields]
    lines = ["static const struct horizon horizons[] = {\n", *horizons, "};\n"]
    if schedule is not None:
        numbers = {name: _number(value) for name, value in schedule.numbers.items()}
        lines.append(f"static const struct schedule schedule = {_struct(numbers | {'horizons': 'horizons'})};\n")
        lines.append("static struct place place;\n")
    return _GLUE.format(
        names=", ".join(_name(name, k) for k in range(len(steps)) for name in FUNCTIONS), calls="".join(calls),
        horizons="".join(lines), parameters=max(native.tables["parameters"] for native in steps),
        settings=_struct({name: _number(getattr(settings, name)) for name in Settings.names}), **written.work,
        **(_ALONE if schedule is None else _OF_PHASES),
    )  # fmt: skip


def _name(function: str, k: int) -> str:
    return f"{_PREFIX}{function}_{k}"


def _struct(fields: Mapping[str, Any]) -> str:
    return f"{{{', '.join(f'.{name} = {value}' for name, value in fields.items())}}}"


def _functions(written: _Written) -> str:
    code = ca.CodeGenerator("functions", {"with_header": False, "casadi_int": "int"})
    for function in written.functions:
        code.add(function)
    return UNUSED + code.dump()


def _bytes_of_constants(code: str) -> int:
    """Of the arrays of numbers and places in CasADi's code."""
    arrays = re.findall(r"^static const casadi_(int|real) \w+\[(\d+)\]", code, flags=re.MULTILINE)
    return sum({"int": 4, "real": 8}[kind] * int(size) for kind, size in arrays)


class _Constants:
    """Static arrays of constants, of which equal ones are written once, and the fields of every horizon."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.horizons: list[dict[str, Any]] = []
        self.bytes = 0
        self._names: dict[tuple[str, bytes], str] = {}

    def add(self, name: str, array: np.ndarray) -> str:
        """The name of an array, which is a new one or that of an equal array."""
        key = _kind(array), array.tobytes()
        if key not in self._names:
            self._names[key] = name
            self.lines.append(_array(name, array))
            self.bytes += max(1, array.size) * _BYTES[key[0]]
        return self._names[key]


def _tables(written: _Written) -> _Constants:
    """Programs, their first plans, and how plans are moved on."""
    tables = _Constants()
    for k, native in enumerate(written.steps):
        arrays = {name: tables.add(f"program_{k}_{name}", array) for name, array in native.arrays.items()}
        numbers = {name: _number(native.tables[name]) for name in (*native.sizes, "cost")}
        tables.lines.append(f"static const struct program program_{k} = {_struct(numbers | arrays)};\n")
        horizon: dict[str, Any] = {part: f"&{part}_{k}" for part in ("program", "memory", "functions")}
        horizon |= {name: tables.add(f"first_{k}_{name}", array) for name, array in native.first.items()}
        if written.schedule is not None:
            moves = [_move(tables, f"move_{k}_{i}", move) for i, move in enumerate(written.schedule.moves[k])]
            entries = ",\n    ".join(moves)
            tables.lines.append(f"static const struct move moves_{k}[] = {{\n    {entries}\n}};\n")
            horizon |= {"moves": f"moves_{k}", "ticks": len(moves)}
        tables.horizons.append(horizon)
    return tables


def _move(tables: _Constants, name: str, move: PlanShift) -> str:
    arrays = {field: tables.add(f"{name}_{field}", array) for field, array in move._asdict().items()}
    return _struct({"maps": len(move.size), "runs": len(move.run)} | arrays)


def _memory(written: _Written) -> list[str]:
    lines = [f"static {kind} {name}[{size}];\n" for name, (kind, size) in written.memory.items()]
    for k, native in enumerate(written.steps):
        fields = {name: _place(name, k) for name in native.memory}
        lines.append(f"static struct memory memory_{k} = {_struct(fields)};\n")
    return lines


def _array(name: str, values: Any) -> str:
    array = np.asarray(values).ravel()
    return f"static const {_kind(array)} {name}[] = {{{', '.join(map(_number, array.tolist())) or '0'}}};\n"


def _kind(array: np.ndarray) -> str:
    return "double" if array.dtype == float else "int32_t"


def _number(value: Any) -> str:
    if isinstance(value, float) and np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _main(written: _Written) -> str:
    records = _recorded(written)
    return _MAIN.format(
        same=_SAME, ticks=len(records["torques"]) // written.steps[0].tables["torques"],
        records="".join(_array(name, values) for name, values in records.items()),
    )  # fmt: skip


def _recorded(written: _Written) -> dict[str, np.ndarray]:
    """States beside those of the plan, and the torques for them."""
    controller, rng = written.controller, np.random.default_rng(0)
    plan, native, schedule = controller.first, written.steps[0], controller.schedule
    ticks = _RECORDED if schedule is None else sum(schedule.ticks) + 1
    at = plan.at(np.minimum(np.arange(ticks) * controller.tick, plan.duration))
    start = native.memory["p"][native.tables["measured"] :].copy()
    parameters = native.memory["p"][: written.known].copy()
    states, torques = [], []
    settings = Settings.from_buffer_copy(controller.settings)
    settings.seconds = 1e9
    for k in range(ticks):
        state = start.copy()
        moving = np.concatenate([at.q[k], at.qd[k]])
        state[: moving.size] = moving + 1e-3 * rng.standard_normal(moving.size)
        states.append(state)
        if written.schedule is None:
            native.tick(settings, int(k > 0), state, native.memory["p"].copy())
        else:
            written.schedule.move(int(k > 0))
            native = written.steps[written.schedule.phase]
            written.schedule.tick(settings, state, native.memory["p"].copy())
        torques.append(native.memory["tau"].copy())
    return {"states": np.concatenate(states), "parameters": parameters, "torques": np.concatenate(torques)}
