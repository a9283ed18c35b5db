"""What do the callbacks of a 43-DOF effort problem cost, and how much of a solve are they?

Values and derivatives of the same NLP: plain CasADi as its user would write it, this library on CasADi's virtual
machine, and by the interpreter of programs ("compiled"). The library leaves control points that end states determine
out of its derivatives; to separate that from its formulas, plain CasADi is measured again with the end control points
as constants ("plain_fixed"). Then one whole solve each by this library.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.benchmarks.effort import Effort, effort, plain_functions
from colloc.studies.benchmarks.timing import Timing, alternately, buffered, difference
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

CALLBACKS = {"f": "f", "g": "g", "grad_f": "gradient", "jac_g": "jacobian", "hess_lag": "hessian"}
PLAIN = ("plain", "plain_fixed")
OURS = ("vm", "compiled")
Functions = dict[str, ca.Function]


def build(way: str, data: Effort) -> Functions:
    """The five functions of the NLP in one of the ways."""
    if way in PLAIN:
        return plain_functions(data, fixed_ends=way == "plain_fixed")
    nlp = co.transcribe(data.problem(), data.curve, compile=way == "compiled")
    return {name: getattr(nlp, name) for name in CALLBACKS}


def arguments_of(functions: Functions, way: str, data: Effort) -> dict[str, list[np.ndarray]]:
    """Inputs of all functions: the same seeded point and multipliers of the torques in every way."""
    rng, n, count = np.random.default_rng(44), data.model.n, data.intervals + 3
    points = data.start + np.linspace(0, 1, count)[:, None] * (data.end - data.start)
    points[2:-2] += 0.05 * rng.standard_normal((count - 4, n))
    points[[1, -2]] = data.start, data.end
    torques = 1e-3 * rng.standard_normal(n * data.nodes)
    rows = functions["g"].size1_out(0)
    lam = [np.ones(1), np.append(np.zeros(rows - torques.size), torques)]  # rows of the end states come first
    x = [(points[2:-2] if way == "plain_fixed" else points).ravel()]
    if way in OURS:
        x = [np.append(x[0], 1.0), np.zeros(0)]  # the duration, and no parameters
    return {name: x + lam if name == "hess_lag" else x for name in CALLBACKS}


def compared(functions: Functions, given: Mapping[str, list[np.ndarray]], data: Effort) -> dict[str, np.ndarray]:
    """Cost, torques and their derivatives in the control points that the end states leave free, dense."""
    n, count, torques = data.model.n, data.intervals + 3, data.model.n * data.nodes
    found = {name: np.array(ca.densify(f.call(list(map(ca.DM, given[name])))[-1])) for name, f in functions.items()}
    free = slice(0, None) if found["grad_f"].size == n * (count - 4) else slice(2 * n, (count - 2) * n)
    return {
        "f": found["f"],
        "g": found["g"][-torques:],
        "grad_f": found["grad_f"].ravel()[free],
        "jac_g": found["jac_g"][-torques:, free],
        "hess_lag": found["hess_lag"][free, free],
    }


def whole_solve(data: Effort, compile: bool) -> dict[str, float]:
    """Iterations, cost and seconds of a solve, and the share of its callbacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # 21 nodes leave the torques between them free
        solution = co.solve(
            data.problem(),
            data.curve,
            compile=compile,
            progress=False,
            plan=[co.refinement.Solve(between="nodes")],
            raise_on_failure=False,
        )
    seconds = solution.seconds["solve"]
    return {
        "share": solution.seconds["callbacks"] / seconds,
        "iterations": solution.iterations,
        "cost": solution.cost,
        "solved": float(solution.outcome.status is co.solver.Status.SOLVED),
        "seconds": seconds,
        "ms_per_iteration": 1e3 * seconds / max(1, solution.iterations),
    }


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments(
        "benchmarks.nlp_callbacks", __doc__, argv, quick="a six-joint arm in place of the human", figure=False
    )
    data = effort(small=args.quick)
    made, given, values, numbers, rows = {}, {}, {}, {}, []
    for way in (*PLAIN, *OURS):
        begin = time.perf_counter()
        made[way] = build(way, data)
        numbers[f"nlp_callbacks.build_seconds.{way}"] = time.perf_counter() - begin
        given[way] = arguments_of(made[way], way, data)
        values[way] = compared(made[way], given[way], data)
    for name, key in CALLBACKS.items():
        for way in ("plain_fixed", *OURS):
            gap = difference(values[way][name], values["plain"][name])
            numbers[f"nlp_callbacks.difference.{key}.{way}"] = gap
        timings = alternately(
            {way: buffered(made[way][name], given[way][name])[0] for way in made}, rounds=3 if args.quick else 15
        )
        numbers |= _numbers(key, timings)
        ratios = [f"{numbers[f'nlp_callbacks.{key}.speedup_{way}']:.1f}" for way in OURS]
        rows.append((key, *(f"{1e3 * timings[way].minimum:.4f}" for way in made), *ratios))
    numbers["nlp_callbacks.difference"] = max(value for key, value in numbers.items() if ".difference." in key)
    rows.append(("build", *(f"{1e3 * numbers[f'nlp_callbacks.build_seconds.{way}']:.0f}" for way in made), "", ""))
    for way in OURS:
        numbers |= {f"nlp_callbacks.{key}_{way}": v for key, v in whole_solve(data, way == "compiled").items()}
    header = ("ms", "plain CasADi", "plain, ends fixed", "v.m.", "compiled", "plain / v.m.", "plain / compiled")
    notes = [f"  largest relative difference from plain CasADi: {numbers['nlp_callbacks.difference']:.1e}"]
    notes += [f"  solve, {way}: {_summary(numbers, way)}" for way in OURS]
    title = f"Callbacks of {data.model.name}, {data.intervals} intervals, {data.nodes} nodes"
    print(Table(title, header, rows, notes).text())
    return finish(args, numbers)


def _numbers(key: str, timings: Mapping[str, Timing]) -> dict[str, float]:
    """Milliseconds, and ratios by minima and by medians."""
    found = {f"nlp_callbacks.{key}.ms_{way}": 1e3 * timing.minimum for way, timing in timings.items()}
    for way in OURS:
        for plain, mark in (("plain", ""), ("plain_fixed", ".ends_fixed")):
            minimum, median = (timings[plain][k] / timings[way][k] for k in (0, 1))
            found[f"nlp_callbacks.{key}.speedup_{way}{mark}"] = minimum
            found[f"nlp_callbacks.{key}.speedup_{way}{mark}.by_medians"] = median
    return found


def _summary(numbers: Mapping[str, float], way: str) -> str:
    def get(key: str) -> float:
        return numbers[f"nlp_callbacks.{key}_{way}"]

    return (
        f"callbacks {get('share'):.1%} of {get('seconds'):.2f} s, "
        f"{get('iterations'):.0f} iterations of {get('ms_per_iteration'):.1f} ms, cost {get('cost'):.6g}"
    )


if __name__ == "__main__":
    main()
