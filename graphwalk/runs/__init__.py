"""Runs: load an experiment, plan its episodes, play them, and keep each result in a folder."""
