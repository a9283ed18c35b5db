"""Studies in their quick form, and what they solve."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def numbers_of(
    main: Callable[..., Any], folder: Path, *options: str, quick: bool = True, size: int | None = 10_000
) -> dict[str, float]:
    """Numbers of a run, which its file holds as well; its figure has more bytes than `size`, unless that is None.

    The files are `numbers.json` and `figure.png` of the folder.
    """
    words = [*(["--quick"] if quick else []), *options, "--json", str(folder / "numbers.json")]
    returned = main(words if size is None else [*words, "--figure", str(folder / "figure.png")])
    numbers = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    assert numbers == returned
    assert size is None or (folder / "figure.png").stat().st_size > size
    return numbers


def numbers_and_solution(study: ModuleType, name: str, folder: Path, *options: str) -> tuple[dict[str, float], Any]:
    """Numbers of a quick run, and the first thing that the study's function of this name returned in it."""
    found, original = [], getattr(study, name)

    def seen(*arguments: Any) -> Any:
        found.append(original(*arguments))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, name, seen)
        numbers = numbers_of(study.main, folder, *options, size=20_000)
    return numbers, found[0]
