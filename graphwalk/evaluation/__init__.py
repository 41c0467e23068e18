"""How replies are read and scored, and the statistics of the scores."""
