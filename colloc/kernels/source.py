"""The C files of a library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from colloc.kernels.emit import Code, emit
from colloc.kernels.kernel import Kernel, Pass
from colloc.kernels.operations import declarations, definitions

FILE = 8  # chunks; the files are compiled side by side
# Of LANES slices, in ns: an operation, a call of the C library, a term of a pass, a value packed or unpacked.
COSTS = (0.2, 5.0, 0.5, 0.5)


def sources(kernels: Sequence[Kernel], lanes: int, vectors: Mapping[str, str]) -> list[str]:
    """Texts of the C files; kernel number k is called kernel_k. `vectors` are libmvec's functions by scalar names."""
    head = "\n".join([f"#define LANES {lanes}", _text("lanes.h"), declarations(vectors)])
    codes = [emit(kernel, f"chunk_{number}") for number, kernel in enumerate(kernels)]
    functions = [function for code in codes for function in code.functions]
    files = [functions[k : k + FILE] for k in range(0, len(functions), FILE)]
    entry = [definitions(vectors), _text("driver.c")]
    for number, (kernel, code) in enumerate(zip(kernels, codes, strict=True)):
        entry += _entry(f"kernel_{number}", kernel, code)
    return ["\n".join([head, *texts]) for texts in (entry, *files)]


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text()


def _entry(name: str, kernel: Kernel, code: Code) -> list[str]:
    """Lines that tell the driver of a kernel, the function that evaluates it in the pool, and its faces."""
    lines = [f"void {chunk}(V *restrict p);" for chunk in code.names]
    steps = [f"{chunk}(p);" for chunk in code.names]
    target = sum(kernel.inputs) + sum(kernel.outputs)
    bits = 16 if kernel.pool < 2**16 and all(_longest(stage) < 2**16 > stage.targets for stage in kernel.passes) else 32
    for k, stage in enumerate(kernel.passes):
        table = _table(stage, target)
        lines.append(f"static const uint{bits}_t {name}_pass_{k}[] = {{{','.join(map(str, table))}}};")
        steps.append(f"pass{bits}(p, {name}_pass_{k}, {name}_pass_{k} + {len(table)});")
        target += stage.targets
    result = kernel.pool - sum(kernel.results)
    rows, shared = [*kernel.inputs, *kernel.results], [int(k in kernel.shared) for k in range(len(kernel.inputs))]
    values = code.operations, code.calls, sum(len(stage.left) for stage in kernel.passes), sum(rows)
    cost = sum(number * each for number, each in zip(values, COSTS, strict=True))
    sizes = f"{len(kernel.inputs)}, {len(kernel.results)}, {name}_rows, {name}_shared, {result}"
    return [
        *lines,
        f"static void {name}_run(V *p) {{ {' '.join(steps)} }}",
        f"static const casadi_int {name}_rows[] = {{{', '.join(map(str, [*rows, 0]))}}};",
        f"static const unsigned char {name}_shared[] = {{{', '.join(map(str, [*shared, 0]))}}};",
        f"static const struct kernel {name}_kernel = {{{sizes}, {kernel.pool + code.slots}, {cost!r}, {name}_run}};",
        f"FACES({name})",
    ]


def _longest(stage: Pass) -> int:
    return int(np.diff(stage.starts).max(initial=0))


def _table(stage: Pass, first: int) -> list[int]:
    """Targets of a pass, the first at `first` in the pool, by their number of terms, in the order the driver reads."""
    starts, pairs = np.asarray(stage.starts), np.column_stack([stage.left, stage.right])
    lengths = np.diff(starts)
    table = []
    for terms in np.unique(lengths):
        chosen = np.flatnonzero(lengths == terms)
        fours, ones = divmod(chosen.size, 4)
        factors = pairs[starts[chosen, None] + np.arange(terms)]  # (targets, terms, 2)
        together = factors[: 4 * fours].reshape(fours, 4, terms, 2).transpose(0, 2, 1, 3).reshape(fours, 8 * terms)
        table.append([fours, ones, terms])
        table.append(np.column_stack([first + chosen[: 4 * fours].reshape(fours, 4), together]))
        table.append(np.column_stack([first + chosen[4 * fours :], factors[4 * fours :].reshape(ones, 2 * terms)]))
    return np.concatenate([np.ravel(part) for part in table] or [np.zeros(3, dtype=int)]).tolist()
