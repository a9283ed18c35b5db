"""Settings for all tests: one thread, no screen, and the problems that several of them solve."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
