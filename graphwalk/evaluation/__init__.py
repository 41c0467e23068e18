"""Reading and scoring of replies, and statistics of scores. Imports `models` and what is below it."""
