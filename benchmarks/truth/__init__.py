"""What others say is true, asked of our engines, algorithms and targets: `make truth` (docs/peers.md)."""
