"""Standing up: the same motion by motors and by muscles."""
