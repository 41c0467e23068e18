"""From results to tables: what is measured, over which groups, with which intervals, and how it is written."""
