"""A predicted step of a human.

questions    gait, gait2d, speeds, durations, starts, population, as_printed; by_muscles and human_by_muscles, where
             no contact is stated, costs_by_muscles, speeds_by_muscles, slopes_by_muscles, stairs_by_muscles,
             starts_by_muscles, exoskeleton, prosthesis and weight_on_one_foot, whose strides are no mirror images,
             tracking_by_muscles, of a published walk, and knee_loads, near it; predsim, of another by compliant
             tendons at the cost of energy
the problem  step (parameters, geometry), contacts, forces, posture, problem; phases, as three of them; walk, the
             search; predsim_human, who walks in predsim
the thesis   printed, its constraints one by one; relaxation, by how much they must give way
answers      report, picture
"""
