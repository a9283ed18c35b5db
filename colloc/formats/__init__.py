"""Models from the files of other programs: URDF (`urdf`)."""
