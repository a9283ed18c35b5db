"""What is quickest in world axes: composite and articulated bodies, energies, point Jacobians."""
