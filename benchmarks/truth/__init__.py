"""Compare our engines, algorithms and targets with independent references: `make truth` (docs/peers.md)."""
