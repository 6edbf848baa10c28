"""Speed, always as a ratio within one run; never in a timed test. `make bench`, or `python -m benchmarks calls`."""
