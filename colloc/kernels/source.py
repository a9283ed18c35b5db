"""The C files of a library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from colloc.kernels.emit import Code, emit
from colloc.kernels.kernel import Kernel, pass_table
from colloc.kernels.operations import declarations, definitions, runs

FILE = 8  # chunks; the files are compiled side by side
# Of LANES slices, in ns: an operation, a call of the C library, a term of a pass, a value packed or unpacked.
COSTS = (0.2, 5.0, 0.5, 0.5)


def sources(kernels: Sequence[Kernel], lanes: int, vectors: Mapping[str, str]) -> list[str]:
    """Texts of the C files; kernel number k is called kernel_k. `vectors` are libmvec's functions by scalar names."""
    head = _head(lanes, vectors)
    codes = [emit(kernel, f"chunk_{number}") for number, kernel in enumerate(kernels)]
    functions = [function for code in codes for function in code.functions]
    files = [functions[k : k + FILE] for k in range(0, len(functions), FILE)]
    entry = [definitions(vectors), _text("driver.c")]
    for number, (kernel, code) in enumerate(zip(kernels, codes, strict=True)):
        entry += _entry(f"kernel_{number}", kernel, code)
    return ["\n".join([head, *texts]) for texts in (entry, *files)]


def interpreter_source(lanes: int, vectors: Mapping[str, str]) -> str:
    """Text of the C file of a library that evaluates programs."""
    head = [_head(lanes, vectors), definitions(vectors), _text("driver.c"), runs()]
    names = "values.c", "code_memory.c", "encoding.h", "x86_64.c", "aarch64.c", "machine_code.c", "interpreter.c"
    return "\n".join([*head, *map(_text, names)])


def _head(lanes: int, vectors: Mapping[str, str]) -> str:
    return "\n".join([f"#define LANES {lanes}", _text("lanes.h"), declarations(vectors)])


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _entry(name: str, kernel: Kernel, code: Code) -> list[str]:
    """Lines that describe a kernel for the driver, with the function that evaluates it in the pool and its wrappers."""
    lines = [f"void {chunk}(V *restrict p);" for chunk in code.names]
    steps = [f"{chunk}(p);" for chunk in code.names]
    if (table := pass_table(kernel)).size:
        bits = 16 if table.max() < 2**16 else 32
        lines.append(f"static const uint{bits}_t {name}_passes[] = {{{','.join(map(str, table.tolist()))}}};")
        steps.append(f"pass{bits}(p, {name}_passes, {name}_passes + {table.size});")
    result = kernel.pool - sum(kernel.results)
    rows, shared = [*kernel.inputs, *kernel.results], [int(k in kernel.shared) for k in range(len(kernel.inputs))]
    values = code.operations, code.calls, sum(len(stage.left) for stage in kernel.passes), sum(rows)
    cost = sum(number * each for number, each in zip(values, COSTS, strict=True))
    sizes = (
        f"{len(kernel.inputs)}, {len(kernel.results)}, {name}_rows, {name}_shared, {result}, {kernel.pool + code.slots}"
    )
    return [
        *lines,
        f"static void {name}_run(UNUSED const struct kernel *kernel, V *p) {{ {' '.join(steps)} }}",
        f"static const casadi_int {name}_rows[] = {{{', '.join(map(str, [*rows, 0]))}}};",
        f"static const casadi_int {name}_shared[] = {{{', '.join(map(str, [*shared, 0]))}}};",
        f"static const struct kernel {name}_kernel = {{{sizes}, {cost!r}, {name}_run, 0, 0, 0, 0, 0}};",
        f"FACES({name})",
    ]
