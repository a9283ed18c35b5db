"""What is measured of a predicted step, beside measured walking."""
