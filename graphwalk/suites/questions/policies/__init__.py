"""Scripted players of the twelve questions: an expert, a random walk, and an expert with the flaws of weak models."""
