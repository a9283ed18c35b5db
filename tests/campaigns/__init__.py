"""Campaigns that try to break the library: random mechanisms and problems, garbage, damaged files, interrupts, threads.

`python -m tests.campaigns --minutes 10 --seed 0` shares the minutes between all modules here that have a function
`attempt(rng) -> Attempt`, prints how many tries ended how, and a reproducer of each that did not end well.
"""
