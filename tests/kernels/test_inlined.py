"""Functions inlined in CasADi graphs, for C code, are those of CasADi's virtual machine."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link


@pytest.fixture(scope="module")
def programs():
    near = co.integral(lambda now: ca.sumsqr(now.tau) + ca.sin(now.q[0]) * now.qd[1])
    rows = [
        co.initial(q=0.0, qd=0.0),
        co.final(q=1.0),
        co.bounds(tau=(-9.0, 9.0)),
        co.path(lambda now: now.q[0], upper=2),
    ]
    nlp = co.transcribe(co.Problem(two_link(9.81), 1.0, near, rows), co.BSpline(8), compile=False)
    return nlp, replace(nlp, compile=co.kernels.Compile(inline=True))


@pytest.mark.parametrize("name", ["f", "g", "grad_f", "jac_g", "hess_lag"])
def test_inlined_functions_have_the_same_values(programs, name):
    rng = np.random.default_rng(0)
    nlp = programs[0]
    arguments = [rng.standard_normal(nlp.n_x), np.zeros(0)]
    arguments += [1.3, rng.standard_normal(nlp.n_g)] if name == "hess_lag" else []
    values, inlined = (getattr(program, name).call([ca.DM(a) for a in arguments])[-1] for program in programs)
    assert float(ca.norm_fro(values)) > 1.0
    np.testing.assert_allclose(np.array(inlined), np.array(values), rtol=1e-12, atol=1e-12 * float(ca.norm_inf(values)))


def test_nothing_is_compiled(programs):
    code = ca.CodeGenerator("functions")
    code.add(programs[1].hess_lag)
    assert "program" not in code.dump()  # a library's functions would be declared here


def test_a_wrong_flag_is_named():
    with pytest.raises(co.InputError, match="inline must be True or False, got 'yes'"):
        co.kernels.Compile(inline="yes")  # pyright: ignore[reportArgumentType]
