"""A controller as C sources: they compile without a warning, repeat its ticks, and call nothing but the C library."""

import ctypes
import re
import shutil
import subprocess
import sys
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.control.export import _listed, _Written
from colloc.kernels.compiler import OPTIMISED, inspect
from colloc.models.closed.four_bar import four_bar
from colloc.models.panda import panda
from colloc.models.two_link import two_link
from colloc.studies.control.trot import quadruped, schedule

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
SANITIZED = [] if sys.platform == "win32" else ["-fsanitize=address,undefined"]  # which MinGW-w64 does not have
# By which MinGW-w64 touches a deep stack, and its headers read clocks.
OF_WINDOWS = {
    "___chkstk_ms", "__imp_GetCurrentThread", "__imp_GetThreadTimes", "__imp_QueryPerformanceCounter",
    "__imp_QueryPerformanceFrequency",
}  # fmt: skip
SOURCES = ["controller.c", "functions.c", "main.c"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    goal = co.Parameter("goal", (0.3, 0.5))
    near = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q - now.goal))
    limits = co.bounds(tau=(-25.0, 25.0), qd=(-1.0, 1.0))
    reach = co.Problem(two_link(9.81), 0.5, near, [co.initial(q=0.0, qd=0.0), limits], parameters=[goal])
    folder = tmp_path_factory.mktemp("controller")
    co.control.export(co.control.receding(reach, co.BSpline(4), tick=0.02, steps=2), folder)
    return folder


def run(*command, folder):
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c_sources_repeat_recorded_ticks_under_the_sanitizers(compiler, folder):
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    assert sorted(path.name for path in folder.glob("*.c")) == SOURCES  # `cc *.c` builds it
    run(compiler, *STRICT, "-O0", *SANITIZED, *SOURCES, "-o", "check", "-lm", folder=folder)
    assert "5 ticks, largest difference" in run(folder / "check", folder=folder)


def test_the_header_names_all_entries(folder):
    header = (folder / "controller.h").read_text(encoding="utf-8")
    assert "CONTROLLER_STATE 4 /* q[shoulder], q[elbow], qd[shoulder], qd[elbow] */" in header
    assert "CONTROLLER_PARAMETERS 2 /* goal (2) */" in header


def test_a_name_does_not_end_a_comment():
    assert _listed(["a*/b", "c"]) == "a* /b, c"
    assert _listed([]) == "none"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
@pytest.mark.parametrize(("kind", "gains"), [("quaternion", 6), ("loop", 2)])
def test_gains_of_quaternions_and_loops_have_fewer_columns_than_the_state(kind, gains, tmp_path):
    chain, parts = four_bar(), []
    model = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)))
    start: dict[str, Any] = {"q": (1.0, 0.0, 0.0, 0.0), "qd": 0.0}
    if kind == "loop":
        model, parts, start = chain.model, [co.loops.IndependentJoints(chain)], {"q": {"crank": 1.0}, "qd": 0.0}
    still = co.integral(lambda now: 1e-2 * ca.sumsqr(now.tau) + ca.sumsqr(now.qd))
    hold = co.Problem(model, 0.5, still, [co.initial(**start)], parts=parts)
    controller = co.control.receding(hold, co.BSpline(5), tick=0.02)
    co.control.export(controller, tmp_path)
    assert f"CONTROLLER_GAINS {gains} /*" in (tmp_path / "controller.h").read_text(encoding="utf-8")
    run("gcc", *STRICT, "-O0", *SANITIZED, *SOURCES, "-o", "check", "-lm", folder=tmp_path)
    assert "5 ticks, largest difference" in run(tmp_path / "check", folder=tmp_path)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_c_sources_call_neither_a_library_nor_an_allocator(folder):
    run("gcc", *STRICT, "-O0", "-c", *SOURCES[:2], folder=folder)
    lines = run("nm", "-u", "controller.o", "functions.o", folder=folder).splitlines()
    called = {line.split()[1] for line in lines if line.split()[:1] == ["U"]}
    own = {"controller_all_0", "controller_values_0"}
    of_c = {"memcpy", "memmove", "memset", "clock_gettime", "fmin", "fmax", "sin", "cos", "sincos", "sqrt"}
    assert called <= own | of_c | OF_WINDOWS


def test_a_recorded_tick_that_differs_fails(folder):
    if shutil.which("gcc") is None:
        pytest.skip("needs a C compiler")
    text = (folder / "main.c").read_text(encoding="utf-8")
    start = text.index("torques[] = {") + len("torques[] = {")
    (folder / "wrong.c").write_text(text[:start] + "1" + text[start:], encoding="utf-8")
    run("gcc", "-std=c11", "-O0", *SOURCES[:2], "wrong.c", "-o", "wrong", "-lm", folder=folder)
    assert subprocess.run(folder / "wrong", cwd=folder, check=False, capture_output=True).returncode == 1


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    still = co.integral(lambda now: ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    hold = co.Problem(two_link(), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    controller = co.control.receding(hold, co.BSpline(5), tick=0.02)
    with pytest.raises(co.InputError, match="cannot be made"):
        co.control.export(controller, tmp_path / "file" / "inside")
    with pytest.raises(co.InputError, match="folder must be a path, got 3"):
        co.control.export(controller, 3)  # pyright: ignore[reportArgumentType]


TICK = 0.02


def hopping(*, motor=False):
    """A body on a slide and a quaternion, which the ground pushes in the first of two phases."""
    top = co.spherical("body", parent="up", sequence="quaternion", mass=2.0, inertia=(0.05, 0.04, 0.03))
    model = co.Model([co.Body("up", co.prismatic((0, 0, 1))), *top], gravity=(0, 0, -9.81))
    height, push = co.Parameter("height", 0.0), co.Unknown("push", 2, guess=(0.0, 30.0), lower=-60.0, upper=60.0)
    lag = co.State("motor", rate=lambda now: -now.motor)

    def cost(now):
        turned = now.rotation("body") - ca.DM.eye(3)
        away = 100 * (now.q[0] - now.height) ** 2 + 10 * ca.sumsqr(turned)
        return away + ca.sumsqr(now.qd) + 1e-2 * ca.sumsqr(now.tau)

    limits = co.bounds(tau=(-5.0, 5.0), qd=(-2.0, 2.0))
    on_ground = co.integral(lambda now: cost(now) + 1e-3 * ca.sumsqr(now.push))
    cone = co.path(lambda now: now.push[1] + ca.vertcat(1, -1) * now.push[0], lower=0.0, scale=50.0)
    low = co.path(lambda now: now.q[0], lower=-0.3)
    start, parts = co.initial(q=model.neutral, qd=0.0), [height]
    foot = co.Load("body", lambda now: ca.vertcat(now.push[0], 0, now.push[1]), point=(0, 0, -0.3))
    stance = co.Problem(model, 4 * TICK, on_ground, [limits, cone, start], [push], parameters=parts, loads=[foot])
    flight = co.Problem(model, 3 * TICK, co.integral(cost), [limits, low], [lag] if motor else [], parameters=parts)
    return co.Phases({"stance": stance, "flight": flight})


@pytest.fixture(scope="module")
def of_phases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("phases")
    co.control.export(co.control.receding(hopping(), co.BSpline(4), tick=TICK), folder)
    return folder


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c_sources_of_phases_repeat_a_cycle_under_the_sanitizers(compiler, of_phases):
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    run(compiler, *STRICT, "-O0", *SANITIZED, *SOURCES, "-o", "check", "-lm", folder=of_phases)
    assert "8 ticks, largest difference" in run(of_phases / "check", folder=of_phases)


class Answer(ctypes.Structure):
    """`controller_answer` of the hopping body."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("status", "steps", "iterations")),
        ("tau", ctypes.c_double * 4), ("gains", ctypes.c_double * 8 * 4),
        *((name, ctypes.c_double) for name in ("gap", "excess", "change", "cost", "seconds")),
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_c_of_phases_is_python_to_the_bit_through_cycles_leaps_and_lost_plans(of_phases):
    compiler = inspect(("gcc",))
    flags = *compiler.flags, *OPTIMISED, "-fvisibility=default"
    run(*compiler.command, *flags, "-c", "controller.c", folder=of_phases)
    run("gcc", "-O0", "-ffp-contract=off", "-fPIC", "-c", "functions.c", folder=of_phases)
    run("gcc", "-shared", "controller.o", "functions.o", "-o", "controller.so", "-lm", folder=of_phases)
    library, answer = ctypes.CDLL(str(of_phases / "controller.so")), Answer()
    controller, rng = co.control.receding(hopping(), co.BSpline(4), tick=TICK), np.random.default_rng(0)
    other, count, lost = _Written.of(controller), 0, 0  # with functions of CasADi, as in C
    assert other.schedule is not None
    model = controller.first.nlp.motions[0].problem.model
    wrong = {5: np.nan, 10: 1e4}  # measured speeds
    lengths = {20: 1.05, 21: 0.5}  # of the measured quaternion
    q, qd = model.neutral, np.array([3.0, 0.3, 0.5, 0.0])  # faster upwards than its limit
    library.controller_begin()
    for k, ticks in enumerate([0, *[1] * 16, 2, 3, 9, *[1] * 8]):  # the leap of 9 ticks is longer than a cycle
        count += ticks
        height, state = 0.05 * np.sin(k), np.concatenate([q, qd])
        if k in wrong:
            state[5:] = wrong[k]
        state[1:5] *= lengths.get(k, 1.0)
        tick = controller(state[:5], state[5:], t=TICK * count, height=height)
        other.schedule.move(ticks)
        memory = other.steps[other.schedule.phase].memory
        result = other.schedule.tick(controller.settings, state, np.append(height, memory["p"][1:]))
        parameters = np.array([height])
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (state, parameters))
        status = library.controller_tick(ticks, *pointers, ctypes.c_double(1e9), ctypes.byref(answer))
        assert (status, answer.steps, answer.iterations) == (result.status, result.steps, result.iterations)
        assert (status == 5) == (k in (5, 21))
        np.testing.assert_array_equal(answer.tau, memory["tau"])
        np.testing.assert_array_equal(np.ravel(answer.gains), memory["gains"])
        assert (answer.cost, answer.gap) == (result.cost, result.gap)
        assert tick.trusted or k < 14 or k == 21, tick.message
        if tick.trusted:  # compiled functions round differently
            np.testing.assert_allclose(answer.tau, tick.tau, rtol=1e-8, atol=1e-8)
        lost += result.gap > 1
        if k not in wrong:
            q, qd = tick.state(TICK)
            q, qd = model.displaced(q, 1e-3 * rng.standard_normal(4)), qd + 1e-2 * rng.standard_normal(4)
    assert lost > 0


@pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("gcc") is None, reason="needs CMake and GCC")
def test_a_trotting_quadruped_is_built_and_tested_by_its_own_file(tmp_path):
    co.control.export(co.control.receding(schedule(quadruped()), co.BSpline(4), tick=0.01), tmp_path)
    run("cmake", "-S", ".", "-B", "build", "-DCMAKE_C_COMPILER=gcc", folder=tmp_path)
    run("cmake", "--build", "build", folder=tmp_path)
    said = run("ctest", "--test-dir", "build", "--verbose", folder=tmp_path)
    assert "51 ticks, largest difference" in said
    assert "100% tests passed" in said


def test_phases_with_different_states_are_named(tmp_path):
    controller = co.control.receding(hopping(motor=True), co.BSpline(4), tick=TICK)
    with pytest.raises(co.InputError, match="state those of 'stance' and 'flight' in both"):
        co.control.export(controller, tmp_path)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_the_sources_of_a_panda_repeat_its_ticks_under_the_sanitizers(tmp_path):
    home, torque = np.array([0, -0.4, 0, -2.2, 0, 1.8, 0.8]), np.array([87.0] * 4 + [12.0] * 3)
    limits = co.bounds(q=(home - 0.55, home + 0.55), qd=(-1.5, 1.5), tau=(-torque, torque))
    goal, pace = co.Parameter("goal", home), co.Parameter("pace", np.zeros(7))

    def cost(now):
        away = now.q - now.goal - now.t * now.pace
        return 50 * ca.sumsqr(away) + 0.1 * ca.sumsqr(now.qd) + 1e-3 * ca.sumsqr(now.tau)

    start = co.initial(q=home, qd=0.0)
    follow = co.Problem(panda(), 0.5, co.integral(cost), [start, limits], parameters=[goal, pace])
    co.control.export(co.control.receding(follow, co.BSpline(20), tick=0.01), tmp_path)
    run("gcc", *STRICT, "-O0", *SANITIZED, *SOURCES, "-o", "check", "-lm", folder=tmp_path)
    assert "5 ticks, largest difference" in run(tmp_path / "check", folder=tmp_path)
    constants = re.search(r"(\d+) bytes of constants", (tmp_path / "controller.h").read_text(encoding="utf-8"))
    assert constants is not None
    assert 1.4e6 < int(constants[1]) < 1.5e6
