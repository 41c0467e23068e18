"""Cypher that a model writes: read by a grammar of what is offered, and written anew for one graph of one store."""
