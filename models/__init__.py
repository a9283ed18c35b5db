"""Ready-made mechanisms: numbers with their sources, no optimisation.

Mechanisms that their sources print in full are modules with a function that returns a `colloc.Model`, as in
``from colloc.models.two_link import two_link``:

    arms       two_link, prismatic_revolute, scara, puma560, stanford, manutec_r3, panda, ur5, iiwa; motors in dc_motor
    pendulums  cart_pole, acrobot, each with a joint that has no actuator; spring_pendulum, driven through a spring
    hopper     hopper, a body on one springy leg
    people     human43; with muscles muscle_walker, in the plane, and muscle_human, both on balls for feet,
               squat_to_stand, and arm26

Mechanisms of any size, or of several modules, are in packages:

    chains    any number of equal links (serial), the same with point masses in closed form (point_masses)
    closed    closed chains: four_bar, slider_crank, five_bar, parallel_scara, rower
    human     humans of any stature and mass: human55; in the plane walker2d, runner2d, jumper2d; their parts
"""
