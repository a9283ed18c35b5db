"""The BLAS below IPOPT's linear solver computes on one thread, whatever the machine."""

import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
import ctypes, os
from pathlib import Path
import casadi as ca
import colloc as co
from colloc.models.two_link import two_link

def threads():
    for path in Path(ca.__file__).parent.glob("*casadi-tp-openblas*"):
        try:
            return ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD).openblas_get_num_threads()
        except OSError:  # a copy that is not in use
            pass

effort = co.integral(lambda now: ca.sumsqr(now.tau))
ca.has_nlpsol("ipopt")
before = threads()
co.solve(co.Problem(two_link(), 1.0, effort), co.BSpline(8), compile=False)
print(before, threads())
"""


@pytest.mark.skipif(not list(Path(ca.__file__).parent.glob("*casadi-tp-openblas*")), reason="another BLAS")
def test_blas_has_one_thread_by_default():
    found = {}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        own = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
        own |= {name: "2", "PYTHONPATH": str(ROOT)}
        ended = subprocess.run([sys.executable, "-c", SCRIPT], env=own, capture_output=True, text=True, check=True)
        found[name] = tuple(map(int, ended.stdout.split()))
    given = min(2, os.cpu_count() or 1)
    assert found == {"OMP_NUM_THREADS": (given, 1), "OPENBLAS_NUM_THREADS": (given, given)}
