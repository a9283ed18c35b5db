"""Industrial arms within their published limits: the fastest motions from point to point."""
