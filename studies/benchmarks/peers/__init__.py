"""colloc beside other tools on the same problems: ``python -m colloc benchmarks.peers.comparison``.

comparison       the tools in turn, the table, the numbers
answers          answers that are kept, so that a comparison can be stopped and continued
problems         motions from rest to rest, a hop, squats, walks, a stand, in numbers and URDF files
truth            the judge: torques integrated forward by others' code
truth_of_states  the judge of rockets, the alp rider, a slide and a stand
process          what runs a tool in a process of its own
with_TOOL        the problems in the style of a tool, whose packages are imported inside functions: with_colloc,
                 with_colloc_grid, with_opti, with_rockit, with_moco, with_drake, with_crocoddyl, with_dymos, with_opty,
                 with_toppra, with_asset, with_yapss, with_acados, with_nosnoc, with_biosym; the inverse
                 dynamics also with_pinocchio and with_mujoco
"""
