"""The published problems of planar two-link arms: fastest swing, lifting, slide and hinge."""
