"""Tests of files of other programs.

test_readers         what every reader refuses
test_urdf            robots in URDF
test_urdf_elsewhere  written robots in Pinocchio and MuJoCo
test_sdf             robots in SDF
test_loop_files      loops of robots in companion files
test_mjcf            MuJoCo's files
test_mjcf_muscles    muscles of MuJoCo's files
test_limits          limits that take the place of those in a file
test_scenes          files in which nothing moves
test_collisions      collision shapes
test_osim            OpenSim's models
test_osim_parts      muscles, springs and motors of OpenSim's models
test_osim_spine      joints of constant curvature and on ellipsoids
test_osim_wraps      muscles round surfaces of OpenSim's models
test_osim_passive    springs, limit forces, expressions and ligaments, against OpenSim
test_osim_track      a motion of an OpenSim model
test_opensim         tables that OpenSim reads
test_tables          tables of time series
test_c3d             markers and force plates
test_force_plates    force plates in the columns of tables
test_xml             errors that name the line
"""
