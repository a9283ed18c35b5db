"""The C file of the library that evaluates programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from colloc.kernels.operations import declarations, definitions, runs

_AFTER_OPERATIONS = (
    "values.c", "code_memory.c", "encoding.h", "x86_64.c", "aarch64.c", "machine_code.c", "interpreter.c",
)  # fmt: skip


def interpreter_source(lanes: int, vectors: Mapping[str, str]) -> str:
    """Its text, for a number of lanes; `vectors` are libmvec's functions by scalar names."""
    head = [f"#define LANES {lanes}", _text("lanes.h"), declarations(vectors), definitions(vectors)]
    return "\n".join([*head, _text("driver.c"), runs(), *map(_text, _AFTER_OPERATIONS)])


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
