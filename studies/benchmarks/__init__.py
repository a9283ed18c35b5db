"""Benchmarks: alternatives paired in one run, quoted as ratios.

the call        first_call, cold_starts, waiting, motions, honesty, gap, error_control, best_known, random_starts
programs        time_optimal, nlp_callbacks, phases, scaling, model_parameters, memory, batches, resolve, many
derivatives     evaluate
files           robots: all that are installed, read and compared; robot_peers, who else reads them; skeletons and
                opensim_peer: likewise for files of OpenSim's
solvers         barrier, iterations, hessian, kkt, linear_algebra, staged, ilqr
problems        effort, random_arms, random_motions: what they are run on
others          plain_casadi, pinocchio_loop: the same work by other means; judge, which shares no code with the
                library; ticks, a controller beside other tools, whose files are in loops
processes       timing, and what runs in processes of its own: with_colloc, scaling_point, waiting_point,
                cold_starts_point
"""
