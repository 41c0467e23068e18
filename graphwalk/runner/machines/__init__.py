"""One run on many machines: shards handed out, and put together again."""
