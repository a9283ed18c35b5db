"""Robots that fly, roll and pull: rotors, thrusters, cables and wheels as parts; a delta robot."""
