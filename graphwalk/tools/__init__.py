"""Tools: a YAML file, a call of a model, rows, and pages of text. Imports `models`, `stores` and what is below."""
