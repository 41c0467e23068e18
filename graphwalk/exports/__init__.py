"""Export of runs to formats of other programs; one module per format, listed in `registry.py`."""
