"""Export of runs to formats of other programs, listed in `registry.py`."""
