"""Motion found from measurements: markers and a force plate.

person, track_markers      a person of unknown lengths and masses
osim_track, squatter.osim  a model, markers and a force plate in files of OpenSim's
joint_loads                muscles and contact forces from such files
"""
