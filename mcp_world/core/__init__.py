"""Core types: what every other part speaks of. Nothing here imports from the rest of the package."""
