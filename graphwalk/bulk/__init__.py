"""Data by the million: rows made on all cores, in constant memory, and gone on with after a kill."""
