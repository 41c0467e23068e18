"""Read YAML and templates, and check the fields of an experiment. Imports `errors`, `sanitise` and `version`."""
