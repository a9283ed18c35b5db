"""Ctrl-C at any moment: an interrupted solution or a KeyboardInterrupt, never an answer as if nothing had been."""

from __future__ import annotations

import numpy as np

from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_ACTIONS = {
    "solve": "co.solve(stated(), curve, compile=False)",
    "solve between nodes": "co.solve(stated(co.bounds(tau=(-12.0, 12.0))), curve, compile=False)",
    "solve compiled": "co.solve(stated(), curve, compile=co.kernels.Compile(cache=fresh()))",
    "solve to tolerance": "co.solve(stated(), curve, tol=1e-4, compile=False)",
    "solve by default": "co.solve(stated(), compile=False)",
    "refine": "co.refine(solution, 1e-5)",
    "free knots": "co.solve(stated(), co.BSpline(4, degree=5, continuity=1, knots='free'), compile=False)",
    "infeasible": "co.solve(stated(co.bounds(qd=(-0.7, 0.7))), curve, compile=False, raise_on_failure=False)",
    "slow to converge": "co.solve(stated(cost=power), curve, ipopt={'max_iter': 400}, raise_on_failure=False)",
    "L-BFGS": "co.solve(stated(), curve, hessian=co.solver.Hessian.LIMITED_MEMORY, compile=False)",
    "progress": "co.solve(stated(), curve, tol=1e-4, progress=True, compile=False)",
    "transcribe": "co.transcribe(stated(), curve, compile=False).spy()",
    "verify": "co.verify(solution)",
    "errors": "float(anew(solution).error) + anew(solution).violation",
    "evaluator": "co.Evaluator(two_link(), compile=co.kernels.Compile(cache=fresh())).sensitivities(q, q, q)",
    "save and load": "saved(solution)",
    "descent by IPOPT": "descended(co.descent.interior_point)",
    "descent by Newton": "descended(co.descent.modified_newton)",
    "descent by BFGS": "descended(co.descent.bfgs)",
    "in asyncio": "asyncio.run(later(lambda: co.solve(stated(), curve, tol=1e-4, compile=False)))",
    "in threads": "in_threads(lambda _: co.solve(stated(), curve, compile=False))",
    "compiled in threads": "in_threads(lambda _: co.solve(stated(), curve, compile=co.kernels.Compile(cache=fresh())))",
}

_SNIPPET = """
import asyncio, os, signal, subprocess, sys, tempfile, threading, time, warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
import casadi as ca
import numpy as np
import colloc as co
from colloc.models.two_link import two_link
from colloc.solution.solution import Measured

warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a parent in the background ignores
folder = Path(tempfile.mkdtemp(prefix="colloc_interrupts_"))
curve = {curve}
power = co.integral(lambda now: ca.sum1(ca.fabs(now.tau * now.qd)))

def stated(*more, cost=None):
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    return co.Problem(two_link(), 1.0, cost or co.integral(lambda now: ca.sumsqr(now.tau)), [*ends, *more])

def fresh():
    return tempfile.mkdtemp(dir=folder)

def saved(solution):
    co.save(solution, folder / "motion.npz")
    return co.load(folder / "motion.npz", solution.problem).cost

def anew(solution):
    return replace(solution, measured=Measured())

def descended(method):
    sizes = np.arange(1.0, 41.0)
    first = lambda x: (float(sizes @ (x - 1) ** 4), 4 * sizes * (x - 1) ** 3)
    objective = co.descent.Objective(first, lambda x: np.diag(12 * sizes * (x - 1) ** 2))
    return method(objective, np.zeros(40), co.descent.Stop(1e-12, 200))

async def later(action):
    # Not the solution: asyncio writes out a task's result before it puts the handler back, and Ctrl-C may come then.
    return SimpleNamespace(status=action().status)

def in_threads(work):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, range(4)))

solution = co.solve(stated(), co.BSpline(8), compile=False)
q = np.zeros((5, 2))
action = lambda: {action}
begin = time.perf_counter()
action()
delay = {share} * (time.perf_counter() - begin)

before = signal.getsignal(signal.SIGINT)
ended = "swallowed interrupt: nothing tells of it"
command = f"read go; sleep {{delay:.4f}}; kill -INT {{os.getpid()}}"
killer = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE)
try:
    killer.stdin.write(b"go\\n")
    killer.stdin.close()
    while killer.poll() is None:  # again, if a run is over sooner than the first
        if getattr(action(), "status", None) == co.solver.Status.INTERRUPTED:
            ended = ""
            break
    killer.wait()
    time.sleep(0.1)
except KeyboardInterrupt:
    ended = ""
except Exception as error:
    ended = f"swallowed interrupt: {{type(error).__name__}}: {{error}}"
killer.wait()
assert not ended, ended
assert signal.getsignal(signal.SIGINT) is before, "swallowed interrupt: the handler of Ctrl-C was not put back"
for path in folder.glob("*.npz"):
    try:
        assert np.isfinite(co.load(path, stated()).cost)
    except co.InputError as error:
        assert False, f"lost or torn file: {{error}}"
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()  # Python's pool does not wait for a worker in whose start Ctrl-C came
left = [path.name for path in folder.rglob("*") if path.name.startswith(("build-", "."))]
assert not left, f"lost or torn file: left behind {{left}}"
import shutil
shutil.rmtree(folder)
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One action, interrupted at a random time of its course."""
    kind = str(rng.choice(list(_ACTIONS)))
    snippet = _SNIPPET.format(
        curve=rng.choice(["co.BSpline(20)", "co.Radau(20)", "co.HermiteSimpson(20)"]),
        action=_ACTIONS[kind],
        share=round(float(rng.uniform(0.0, 1.05)), 3),
    )
    return attempt_apart(kind, snippet, seconds=180.0)
