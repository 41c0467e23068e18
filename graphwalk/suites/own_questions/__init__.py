"""Your own questions with answers, about your own graph."""
