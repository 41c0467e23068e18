"""Property graphs in memory: generate, read, write, describe them. Imports `config` and what is below."""
