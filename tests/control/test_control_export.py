"""A controller as C sources: they compile without a warning, repeat its ticks, and call nothing but the C library."""

import shutil
import subprocess
import sys
from typing import Any

import casadi as ca
import pytest

import colloc as co
from colloc.control.export import _listed
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link

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
    own = {"controller_all", "controller_values"}
    of_c = {"memcpy", "memset", "clock_gettime", "fmin", "fmax", "sin", "cos", "sincos", "sqrt"}
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
