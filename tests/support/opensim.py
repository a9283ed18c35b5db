"""OpenSim as the second opinion, in a process of its own: it brings a CasADi that does not live beside another."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

needs_opensim = pytest.mark.skipif(importlib.util.find_spec("opensim") is None, reason="needs the package opensim")


def run_opensim(script: str, folder: Path) -> str:
    """Run a script, which begins with osim and np, in a folder; what OpenSim said, which must be no warning."""
    head = "import numpy as np\nimport opensim as osim\n"
    process = subprocess.run([sys.executable, "-c", head + script], cwd=folder, capture_output=True, text=True)
    said = process.stdout + process.stderr
    assert process.returncode == 0, said
    assert not re.search(r"warn|error", said, re.IGNORECASE), said
    return said
