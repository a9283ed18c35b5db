"""What does a sample of the 43-DOF human's dynamics cost, in batches?

Torque; torque and all its first derivatives; the Hessian of multipliers' torque. By automatic differentiation and by
the recursions on CasADi's virtual machine, by the interpreter of programs ("compiled", as it writes machine code), and
by Pinocchio called in a loop over the samples. Pinocchio runs on one thread and, but for the dense line, need not keep
its results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.kernels.batch import Batch, spread
from colloc.kernels.options import thread_count
from colloc.models.human43 import human43
from colloc.studies.benchmarks.pinocchio_loop import PinocchioLoop, pinocchio
from colloc.studies.benchmarks.timing import Timing, alternately, difference
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

CHOICES = {
    "vm": False,
    "compiled_1": co.kernels.Compile(threads=1),
    "compiled": co.kernels.Compile(),
}
COLUMNS = ("ad_vm", "vm", "compiled_1", "compiled", "pinocchio")
WORK = ("torque", "sensitivities", "dense", "hessian")
Calls = dict[str, Callable[[], object]]


def evaluators(model: co.Model) -> dict[str, co.Evaluator]:
    """Evaluators by automatic differentiation, and by the recursion, on the virtual machine and compiled."""
    plain = co.dynamics.by_differentiation(co.dynamics.newton_euler)
    found = {"ad_vm": co.Evaluator(model, sensitivities=plain, compile=False)}
    return found | {name: co.Evaluator(model, compile=choice) for name, choice in CHOICES.items()}


def hessians(model: co.Model) -> dict[str, Batch]:
    """Functions (q, qd, qdd, multipliers) -> Hessian of multipliers' torque, by the same names."""
    q, qd, qdd, weights = inputs = [ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd", "weights")]
    total = ca.dot(weights, co.dynamics.newton_euler(model, q, qd, qdd))
    forms = {
        "ad_vm": ca.hessian(total, ca.vertcat(q, qd, qdd))[0],
        "vm": co.dynamics.lie_hessian(model, q, qd, qdd, weights),
    }
    names = ("q", "qd", "qdd", "weights")
    found = {}
    for name in ("ad_vm", *CHOICES):
        hessian = forms.get(name, forms["vm"])
        function = ca.Function("f", inputs, [ca.densify(hessian.nz[:])])
        row, column = (np.array(k, dtype=int) for k in hessian.sparsity().get_triplet())
        places = [row * hessian.shape[1] + column]
        found[name] = Batch.of(function, names, places, CHOICES.get(name, False))
    return found


def samples(n: int, count: int) -> list[np.ndarray]:
    """Seeded q, qd, qdd and multipliers, each shape (count, n)."""
    rng = np.random.default_rng(43)
    return [scale * rng.standard_normal((count, n)) for scale in (1.0, 2.0, 4.0, 1.0)]


def work(made: Mapping[str, co.Evaluator], bent: Mapping[str, Batch], given: list[np.ndarray]) -> dict[str, Calls]:
    """Calls to time, by what they do and who does it."""
    motion, count = given[:3], given[0].shape[0]
    calls: dict[str, Calls] = {name: {} for name in WORK}
    for name, one in made.items():
        if name != "ad_vm":  # whose torque is the same
            calls["torque"][name] = lambda one=one: one.torque(*motion)
        calls["sensitivities"][name] = lambda one=one: one.sensitivities(*motion)
        calls["dense"][name] = lambda one=one: list(one.sensitivities(*motion))
    for name, one in bent.items():
        calls["hessian"][name] = lambda one=one: one.evaluate(dict(zip(one.inputs, given, strict=True)), count)
    if pinocchio is not None:
        loop = PinocchioLoop(made["vm"].model)
        ordered = [loop.ordered(part) for part in motion]
        calls["torque"]["pinocchio"] = lambda: loop.torque(*ordered)
        calls["sensitivities"]["pinocchio"] = lambda: loop.derivatives(*ordered)
        calls["dense"]["pinocchio"] = lambda: loop.kept_derivatives(*ordered)
    return calls


def differences(made: Mapping[str, co.Evaluator], bent: Mapping[str, Batch], given: list[np.ndarray]) -> dict:
    """Largest difference of everyone's results from those of compiled programs, relative to the largest entry."""
    motion, found = given[:3], {}
    reference = list(made["compiled"].sensitivities(*motion))
    others = {name: list(one.sensitivities(*motion)) for name, one in made.items()}
    torques = {name: one.torque(*motion) for name, one in made.items()}
    if pinocchio is not None:
        loop = PinocchioLoop(made["vm"].model)
        ordered = [loop.ordered(part) for part in motion]
        others["pinocchio"] = [loop.back(part) for part in loop.kept_derivatives(*ordered)]
        torques["pinocchio"] = loop.back(loop.torque(*ordered))
    dense = {name: _dense_hessian(one, given) for name, one in bent.items()}
    for name in others:
        found[f"torque.{name}"] = difference(torques["compiled"], torques[name])
        pairs = zip(reference, others[name], strict=True)
        found[f"sensitivities.{name}"] = max(difference(ours, other) for ours, other in pairs)
    for name in dense:
        found[f"hessian.{name}"] = difference(dense["compiled"], dense[name])
    return {key: value for key, value in found.items() if not key.endswith(".compiled")}


def _dense_hessian(batch: Batch, given: list[np.ndarray]) -> np.ndarray:
    """Hessians, ndarray, shape (N, 9 n n)."""
    values = batch.evaluate(dict(zip(batch.inputs, given, strict=True)), given[0].shape[0])
    return spread(values[0], batch.places[0], 9 * given[0].shape[1] ** 2)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.evaluate", __doc__, argv, quick="a batch of 301 samples only", figure=False)
    model, counts = human43(), (301,) if args.quick else (301, 10_000)
    made, bent = evaluators(model), hessians(model)
    # Checked on few samples: dense Hessians of a long batch do not fit into memory.
    differ = differences(made, bent, samples(model.n, 101))
    numbers: dict[str, float] = {f"evaluate.difference.{key}": value for key, value in differ.items()}
    numbers |= {"evaluate.difference": max(differ.values()), "evaluate.threads": thread_count(co.kernels.Compile())}
    rows = []
    for count in counts:
        calls = work(made, bent, samples(model.n, count))
        for name in WORK:
            timings = alternately(calls[name], rounds=3 if args.quick else 9)
            numbers |= _numbers(name, count, timings)
            rows.append((f"{name}, {count}", *(_cell(timings, who, count) for who in COLUMNS)))
    worst = _worst(numbers, counts)
    numbers |= worst
    header = (
        "us per sample",
        "AD, virtual machine",
        "recursion, v.m.",
        "compiled, 1 thread",
        "compiled",
        "Pinocchio",
    )
    title = f"43-DOF human, fastest of alternating calls; compiled: {numbers['evaluate.threads']:.0f} threads"
    notes = [f"  {key}: {value:.2f}" for key, value in worst.items()]
    notes.append(f"  largest relative difference: {numbers['evaluate.difference']:.1e}")
    print(Table(title, header, rows, notes).text())
    return finish(args, numbers)


def _numbers(name: str, count: int, timings: Mapping[str, Timing]) -> dict[str, float]:
    """Microseconds, and ratios to compiled programs by minima and by medians."""
    found = {f"evaluate.{name}.us.{who}.{count}": 1e6 * t.minimum / count for who, t in timings.items()}
    for who in timings:
        if not who.startswith("compiled"):
            for ours in ("compiled", "compiled_1"):
                mark = "" if ours == "compiled" else ".one_thread"
                minimum, median = (timings[who][k] / timings[ours][k] for k in (0, 1))
                found[f"evaluate.{name}.speedup_vs_{who}{mark}.{count}"] = minimum
                found[f"evaluate.{name}.speedup_vs_{who}{mark}.{count}.by_medians"] = median
    return found


def _worst(numbers: Mapping[str, float], counts: Sequence[int]) -> dict[str, float]:
    """Headline ratios: those of the batch in which compiled programs look worst."""
    found = {}
    for name in WORK:
        for key in ("vs_pinocchio", "vs_pinocchio.one_thread", "vs_ad_vm", "vs_vm"):
            values = [numbers.get(f"evaluate.{name}.speedup_{key}.{count}") for count in counts]
            known = [value for value in values if value is not None]
            label = {"sensitivities": "speedup", "torque": "torque_speedup"}.get(name, f"{name}.speedup")
            if known:
                found[f"evaluate.{label}_{key}"] = min(known)
    for count in counts:
        key = f"evaluate.sensitivities.speedup_vs_pinocchio.{count}"
        if key in numbers:
            found[f"evaluate.speedup_vs_pinocchio.{count}"] = numbers[key]
    return found


def _cell(timings: Mapping[str, Timing], who: str, count: int) -> str:
    return f"{1e6 * timings[who].minimum / count:.2f}" if who in timings else ""


if __name__ == "__main__":
    main()
