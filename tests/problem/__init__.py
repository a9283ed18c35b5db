"""Tests of problems: what is stated, by every kind of statement, signal and part.

test_problem         what is stated is what is meant
test_phases          motions in phases, links, impacts on the world
test_impacts         impacts between two bodies
test_divided         a problem in arcs
test_states          states with differential equations
test_rates           jerk and torque rates
test_path_equations  equations along the path
test_final_cost      costs at the last instant
test_zero_costs      costs that no motion changes
test_track           measured time series
test_recorded        force plates as loads
test_ground          ground reactions
test_contact_sphere  balls on the ground
test_surfaces        planes in any pose, boxes, bars; ellipsoids
test_user_functions  functions that users supply
test_own_statement   user-defined statements
test_own_part        user-defined parts
test_joint_devices   springs on one side, torques over a cycle
test_force_parts     thrusters, cables, wheels, grips
test_phased_parts    the same in phases and cases
"""
