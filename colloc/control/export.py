"""A receding horizon as C sources without dependencies."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.control.c_code import UNUSED
from colloc.control.horizon import measured_names, state_names
from colloc.control.native import NativeStep, Settings
from colloc.control.receding import Receding
from colloc.kernels import Compile
from colloc.support.checks import InputError, instance, quoted, spelt
from colloc.support.files import check_path, check_writable, write_atomically

_RECORDED = 5  # ticks that the test repeats
_SAME = 1e-9  # relative difference of torques that the test accepts: compilers round differently
_LICENCE = "/* Written by colloc (MIT License, the colloc authors) for one controller. */\n"
_FUNCTIONS = ("all", "values")

_HEADER = """#ifndef CONTROLLER_H
#define CONTROLLER_H

#include <stdint.h>

#define CONTROLLER_TORQUES {torques}
#define CONTROLLER_STATE {state} /* {state_names} */
#define CONTROLLER_GAINS {gains} /* {gain_names} */
#define CONTROLLER_PARAMETERS {parameters} /* {parameter_names} */
#define CONTROLLER_TICK {tick} /* s */

/* Of the last step of a tick: 0 solved, 1 too many iterations, 2 no minimum nearby, 3 a function is not finite, 4 the
deadline came first, 5 state or parameters are not finite. Without a step, torques are those of the last plan. */
struct controller_answer {{
    int32_t status, steps, iterations;
    double tau[CONTROLLER_TORQUES];                     /* N m, N; to be held for one tick */
    double gains[CONTROLLER_TORQUES][CONTROLLER_GAINS]; /* derivatives of tau */
    double gap, excess, change, cost, seconds;          /* residual of equations, excess of limits: in natural sizes */
}};

/* The first plan and its parameters. */
void controller_begin(void);

/* Moves the plan on by so many ticks and improves it from the measured state; returns the status. It allocates no
memory, and is for one thread. `seconds` is the time to the deadline. */
int controller_tick(int ticks, const double state[], const double parameters[], double seconds,
                    struct controller_answer *answer);

#endif
"""

_GLUE = """#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "controller.h"
#include "step.c"
#include "tables.h"

typedef int function(const double **arg, double **res, int *iw, double *w, int mem);
function {prefix}all, {prefix}values;

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

static struct call all = {{{prefix}all, {{x, p, lam_f, lam_g}}, {{f, gradient, g, jacobian, hessian}}}};
static struct call values = {{{prefix}values, {{trial, p}}, {{f, g}}}};
static const struct functions functions = {{evaluate, &all, &values}};

void controller_begin(void)
{{
    memcpy(x, table_x, sizeof x), memcpy(trial, table_x, sizeof trial);
    memcpy(p, table_p, sizeof p), memcpy(lam_g, table_lam_g, sizeof lam_g);
    *lam_f = 1;
}}

int controller_tick(int ticks, const double state[], const double parameters[], double seconds,
                    struct controller_answer *answer)
{{
    struct settings settings = {settings};
    struct result r;
    static double given[sizeof p / sizeof *p];
    memcpy(given, p, sizeof p), memcpy(given, parameters, CONTROLLER_PARAMETERS * sizeof(double));
    settings.seconds = seconds;
    receding_tick(&program, &memory, &functions, table_target, &settings, ticks, state, given, &r);
    answer->status = r.status, answer->steps = r.steps, answer->iterations = r.iterations;
    memcpy(answer->tau, tau, sizeof answer->tau), memcpy(answer->gains, gains, sizeof answer->gains);
    answer->gap = r.gap, answer->excess = r.excess, answer->change = r.change;
    answer->cost = r.cost, answer->seconds = r.seconds;
    return r.status;
}}
"""

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

    Parameters
    ----------
    controller : Receding
    folder : path
        Made if it does not exist; files in it with the same names are replaced.

    Raises
    ------
    InputError
        For a folder that cannot be written.

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
    ['CMakeLists.txt', 'controller.c', 'controller.h', 'functions.c', 'main.c', 'step.c', 'tables.h']
    """
    if instance("controller", controller, Receding).schedule is not None:
        raise InputError("a controller of phases cannot be written in C: state the schedule in one Problem")
    if not isinstance(folder, str | os.PathLike) or not isinstance(os.fspath(folder), str):
        raise InputError(f"folder must be a path, got {quoted(folder)}")
    target = check_path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder {str(folder)!r} cannot be made: {error.strerror}") from error
    native = _uncompiled(controller)
    texts = {
        "controller.h": _header(controller, native),
        "controller.c": _glue(controller, native),
        "functions.c": _functions(native),
        "tables.h": _tables(native),
        "step.c": Path(__file__).with_name("step.c").read_text(encoding="utf-8"),
        "main.c": _main(controller, native),
        "CMakeLists.txt": _CMAKE,
    }
    for name, text in texts.items():
        licence = _LICENCE if name.endswith((".c", ".h")) else ""
        path = check_writable(target / name, (Path(name).suffix,))
        write_atomically(path, (licence + text).encode())


def _uncompiled(controller: Receding) -> NativeStep:
    """The steps of a controller with functions of CasADi alone, which it can write in C."""
    first = controller.first
    return NativeStep(
        replace(first, program=replace(first.nlp, compile=Compile(inline=True))), controller.tick, controller.price
    )


def _header(controller: Receding, native: NativeStep) -> str:
    sizes = native.tables
    problem = controller.first.nlp.motions[0].problem
    sizes_by_name = ((parameter.name, parameter.value.size) for parameter in problem.all_parameters[:-1])
    names = [name if size == 1 else f"{name} ({size})" for name, size in sizes_by_name]
    state = sizes["parameters"] - sizes["measured"]
    return _HEADER.format(
        torques=sizes["torques"], state=state, state_names=_listed(state_names(problem)), gains=sizes["starts"],
        gain_names=_listed(measured_names(problem)), parameters=sizes["measured"], parameter_names=_listed(names),
        tick=repr(controller.tick),
    )  # fmt: skip


def _listed(names: Sequence[str]) -> str:
    """Names for a comment in C."""
    return (", ".join(names) or "none").replace("*/", "* /").replace("/*", "/ *")


def _glue(controller: Receding, native: NativeStep) -> str:
    sizes = {
        f"sz_{kind}": max(1, *(getattr(function, f"sz_{kind}")() for function in native.functions))
        for kind in ("arg", "res", "iw", "w")
    }
    settings = ", ".join(f".{name} = {_number(getattr(controller.settings, name))}" for name in Settings.names)
    return _GLUE.format(prefix=_PREFIX, settings=f"{{{settings}}}", **sizes)


_PREFIX = "controller_"


def _functions(native: NativeStep) -> str:
    code = ca.CodeGenerator("functions", {"with_header": False, "casadi_int": "int"})
    for name, function in zip(_FUNCTIONS, native.functions, strict=True):
        arguments = function.mx_in()
        code.add(ca.Function(_PREFIX + name, arguments, function.call(arguments, True, False)))
    return UNUSED + code.dump()


def _tables(native: NativeStep) -> str:
    """The program and the memory as static arrays."""
    arrays = dict(native.arrays)
    memory, program = native.memory, native.tables
    lines = [_array(f"table_{name}", array) for name, array in arrays.items()]
    start = {"x": memory["x"], "p": memory["p"], "lam_g": memory["lam_g"], "target": native.target}
    lines += [_array(f"table_{name}", array) for name, array in start.items()]
    lines += [f"static {_kind(array)} {name}[{max(1, array.size)}];\n" for name, array in memory.items()]
    fields = [f".{name} = {_number(program[name])}" for name in (*native.sizes, "cost")]
    fields += [f".{name} = table_{name}" for name in arrays]
    lines.append(f"static const struct program program = {{{', '.join(fields)}}};\n")
    lines.append(f"static struct memory memory = {{{', '.join(f'.{name} = {name}' for name in memory)}}};\n")
    return "\n".join(lines)


def _array(name: str, values: Any) -> str:
    array = np.asarray(values).ravel()
    return f"static const {_kind(array)} {name}[] = {{{', '.join(map(_number, array.tolist())) or '0'}}};\n"


def _kind(array: np.ndarray) -> str:
    return "double" if array.dtype == float else "int32_t"


def _number(value: Any) -> str:
    if isinstance(value, float) and np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _main(controller: Receding, native: NativeStep) -> str:
    records = _recorded(controller, native)
    return _MAIN.format(
        same=_SAME, ticks=_RECORDED, records="".join(_array(name, values) for name, values in records.items())
    )


def _recorded(controller: Receding, native: NativeStep) -> Mapping[str, Sequence[float] | np.ndarray]:
    """States beside those of the plan, and the torques for them."""
    plan, rng = controller.first, np.random.default_rng(0)
    at = plan.at(np.minimum(np.arange(_RECORDED) * controller.tick, plan.duration))
    start = native.memory["p"][native.tables["measured"] :]
    states, torques = [], []
    parameters = native.memory["p"].copy()
    settings = Settings.from_buffer_copy(controller.settings)
    settings.seconds = 1e9
    begun = {name: native.memory[name].copy() for name in ("x", "p", "lam_g")}
    for k in range(_RECORDED):
        state = start.copy()
        moving = np.concatenate([at.q[k], at.qd[k]])
        state[: moving.size] = moving + 1e-3 * rng.standard_normal(moving.size)
        states.append(state)
        native.tick(settings, int(k > 0), state, parameters)
        torques.append(native.memory["tau"].copy())
    for name, values in begun.items():
        native.memory[name][:] = values
    given = parameters[: native.tables["measured"]]
    return {"states": np.concatenate(states), "parameters": given, "torques": np.concatenate(torques)}
