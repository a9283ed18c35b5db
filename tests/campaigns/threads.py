"""Several threads on one nonlinear program or problem at once: the answers of one thread, no crash."""

from __future__ import annotations

import numpy as np

from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_SNIPPET = """
from concurrent.futures import ThreadPoolExecutor
import casadi as ca
import colloc as co
from models.two_link import two_link

problem = co.Problem(
    two_link(), 1.0, co.integral(lambda now: now.w * ca.sumsqr(now.tau)),
    [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)], parameters=[co.Parameter("w", 1.0)],
)
curve = {curve}
target = {target}

def cost(w):
    return co.solve(target, *({arguments}), parameters={{"w": w}}, **{options}).cost

weights = {weights}
alone = [cost(w) for w in weights]
with ThreadPoolExecutor({threads}) as pool:
    together = list(pool.map(cost, weights))
assert together == alone, f"{{together}} together, {{alone}} alone"
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """Solves of one program with several parameter values, one after the other and all at once."""
    shared = rng.choice(["problem", "nlp"])
    threads = int(rng.integers(2, 9))
    snippet = _SNIPPET.format(
        curve=rng.choice(["co.BSpline(10)", "co.Radau(10)", "co.HermiteSimpson(10)"]),
        target="problem" if shared == "problem" else "co.transcribe(problem, curve, compile=False)",
        arguments="curve," if shared == "problem" else "",
        options={"compile": False} if shared == "problem" else {},
        weights=[float(w) for w in rng.choice([0.5, 1.0, 2.0, 4.0], size=24)],
        threads=threads,
    )
    return attempt_apart(f"solve one {shared}", snippet)
