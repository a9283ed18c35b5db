"""Compiles into a wheel what every user's machine would compile, for one platform.

It does so if COLLOC_COMPILED is 1, for this platform, or a platform's tag such as win_amd64, by its compiler in $CC. On
macOS the wheel is for macOS 11 or newer, like CasADi's, and for this machine, also if Python is for two.
"""

import os
import platform
import re
import sys
import sysconfig
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledLibraries(BuildHookInterface):
    """Libraries of kernels and linear algebra, which `colloc.kernels.shipped` loads for the CPUs they are for."""

    def dependencies(self):
        return ["casadi>=3.7", "numpy>=1.26"] if wanted() else []

    def initialize(self, version, build_data):
        if not wanted() or version == "editable":
            return
        if sys.platform == "darwin":
            os.environ["MACOSX_DEPLOYMENT_TARGET"] = "11.0"
        sys.path.insert(0, self.root)
        from colloc.control.native import ship_step
        from colloc.kernels import ship_interpreter
        from colloc.solver.lanes import ship_lanes
        from colloc.solver.linear_solvers import ship_multifrontal

        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        made = [ship(folder) for ship in (ship_interpreter, ship_multifrontal, ship_lanes, ship_step)]
        for path in (path for paths in made for path in paths):
            build_data["force_include"][str(path)] = f"colloc/kernels/compiled/{path.name}"
        # Of no version of Python in particular: they are called through ctypes and CasADi.
        build_data["pure_python"] = False
        here = f"macosx_11_0_{platform.machine()}" if sys.platform == "darwin" else sysconfig.get_platform()
        build_data["tag"] = f"py3-none-{re.sub('[-.]', '_', here if wanted() == '1' else wanted())}"

    def finalize(self, version, build_data, artifact_path):
        if hasattr(self, "folder"):
            self.folder.cleanup()


def wanted():
    return os.environ.get("COLLOC_COMPILED", "")
