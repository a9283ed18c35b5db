"""OpenSim as the second opinion, in a process of its own: it brings a CasADi that does not live beside another."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

needs_opensim = pytest.mark.skipif(importlib.util.find_spec("opensim") is None, reason="needs the package opensim")


def ask_opensim(states: dict[str, list[dict[str, Any]]], folder: Path) -> dict[str, list[dict[str, Any]]]:
    """OpenSim's evaluation of its files at states by the names of coordinates: see the peer's module."""
    (folder / "states.json").write_text(json.dumps(states), encoding="utf-8")
    peer = importlib.util.find_spec("colloc.studies.benchmarks.opensim_peer")
    assert peer is not None
    arguments = [sys.executable, str(peer.origin), "states.json", "answers.json"]
    process = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    return json.loads((folder / "answers.json").read_text(encoding="utf-8"))


def run_opensim(script: str, folder: Path) -> str:
    """Run a script, which begins with osim and np, in a folder; what OpenSim said, which must be no warning."""
    head = "import numpy as np\nimport opensim as osim\n"
    process = subprocess.run([sys.executable, "-c", head + script], cwd=folder, capture_output=True, text=True)
    said = process.stdout + process.stderr
    assert process.returncode == 0, said
    assert not re.search(r"warn|error", said, re.IGNORECASE), said
    return said
