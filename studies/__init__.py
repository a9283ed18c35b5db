"""Studies: one question a file or package, a family a folder; ``python -m colloc`` lists them, and runs one by name.

    two_link         the published problems of two-link arms against their exact optima
    classics         problems of optimal control with known optima
    arms             the fastest motions of industrial arms against their straight lines
    robots           robots that fly, roll and pull, moved by forces that are no joint torques; a delta robot
    descents         which descent method needs the fewest steps
    closed_chains    minimum torque of mechanisms with loops
    sensitivities    are the recursive derivatives right, and what do they cost
    control          feedback around a predicted motion, and iLQR
    tracking         motion from measured markers
    jumping          a jump in phases
    running          a running step in phases
    rising           how people stand up
    walking          a predicted step of a human
    benchmarks       what takes how long, each alternative in turn

All share `reporting`: the command line, the table, the numbers as JSON. Every study shows the problem it solves on its
own page; those of walking share the step in ``walking/problem.py``.
"""
