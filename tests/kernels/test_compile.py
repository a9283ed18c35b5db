"""Programs against CasADi's virtual machine: the same functions, the same optima, also without a compiler."""

import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.blocks import kernel as block_kernels
from colloc.blocks.block import Block
from colloc.blocks.kernel import BlockKernel, block_kernel
from colloc.models.chains.serial import spatial_chain
from colloc.transcription import torques
from tests.support.problems import effort, everything, time_optimal

CURVES = [co.BSpline(6), co.BSpline(3, degree=5), co.HermiteSimpson(4), co.Radau(5, 3)]
FIRST, SECOND = ("f", "g", "grad_f", "jac_g"), ("hess_lag", "gauss_newton")


def lift(joints: int = 3) -> co.Problem:
    """Least squared torque over a given time: a sum of squares, with torque bounds."""
    return co.Problem(
        spatial_chain(joints), 1.0, co.integral(effort),
        [co.initial(q=0.1, qd=0.0), co.final(q=0.4, qd=0.0), co.bounds(tau=(-40, 40))],
    )  # fmt: skip


def values(nlp: co.transcription.NLP) -> dict[str, list[np.ndarray]]:
    """All functions at one point."""
    rng = np.random.default_rng(0)
    x, lam = 0.5 + 0.3 * rng.standard_normal(nlp.n_x), rng.standard_normal(nlp.n_g)
    p = nlp.problem.parameter_values()
    found = {}
    for name in (*FIRST, *SECOND):
        results = getattr(nlp, name).call([x, p] if name in FIRST else [x, p, 1.3, lam])
        found[name] = [np.array(ca.densify(result)) for result in results]
    return found


CASES = [(everything, curve) for curve in CURVES] + [(time_optimal, CURVES[1]), (lambda: lift(5), CURVES[2])]


@pytest.mark.parametrize(("problem", "curve"), CASES, ids=["everything"] * len(CURVES) + ["time", "long"])
def test_programs_equal_functions_of_the_virtual_machine(
    problem: Any, curve: co.BSpline, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(torques, "RECURSIVE_FROM", 5)  # so that the long chain's derivatives come by recursion
    virtual, programs = (values(co.transcribe(problem(), curve, compile=choice)) for choice in (False, True))
    for name, matrices in virtual.items():
        for mine, theirs in zip(programs[name], matrices, strict=True):
            size = max(1.0, np.abs(theirs).max(initial=0.0))
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-13 * size, err_msg=name)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_the_first_program_on_a_machine_is_evaluated_as_later_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With an empty cache as with a full one, however small the program is."""
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path))
    evaluations = [co.transcribe(lift(), co.BSpline(20))._first.compiled for _ in range(2)]
    assert all(found.library is not None for found in evaluations)


@pytest.mark.parametrize("curve", [co.BSpline(8), co.HermiteSimpson(12), co.Radau(8)], ids=str)
def test_the_optimum_is_the_same(curve: co.BSpline):
    """However derivatives are come by, on however many threads."""
    ways = [
        {"compile": False},
        {"compile": co.kernels.Compile(threads=1)},
        {"compile": co.kernels.Compile(threads=2)},
        {"compile": True, "sensitivities": co.dynamics.composite_sensitivities},
        {
            "compile": False,
            "sensitivities": co.dynamics.by_differentiation(co.dynamics.lagrange),
            "dynamics": co.dynamics.lagrange,
        },
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        found = [co.solve(co.transcribe(lift(), curve, **way), solver=co.Ipopt(tol=1e-10)) for way in ways]
    assert {solution.message for solution in found} == {"Solve_Succeeded"}
    for solution in found[1:]:
        assert solution.cost == pytest.approx(found[0].cost, rel=1e-8)


def circle() -> co.Problem:
    """Follow a circle with the hand: small residuals, nonlinear in the joints."""

    def off(now: co.problem.Instant) -> ca.SX:
        target = ca.vertcat(0.6 + 0.1 * ca.cos(3 * now.t), 0.1 * ca.sin(3 * now.t))
        return ca.sumsqr(now.point("elbow").position[:2] - target) + 1e-5 * ca.sumsqr(now.qdd)

    return co.Problem(
        time_optimal().model, 1.5, co.integral(off), [co.initial(q=(0.7, -1.4)), co.bounds(tau=(-20, 20))]
    )


@pytest.mark.parametrize("choice", [False, True])
@pytest.mark.parametrize("curve", [co.BSpline(8), co.HermiteSimpson(8)], ids=str)
def test_gauss_newton_finds_the_same_optimum(curve: co.BSpline, choice: bool):
    exact = co.solve(circle(), curve, solver=co.Ipopt(tol=1e-10))
    gauss = co.solve(
        circle(), curve, solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON, tol=1e-10), compile=choice
    )
    assert gauss.cost == pytest.approx(exact.cost, rel=1e-6)
    assert gauss.iterations < 60


def test_gauss_newton_is_the_hessian_where_residuals_are_linear():
    """Squared accelerations of a spline are linear in its control points; a fixed duration keeps them so."""
    problem = co.Problem(time_optimal().model, 1.5, co.integral(lambda now: 3 * ca.sumsqr(now.qdd) - now.qd[0] ** 2))
    found = values(co.transcribe(problem, co.BSpline(4)))
    np.testing.assert_allclose(found["gauss_newton"][0], found["hess_lag"][0], atol=1e-9)
    assert np.abs(found["hess_lag"][0]).max() > 1


def test_gauss_newton_needs_squares():
    with pytest.raises(co.InputError, match=r"Gauss-Newton needs a cost that contains squares.*got duration"):
        co.solve(time_optimal(), co.BSpline(4), solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: co.Ipopt(hessian="exact"), "hessian must be one of Hessian.EXACT"),  # pyright: ignore[reportArgumentType]
        (lambda: co.Ipopt(hessian_approximation="exact"), "use hessian=co.solver.Hessian"),
        (
            lambda: co.solve(time_optimal(), co.BSpline(4), compile="yes"),  # pyright: ignore[reportArgumentType, reportCallIssue]
            "compile must be True, False, None or a Compile, got 'yes'",
        ),
    ],
)
def test_wrong_choices_are_named(given: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        given()


def test_without_a_compiler_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.warns(
        co.kernels.CompileWarning, match=r"no C compiler found.*virtual machine is used instead"
    ) as caught:
        solution = co.solve(lift(), co.BSpline(4), compile=True)
    assert len([one for one in caught if one.category is co.kernels.CompileWarning]) == 1
    monkeypatch.undo()
    assert solution.cost == pytest.approx(co.solve(lift(), co.BSpline(4), compile=False).cost, rel=1e-12)


def test_small_problems_are_interpreted_if_asked(monkeypatch: pytest.MonkeyPatch):
    asked, unasked = (co.transcribe(time_optimal(), co.BSpline(10), compile=choice) for choice in (True, None))
    assert asked._first.compiled.library is not None
    monkeypatch.setattr("colloc.kernels.interpreter.interpret", lambda *_, **__: pytest.fail("interpreted"))
    assert unasked._first.compiled.library is None


def test_blocks_with_one_slice_are_left_to_the_virtual_machine():
    nlp = co.transcribe(everything(), co.BSpline(6), compile=True)
    assert all(block.n_slices > 1 for block, _ in nlp._first.compiled.kernels)
    assert any(block.n_slices == 1 for block in nlp.constraints)


def test_a_wrong_kernel_is_seen(monkeypatch: pytest.MonkeyPatch):
    """The comparison with the virtual machine has power, and IPOPT gets what the programs compute."""
    right = co.solve(lift(), co.BSpline(4))

    def swapped(block: Block, kind: str) -> BlockKernel:
        found = block_kernel(block, kind)
        *before, last = found.kernel.passes or (None,)
        if kind != "jacobian" or last is None:
            return found
        wrong = replace(found.kernel, passes=(*before, last._replace(right=np.roll(last.right, 1))))
        return replace(found, kernel=wrong)

    monkeypatch.setattr(block_kernels, "block_kernel", swapped)
    nlp = co.transcribe(lift(), co.BSpline(4), compile=True)
    assert nlp.check_derivatives(np.full(nlp.n_x, 0.3))["jacobian"] > 1e-3
    wrong = co.solve(lift(), co.BSpline(4), compile=True, raise_on_failure=False, solver=co.Ipopt(max_iter=100))
    assert not (wrong.success and wrong.iterations == right.iterations)
