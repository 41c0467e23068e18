"""Scripted players of questions, and what their plans are made of."""
