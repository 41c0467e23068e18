"""Messages, progress and signals of a command. Imports `variables` and `errors`."""
