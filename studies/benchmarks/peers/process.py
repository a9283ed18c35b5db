"""A tool in a process of its own: stated and solved once cold, and again as often as asked.

    python -P process.py TOOL.py task.json answer.json

Only Python's standard library is imported here, since some tools do not live beside others. Seconds are those of the
processor, of this process and its children, from its start to the first answer (cold), and of every answer after that.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
from collections.abc import Callable
from statistics import median
from types import SimpleNamespace
from typing import Any


def seconds() -> float:
    """Of the processor, since the start of the process."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def load(path: str) -> Any:
    """A file as a module."""
    spec = importlib.util.spec_from_file_location("tool", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(call: Callable[[], object], count: int, rounds: int = 7) -> float:
    """Median of the processor's seconds that one of so many samples of a call takes, after a first call."""
    call()
    spent = []
    for _ in range(rounds):
        begin = seconds()
        repeats = 0
        while seconds() - begin < 0.05:
            call()
            repeats += 1
        spent.append((seconds() - begin) / repeats / count)
    return median(spent)


def main(tool: str, task: str, answer: str) -> None:
    """Solve a task as often as it says, and write the first answer with all seconds; an error is an answer too.

    Past its limit of the processor's seconds the process is ended by the system, by signal SIGXCPU.
    """
    with open(task, encoding="utf-8") as file:
        asked = json.load(file)
    resource.setrlimit(resource.RLIMIT_CPU, (round(asked["limit"]), resource.RLIM_INFINITY))
    problem = SimpleNamespace(**asked["problem"])
    work = getattr(load(tool), asked["work"])
    warm: list[float] = []
    try:
        said = work(problem, asked["effort"])
        cold = seconds()
        said |= {name: timed(*call) for name, call in said.pop("calls", {}).items()}
        while len(warm) < asked["again"] and (not warm or sum(warm) < asked["limit"] / 8):
            begin = seconds()
            work(problem, asked["effort"])
            warm.append(seconds() - begin)
        said |= {"cold": cold, "warm": warm}
    except ImportError as error:
        said = {"missing": str(error)}
    except Exception as error:  # whatever a tool says of its failure
        said = {"failed": f"{type(error).__name__}: {error}"[:300]}
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(said, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
