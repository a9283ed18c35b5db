"""Straight-line C of an SX function, in chunks that compile in linear time.

Every function takes only the pool. A value that one chunk computes and another one reads is in a slot behind the pool;
slots are reused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

from colloc.kernels.kernel import Kernel
from colloc.kernels.operations import is_call, template

CHUNK = 1000  # operations; the time of compilation grows faster than linearly beyond some thousands


@dataclass(frozen=True)
class Code:
    """C functions, called in order."""

    functions: list[str]
    names: list[str]
    slots: int
    operations: int
    calls: int  # of the C library


@dataclass(slots=True)
class _Value:
    """Right-hand side in C with the values it reads, or, for a store, its place in the pool."""

    template: str
    operands: list[_Value | str]  # values of earlier operations, or C of inputs and constants
    place: int | None = None
    chunk: int = 0
    last: int = 0  # the last chunk that reads it
    slot: int | None = None
    name: str = ""


def emit(kernel: Kernel, prefix: str) -> Code:
    """C of the kernel's function, with a prefix for names; CompileError for operations without a translation."""
    values, calls = _values(kernel)
    chunks = [values[k : k + CHUNK] for k in range(0, len(values), CHUNK)]
    slots = _assign_slots(chunks)
    names = [f"{prefix}_{number}" for number in range(len(chunks))]
    functions = [
        "\n".join([f"void {name}(V *restrict p)\n{{", *_statements(chunk, number, kernel.pool), "}"])
        for number, (name, chunk) in enumerate(zip(names, chunks, strict=True))
    ]
    return Code(functions, names, slots, len(values), calls)


def _values(kernel: Kernel) -> tuple[list[_Value], int]:
    """Operations and stores in order, and the number of calls among them."""
    function = kernel.function
    inputs, outputs = _offsets(0, kernel.inputs), _offsets(sum(kernel.inputs), kernel.outputs)
    register: list[_Value | str] = [""] * function.sz_w()  # what each of CasADi's work variables holds
    values, calls = [], 0
    for k in range(function.n_instructions()):
        operation, out, read = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_INPUT:
            register[out[0]] = f"p[{inputs[read[0]] + read[1]}]"
        elif operation == ca.OP_CONST:
            register[out[0]] = _constant(function.instruction_constant(k))
        elif operation == ca.OP_OUTPUT:
            values.append(_Value("{0}", [register[read[0]]], outputs[out[0]] + out[1]))
        else:
            value = _Value(template(operation), [register[place] for place in read], name=f"a{len(values)}")
            register[out[0]] = value
            values.append(value)
            calls += is_call(operation)
    return values, calls


def _offsets(start: int, sizes: tuple[int, ...]) -> list[int]:
    return [start + sum(sizes[:k]) for k in range(len(sizes))]


def _constant(value: float) -> str:
    if math.isnan(value):
        return "K(NAN)"
    if math.isinf(value):
        return "K(INFINITY)" if value > 0 else "K(-INFINITY)"
    return f"K({value!r})"


def _assign_slots(chunks: list[list[_Value]]) -> int:
    """Slots of the values that several chunks use, each free again after the last chunk that reads it."""
    for number, chunk in enumerate(chunks):
        for value in chunk:
            value.chunk = value.last = number
            for operand in value.operands:
                if isinstance(operand, _Value):
                    operand.last = number
    free: list[int] = []
    slots = 0
    expiring: list[list[int]] = [[] for _ in range(len(chunks) + 1)]
    for number, chunk in enumerate(chunks):
        free += expiring[number]
        for value in chunk:
            if value.last > number:
                if not free:
                    free.append(slots)
                    slots += 1
                value.slot = free.pop()
                expiring[value.last + 1].append(value.slot)
    return slots


def _statements(chunk: list[_Value], number: int, first: int) -> Iterator[str]:
    """Statements of one chunk, with the slots behind `first` places."""
    loaded = set()
    for value in chunk:
        operands = []
        for operand in value.operands:
            if isinstance(operand, str):
                operands.append(operand)
                continue
            if operand.chunk != number and operand.name not in loaded:
                loaded.add(operand.name)
                yield f"V {operand.name} = p[{first + (operand.slot or 0)}];"
            operands.append(operand.name)
        right = value.template.format(*operands)
        if value.place is not None:
            yield f"p[{value.place}] = {right};"
            continue
        yield f"V {value.name} = {right};"
        if value.slot is not None:
            yield f"p[{first + value.slot}] = {value.name};"
