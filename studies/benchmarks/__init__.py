"""Benchmarks: alternatives paired in one run, quoted as ratios."""
