"""Report on results: rows of a data frame, intervals, comparisons, the verdict, and the forms they are written in."""
