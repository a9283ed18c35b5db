"""Campaigns that try to break the library: random mechanisms and problems, garbage, damaged files, interrupts, threads.

`python -m tests.campaigns --minutes 10 --seed 0` shares the minutes between all modules here that have a function
`attempt(rng) -> Attempt`, prints how many tries ended how, and a reproducer of each that did not end well.

random_problems  problems with a known motion, and impossible ones
altered          random motions by devices that save time, and without them
forms            least effort in compact and lifted form, and races of the two
redundant        equations that follow from others beside independent ones
attitudes        random pairs of attitudes, by the shorter way
assembled        random trees with loops, assembled near a guess and within limits
saddles          symmetric motions with a cheaper one beside them
turns            final angles up to whole turns, beside the plain statement at every turn
certified        certificates of answers that are solved
explained        what limits gain where rows depend on each other, and where others are met on the way
held_torques     passive joints in several words, which have one error
relaxations      infeasible problems, and what makes them feasible
formulations     the equations of motion of random trees by every formulation
sweeps           parameter studies that are killed
garbage          arguments that are none, of every public callable; samples are good ones
calls            calls that last, interrupted; crafted makes files, worker is a process
files            damaged files
kills            processes that are ended while they write
threads          many threads at once

`__main__` runs them. An attempt has an outcome; a child is the process that makes it.
"""
