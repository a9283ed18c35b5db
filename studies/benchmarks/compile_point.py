"""One process of the compile benchmark. Run as a script: prints seconds and megabytes as JSON."""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import colloc as co
from colloc.blocks.kernel import block_kernel
from colloc.kernels import Kernel, build
from colloc.studies.benchmarks.effort import Effort, effort

FUNCTIONS = ("f", "g", "grad_f", "jac_g", "hess_lag")


class CompilerMemory(threading.Thread):
    """Watch on the memory of all processes that this one started, together, as long as it runs.

    getrusage would do for the largest of them, were it not that a new process counts its parent's memory as its own.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self._done = 0.0, threading.Event()

    def run(self) -> None:
        """Look every few milliseconds."""
        while not self._done.wait(0.005):
            self.peak = max(self.peak, sum(map(_resident, _descendants(Path("/proc/self/task")))))

    def stop(self) -> float:
        """Peak [MB]; the watch ends."""
        self._done.set()
        self.join()
        return self.peak


def _descendants(tasks: Path) -> list[str]:
    """Numbers of the processes started by the threads in a task directory of /proc, and of those they started."""
    found = []
    for children in tasks.glob("*/children"):
        for number in _read(children).split():
            found += [number, *_descendants(Path("/proc", number, "task"))]
    return found


def _resident(number: str) -> float:
    """Memory of a process [MB]; before it has become the compiler, it still shares its parent's."""
    is_us = _read(Path("/proc", number, "cmdline")) == _read(Path("/proc/self/cmdline"))
    words = _read(Path("/proc", number, "statm")).split()
    return 0.0 if is_us or not words else int(words[1]) * resource.getpagesize() / 1e6


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:  # it has ended meanwhile
        return ""


def kernels(data: Effort) -> dict[str, Callable[[], dict[str, Kernel]]]:
    """Makers of the kernels, by library, that solving the problem and evaluating its model take."""
    evaluator = co.Evaluator(data.model)
    nlp = co.transcribe(data.problem(), data.curve, compile=False)
    blocks = [block for block in (*nlp.costs, *nlp.constraints) if block.n_slices > 1]

    def of(*kinds: str) -> dict[str, Kernel]:
        wanted = [(kind, block) for kind in kinds for block in blocks if block.functions.has(kind)]
        return {f"{kind}_{number}": block_kernel(block, kind).kernel for number, (kind, block) in enumerate(wanted)}

    return {
        "torque": lambda: {"f": evaluator._torque.kernel},
        "sensitivities": lambda: {"f": evaluator._sensitivities.kernel},
        "nlp_first": lambda: of("value", "gradient", "jacobian"),
        "nlp_second": lambda: of("hessian"),
    }


def build_alone(data: Effort) -> dict[str, float]:
    """Seconds until the kernels are stated, and of `colloc.kernels.build`, which compiles or loads them."""
    found = {}
    for name, make in kernels(data).items():
        begin = time.perf_counter()
        made = make()
        middle = time.perf_counter()
        build(made, co.kernels.Compile())
        found |= {f"state.{name}": middle - begin, f"build.{name}": time.perf_counter() - middle}
    found["build"] = sum(value for key, value in found.items() if key.startswith("build."))
    return found


def whole(data: Effort, compile: bool) -> dict[str, float]:
    """Seconds until the NLP's functions and the evaluator's first results are there."""
    begin = time.perf_counter()
    nlp = co.transcribe(data.problem(), data.curve, compile=compile)
    for name in FUNCTIONS:
        getattr(nlp, name)
    middle = time.perf_counter()
    evaluator = co.Evaluator(data.model, compile=compile)
    zero = np.zeros(data.model.n)
    evaluator.torque(zero, zero, zero)
    evaluator.sensitivities(zero, zero, zero)
    return {"nlp": middle - begin, "evaluator": time.perf_counter() - middle}


def main(what: str, size: str) -> None:
    """Run, print."""
    data = effort(small=size == "small")
    watch = CompilerMemory()
    watch.start()
    found = build_alone(data) if what == "build" else whole(data, what == "compiled")
    found |= {"peak_MB.compilers": watch.stop()}
    found |= {"peak_MB.ours": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
