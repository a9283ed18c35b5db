"""SX operations in C over vectors of slices."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache

import casadi as ca

from colloc.kernels.kernel import CompileError

# Operations as C operators and inline functions of lanes.h.
EXPRESSIONS = {
    ca.OP_ASSIGN: "{0}",
    ca.OP_LIFT: "{0}",
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "K(1.0) / {0}",
    ca.OP_LT: "truth((M)({0} < {1}))",
    ca.OP_LE: "truth((M)({0} <= {1}))",
    ca.OP_EQ: "truth((M)({0} == {1}))",
    ca.OP_NE: "truth((M)({0} != {1}))",
    ca.OP_NOT: "truth(~holds({0}))",
    ca.OP_AND: "truth(holds({0}) & holds({1}))",
    ca.OP_OR: "truth(holds({0}) | holds({1}))",
    ca.OP_IF_ELSE_ZERO: "v_if_else_zero({0}, {1})",
    ca.OP_FABS: "v_fabs({0})",
    ca.OP_SIGN: "v_sign({0})",
    ca.OP_COPYSIGN: "v_copysign({0}, {1})",
    ca.OP_FMIN: "v_fmin({0}, {1})",
    ca.OP_FMAX: "v_fmax({0}, {1})",
}
# Functions of the C library: name and number of arguments.
FUNCTIONS = {
    ca.OP_SQRT: ("sqrt", 1),
    ca.OP_EXP: ("exp", 1),
    ca.OP_EXPM1: ("expm1", 1),
    ca.OP_LOG: ("log", 1),
    ca.OP_LOG1P: ("log1p", 1),
    ca.OP_POW: ("pow", 2),
    ca.OP_CONSTPOW: ("pow", 2),
    ca.OP_HYPOT: ("hypot", 2),
    ca.OP_SIN: ("sin", 1),
    ca.OP_COS: ("cos", 1),
    ca.OP_TAN: ("tan", 1),
    ca.OP_ASIN: ("asin", 1),
    ca.OP_ACOS: ("acos", 1),
    ca.OP_ATAN: ("atan", 1),
    ca.OP_ATAN2: ("atan2", 2),
    ca.OP_SINH: ("sinh", 1),
    ca.OP_COSH: ("cosh", 1),
    ca.OP_TANH: ("tanh", 1),
    ca.OP_ASINH: ("asinh", 1),
    ca.OP_ACOSH: ("acosh", 1),
    ca.OP_ATANH: ("atanh", 1),
    ca.OP_ERF: ("erf", 1),
    ca.OP_FLOOR: ("floor", 1),
    ca.OP_CEIL: ("ceil", 1),
    ca.OP_FMOD: ("fmod", 2),
    ca.OP_REMAINDER: ("remainder", 2),
}
# They are zero at zero, with its sign, which some of glibc's libmvec for ARM drop.
ZERO_AT_ZERO = ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "expm1", "log1p")


def template(operation: int) -> str:
    """C expression of an operation, to be formatted with its operands; CompileError, naming it, if there is none."""
    if operation in FUNCTIONS:
        name, arguments = FUNCTIONS[operation]
        return f"v_{name}({', '.join(f'{{{k}}}' for k in range(arguments))})"
    if operation not in EXPRESSIONS:
        name = next((name for name in dir(ca) if name.startswith("OP_") and getattr(ca, name) == operation), operation)
        raise CompileError(f"programs have no operation {name}")
    return EXPRESSIONS[operation]


@cache
def runs() -> str:
    """C macros for the interpreter: the operations, those with two operands, and loops over runs of them."""
    lines = [f"#define {name} {getattr(ca, name)}" for name in dir(ca) if name.startswith("OP_")]
    cases, binary = [], []
    for operation in (*EXPRESSIONS, *FUNCTIONS):
        text = template(operation)
        binary += [f"(op) == {operation}"] if "{1}" in text else []
        cases.append(f"RUN({operation}, {2 if '{1}' in text else 1}, {text.format('A', 'B')})")
    return "\n".join([*lines, f"#define BINARY(op) ({' || '.join(binary)})", f"#define OPERATIONS {' '.join(cases)}"])


def vector_names(lanes: int, macros: Mapping[str, str]) -> dict[str, str]:
    """Functions of glibc's libmvec for a number of lanes on the CPU of these compiler macros, by name."""
    isa = {
        8: "e" if "__AVX512F__" in macros else "",
        4: "d" if "__AVX2__" in macros else "c" if "__AVX__" in macros else "",
        2: "b" if "__SSE2__" in macros else "n" if "__aarch64__" in macros else "",
    }.get(lanes)
    library = _libmvec() if "__linux__" in macros else None  # a compiler for another platform finds none there
    if not isa or library is None:
        return {}
    names = {name: f"_ZGV{isa}N{lanes}{'v' * arguments}_{name}" for name, arguments in FUNCTIONS.values()}
    return {name: symbol for name, symbol in names.items() if hasattr(library, symbol)}


def declarations(vectors: Mapping[str, str]) -> str:
    """C declarations of the functions, those of libmvec under its names."""
    lines = []
    for name, arguments in sorted(set(FUNCTIONS.values())):
        symbol = vectors.get(name, f"v_{name}")
        lines.append(f"V {symbol}({', '.join(['V'] * arguments)});")
        if name in ZERO_AT_ZERO and symbol.startswith("_ZGVn"):
            lines.append(f"LANEWISE V v_{name}(V x) {{ return either((M)(x == K(0.0)), x, {symbol}(x)); }}")
        elif name in vectors:
            lines.append(f"#define v_{name} {symbol}")
    return "\n".join(lines)


def definitions(vectors: Mapping[str, str]) -> str:
    """C definitions of the functions that libmvec lacks: loops over the lanes."""
    lines = []
    for name, arguments in sorted(set(FUNCTIONS.values())):
        if name not in vectors:
            letters = "xy"[:arguments]
            parameters, lane = ", ".join(f"V {x}" for x in letters), ", ".join(f"{x}[l]" for x in letters)
            loop = f"for (int l = 0; l < LANES; l++) r[l] = {name}({lane});"
            lines.append(f"V v_{name}({parameters}) {{ V r; {loop} return r; }}")
    return "\n".join(lines)


@cache
def _libmvec() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None
