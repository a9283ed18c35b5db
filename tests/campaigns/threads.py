"""Several threads on the same objects at once: the answers of one thread, no crash, and errors that say the same.

Nor a crash where Python ends while they work.
"""

from __future__ import annotations

import numpy as np

from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_CURVES = ("co.BSpline(8)", "co.BSpline(6, degree=5, continuity=1)", "co.Radau(8)", "co.HermiteSimpson(8)")

# Actions of a thread on shared objects; each returns numbers or a text.
_ACTIONS = {
    "solve problem": "co.solve(problem, curve, parameters={'w': w}, compile=compiled).cost",
    "solve program": "co.solve(nlp, parameters={'w': w}).x.tolist()",
    "solve Gauss-Newton": "co.solve(nlp, solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON)).cost",
    "solve L-BFGS": "co.solve(nlp, solver=co.Ipopt(hessian=co.solver.Hessian.LIMITED_MEMORY)).cost",
    "refine": "co.refine(solution, 1e-3).cost",
    "solve to tolerance": "co.solve(problem, curve, tol=1e-2, compile=compiled).cost",
    "warm start": "co.solve(nlp, guess=solution, parameters={'w': w}).cost",
    "infeasible": "failure(lambda: co.solve(hopeless, curve, compile=compiled))",
    "input error": "failure(lambda: co.solve(nlp, parameters={'v': w}))",
    "options": "failure(lambda: co.solve(nlp, solver=co.Ipopt(max_iter=3)))",
    "transcribe": "co.transcribe(problem, curve, compile=compiled).spy()",
    "verify": "co.verify(solution).forward_error",
    "error": "(float(solution.error), solution.violation, solution.cost)",
    "samples": "solution.at([0.1, 0.2]).tau.tolist()",
    "any function": "solution.evaluate(lambda now: now.point('elbow').position, 0.3).tolist()",
    "reactions": "solution.reactions().force.tolist()",
    "torques": "evaluator.torque(q, q, q).tolist()",
    "sensitivities": "[array.tolist() for array in evaluator.sensitivities(q, q, q)]",
    "forward dynamics": "evaluator.forward_dynamics(q, q, q).tolist()",
    "mass matrix": "evaluator.mass_matrix(q).tolist()",
    "joint forces": "evaluator.reactions(q, q, q).force.tolist()",
    "new model": "co.solve(stated(), co.BSpline(8), compile=compiled).cost",
    "text": "repr(problem) + repr(nlp) + repr(solution)",
    "file": "saved(solution)",
}

_OBJECTS = """
import sys, tempfile, threading, time, warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import casadi as ca
import numpy as np
import colloc as co
from colloc.models.two_link import two_link

warnings.simplefilter("ignore")
sys.setswitchinterval({interval})  # s

def stated(*more):
    return co.Problem(
        two_link(), 1.0, co.integral(lambda now: now.w * ca.sumsqr(now.tau)),
        [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0), *more], parameters=[co.Parameter("w", 1.0)],
    )

def failure(action):
    try:
        return str(action().status)
    except (co.InputError, co.SolveError) as error:
        return f"{{type(error).__name__}}: {{error}}"

def saved(solution):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.npz"
        co.save(solution, path)
        return co.load(path, problem).cost

def objects():
    global problem, hopeless, curve, nlp, solution, evaluator, q
    problem, hopeless, curve = stated(), stated(co.bounds(tau=(-1.0, 1.0))), {curve}
    nlp, evaluator = co.transcribe(problem, curve, compile=compiled), co.Evaluator(two_link(), compile=compiled)
    solution = co.solve(co.transcribe(problem, co.BSpline(8), compile=compiled))
    q = np.random.default_rng(0).uniform(-1, 1, (5, 2))

compiled = {compiled}
work = {work}
actions = {{
{actions}
}}
objects()
"""

_TOGETHER = """
alone = [actions[name](w) for name, w in work]
objects()  # again, so that the threads compute for the first time what objects keep
with ThreadPoolExecutor({threads}) as pool:
    together = list(pool.map(lambda item: actions[item[0]](item[1]), work))
for (name, w), one, other in zip(work, alone, together, strict=True):
    # Times and counts of seconds differ; nothing else may.
    assert name == "text" or one == other, f"{{name}}: {{other}} among threads, {{one}} alone"
"""

_LEFT = """
def without_end(first):
    for k in range(10**6):
        name, w = work[(first + k) % len(work)]
        actions[name](w)

for k in range({threads}):
    threading.Thread(target=without_end, args=(k,), daemon=True).start()
time.sleep({seconds})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """A mixture of a few actions, one after the other and all at once; or left at work by a process that ends."""
    names = rng.choice(list(_ACTIONS), size=int(rng.integers(1, 5)), replace=False).tolist()
    compiled = bool(rng.random() < 0.4)
    work = [(str(rng.choice(names)), float(rng.choice([0.5, 1.0, 2.0]))) for _ in range(16)]
    left = bool(rng.random() < 0.2)
    snippet = (_OBJECTS + (_LEFT if left else _TOGETHER)).format(
        interval=float(rng.choice([5e-3, 1e-5, 1e-6])),
        curve=rng.choice(_CURVES),
        compiled=compiled,
        work=work,
        actions="\n".join(f'    "{name}": lambda w: {_ACTIONS[name]},' for name in names),
        threads=int(rng.integers(2, 9)),
        seconds=round(float(rng.uniform(0.0, 3.0)), 3),
    )
    kind = "left at work" if left else "compiled" if compiled else "virtual machine"
    return attempt_apart(kind, snippet, seconds=300.0)
