"""Read YAML and templates, and check the fields of an experiment. Imports `files`, `variables` and `errors`."""
