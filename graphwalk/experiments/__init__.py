"""Experiments: what they say, where they are found, and what they come to when everything is looked up."""
