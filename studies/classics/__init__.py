"""Problems of optimal control whose optimum is known, stated as motions: points on slides, arms and pendulums."""
