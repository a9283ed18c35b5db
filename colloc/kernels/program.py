"""Kernels as programs: data that interpreter.c evaluates, many slices at a time, without compilation.

If machine_code.c writes machine code of a program, that runs instead of the program.
"""

from __future__ import annotations

import ctypes
import hashlib
import weakref
from typing import Any

import casadi as ca
import numpy as np

from colloc.kernels.kernel import Kernel, pass_table
from colloc.kernels.operations import FUNCTIONS, template
from colloc.kernels.options import CompileWarning
from colloc.support.checks import warn

_HEAD = 13  # words of a program before its rows
_SAMPLES = 50  # instructions that are compared with what CasADi's accessors say of them
# Of LANES slices, in ns: an operation, interpreted and as machine code; a call of the C library, a term of a pass, a
# value packed or unpacked.
_INTERPRETED, _MACHINE_CODE = 1.5, 0.4
_COSTS = (5.0, 0.5, 0.5)

_BEHIND = 2**14  # bytes of a serialized function that may stand behind its instructions, else all of it is searched
# The byte of two letters, by their number.
_PAIRS = ((np.arange(2**16) - ord("a")) & 15 | (((np.arange(2**16) >> 8) - ord("a")) & 15) << 4).astype(np.uint8)

# Why there is no machine code, by what `keep_code` returns, and of which of these has been warned.
_WITHOUT_CODE = {
    0: "the system gives no memory for machine code, so functions are interpreted, which takes two to three times as "
    "long; allow it by com.apple.security.cs.allow-jit for a signed app on macOS, by execmem for SELinux",
    -1: "all memory for machine code is taken by other functions; new ones take twice as long",
}
_warned: list[int] = []
_instructions: weakref.WeakKeyDictionary[ca.Function, np.ndarray] = weakref.WeakKeyDictionary()


def program(kernel: Kernel, code: ctypes.CDLL) -> np.ndarray:
    """A kernel as a program, int64, shape (words,), made by the library that evaluates it.

    The library keeps its machine code, if there is any, as long as the words exist, under a number made of both.
    CompileError for an operation without a translation.
    """
    placed, constants = _placed(kernel)
    given = placed, kernel.function.sz_w(), kernel.pool + constants.size
    runs, end = _written(code.schedule, *given, np.empty(6 * len(placed) + 1, dtype=np.int32))
    machine, last = _written(code.write_code, *given, np.empty(60 * (len(placed) + 1) + 512, dtype=np.uint8))
    size = max(end, last)
    table = pass_table(kernel)
    wide = max(size, table.max(initial=0)) >= 2**16
    index = np.uint32 if wide else np.uint16
    rows, shared = [*kernel.inputs, *kernel.results], [int(k in kernel.shared) for k in range(len(kernel.inputs))]
    parts = [np.array(rows + shared, dtype=np.int64), constants, _words(runs, index), _words(table, index)]
    ends = _HEAD + np.cumsum([part.size for part in parts])
    calls = int(np.isin(placed[:, 0], list(FUNCTIONS)).sum())
    terms = sum(len(stage.left) for stage in kernel.passes)
    operation = _MACHINE_CODE if machine.size else _INTERPRETED
    cost = np.dot((operation, *_COSTS), [len(placed), calls, terms, sum(rows)])
    head = [
        *(len(kernel.inputs), len(kernel.results), kernel.pool - sum(kernel.results), size),
        int(np.float64(cost).view(np.int64)),
        *(constants.size, kernel.pool, int(wide), ends[1], ends[2], table.size, ends[3], 0),
    ]
    words = np.concatenate([np.array(head, dtype=np.int64), *parts])
    if machine.size:
        hashed = hashlib.blake2b(words.tobytes() + machine.tobytes(), digest_size=8)
        number = int(np.frombuffer(hashed.digest(), dtype=np.int64)[0])
        name = kernel.function.name().encode()
        slot = code.keep_code(ctypes.c_longlong(number), _pointer(machine), ctypes.c_longlong(machine.size), name)
        if slot > 0:
            words[_HEAD - 1] = number
            weakref.finalize(words, code.drop_code, ctypes.c_longlong(number)).atexit = False
        elif slot not in _warned:
            _warned.append(slot)
            warn(_WITHOUT_CODE[slot], CompileWarning)
    return words


def has_code(words: np.ndarray) -> bool:
    """Whether a program has machine code in this process."""
    return bool(words[_HEAD - 1])


def instructions(function: ca.Function) -> np.ndarray:
    """Instructions of an SX function, int32, shape (n, 4): each an operation and three numbers, in CasADi's format.

    They are read from the serialized function. CasADi's accessors, by which some are checked, would take 4 us for each,
    as long as a hundred evaluations of it.
    """
    if function not in _instructions:
        _instructions[function] = _read(function)
    return _instructions[function]


def _read(function: ca.Function) -> np.ndarray:
    n = function.n_instructions()
    samples = np.linspace(0, n - 1, min(n, _SAMPLES)).astype(int)  # each once: they are at least 1 apart
    expected = _accessed(function, samples)
    if n > _SAMPLES:
        text = function.serialize().encode()
        for length in (min(len(text), 2 * (16 * n + _BEHIND)), len(text)):  # they are near the end
            data, start = _bytes_of(text[-length:]), -1
            while (start := data.find(expected[:1].tobytes(), start + 1)) >= 0 and start + 16 * n <= len(data):
                listed = np.frombuffer(data, dtype=np.int32, count=4 * n, offset=start).reshape(n, 4)
                if (listed[samples] == expected).all():
                    return listed
    return _accessed(function, np.arange(n))


def _bytes_of(text: bytes) -> bytes:
    """Bytes of serialized ones, each of which is two letters from a to p, the lower half first."""
    return _PAIRS[np.frombuffer(text, dtype="<u2")].tobytes()


def _accessed(function: ca.Function, chosen: np.ndarray) -> np.ndarray:
    listed = np.zeros((chosen.size, 4), dtype=np.int32)
    for row, k in zip(listed, chosen.tolist(), strict=True):
        operation, out, read = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_CONST:
            numbers = [out[0], *np.array([function.instruction_constant(k)]).view(np.int32)]
        elif operation == ca.OP_INPUT:
            numbers = [out[0], *read]
        elif operation == ca.OP_OUTPUT:
            numbers = [out[0], read[0], out[1]]
        else:
            numbers = [out[0], read[0], read[-1]]
        row[:] = [operation, *numbers]
    return listed


def _placed(kernel: Kernel) -> tuple[np.ndarray, np.ndarray]:
    """Instructions for `schedule`, with places in the pool, and bits of the constants behind the pool."""
    listed = instructions(kernel.function).copy()
    operation = listed[:, 0]
    reads, writes, fixed = (operation == code for code in (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST))
    for code in set(operation[~(reads | writes | fixed)].tolist()):
        template(code)
    inputs = np.cumsum([0, *kernel.inputs])
    outputs = inputs[-1] + np.cumsum([0, *kernel.outputs])
    constants, which = np.unique(np.ascontiguousarray(listed[fixed, 2:]).view(np.int64), return_inverse=True)
    listed[reads, 2] = inputs[listed[reads, 2]] + listed[reads, 3]
    listed[writes, 1] = outputs[listed[writes, 1]] + listed[writes, 3]
    listed[fixed, 2] = kernel.pool + which.ravel()
    listed[fixed, 0] = ca.OP_INPUT
    return listed, constants


def _written(write: Any, placed: np.ndarray, registers: int, first: int, out: np.ndarray) -> tuple[np.ndarray, int]:
    """The result of `schedule` or `write_code` for instructions, and the end of the places that it uses."""
    end, work = ctypes.c_longlong(), np.empty(10 * len(placed) + registers, dtype=np.int64)
    write.restype = ctypes.c_longlong
    sizes = map(ctypes.c_longlong, (len(placed), registers, first))
    room = ctypes.c_longlong(out.size)
    length = write(_pointer(placed), *sizes, _pointer(work), _pointer(out), room, ctypes.byref(end))
    return out[:length], end.value


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _words(values: np.ndarray, index: type) -> np.ndarray:
    """Numbers of an integer type, packed into words."""
    packed = np.ascontiguousarray(values, dtype=index).view(np.uint8)
    return np.pad(packed, (0, -packed.size % 8)).view(np.int64)
