"""Reading and scoring of replies, and statistics of scores."""
