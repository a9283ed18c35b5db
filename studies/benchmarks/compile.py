"""What does it cost to have kernels compiled, the first time and from the cache?

All kernels of the 43-DOF effort problem and of its model's `Evaluator`: stated and compiled into an empty cache
directory; stated and loaded in a second process; and, in further ones, everything that a user does before the first
value, compiled and on CasADi's virtual machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from colloc.studies.benchmarks.timing import fresh
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

LIBRARIES = ("torque", "sensitivities", "nlp_first", "nlp_second")


def libraries(directory: str) -> list[int]:
    """Sizes of the files in a cache directory [bytes]."""
    return [path.stat().st_size for path in Path(directory).rglob("*") if path.is_file()]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.compile", __doc__, argv, quick="a six-joint arm in place of the human", figure=False)
    size, repeats = ("small", 1) if args.quick else ("large", 3)
    with tempfile.TemporaryDirectory() as directory:
        environment = {"COLLOC_CACHE_DIR": directory}
        first = fresh("compile_point", "build", size, environment=environment)
        stored = libraries(directory)
        ways = ("build", "compiled", "vm")
        rounds = [{w: fresh("compile_point", w, size, environment=environment) for w in ways} for _ in range(repeats)]
        again = libraries(directory)
    cached, compiled, machine = ({key: min(r[way][key] for r in rounds) for key in rounds[0][way]} for way in ways)
    numbers = {
        "compile.first": first["build"],
        "compile.cached": cached["build"],
        "compile.size_MB": sum(stored) / 1e6,
        "compile.libraries": float(len(stored)),
        "compile.compiled_again": float(len(again) - len(stored)),
        "compile.peak_memory_MB": first["peak_MB.compilers"] + first["peak_MB.ours"],
        "compile.peak_memory_MB.compilers": first["peak_MB.compilers"],
        "compile.peak_memory_MB.ours": first["peak_MB.ours"],
        "compile.peak_memory_MB.ours_cached": compiled["peak_MB.ours"],
        "compile.peak_memory_MB.ours_vm": machine["peak_MB.ours"],
    }
    for name in LIBRARIES:
        numbers[f"compile.state.{name}"] = min(first[f"state.{name}"], cached[f"state.{name}"])
        numbers[f"compile.first.{name}"] = first[f"build.{name}"]
        numbers[f"compile.cached.{name}"] = cached[f"build.{name}"]
    for part in ("nlp", "evaluator"):
        numbers[f"compile.whole.cached.{part}"] = compiled[part]
        numbers[f"compile.whole.vm.{part}"] = machine[part]
    print(Table("Kernels, seconds", ("", "stated", "first build", "from the cache"), _rows(numbers)).text())
    print(_told(numbers))
    return finish(args, numbers)


def _rows(numbers: dict[str, float]) -> list[tuple[str, ...]]:
    columns = ("state", "first", "cached")
    rows = [(name, *(f"{numbers[f'compile.{column}.{name}']:.3f}" for column in columns)) for name in LIBRARIES]
    return [*rows, ("all", "", f"{numbers['compile.first']:.3f}", f"{numbers['compile.cached']:.3f}")]


def _told(numbers: dict[str, float]) -> str:
    whole = {way: [numbers[f"compile.whole.{way}.{part}"] for part in ("nlp", "evaluator")] for way in ("cached", "vm")}
    memory = {key: numbers[f"compile.peak_memory_MB.{key}"] for key in ("compilers", "ours", "ours_cached", "ours_vm")}
    lines = [
        f"NLP and its functions in a fresh process: {whole['cached'][0]:.2f} s from the cache, {whole['vm'][0]:.2f} s "
        f"on the virtual machine; the evaluator {whole['cached'][1]:.2f} s and {whole['vm'][1]:.2f} s",
        f"{numbers['compile.libraries']:.0f} libraries, {numbers['compile.size_MB']:.1f} MB on disk",
        f"peak memory: compilers {memory['compilers']:.0f} MB, we {memory['ours']:.0f} MB beside them, "
        f"{memory['ours_cached']:.0f} MB from the cache, {memory['ours_vm']:.0f} MB on the virtual machine",
    ]
    return "\n".join(f"  {line}" for line in lines)


if __name__ == "__main__":
    main()
