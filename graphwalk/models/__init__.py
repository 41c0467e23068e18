"""Language models and scripted ones: messages, backends, and their wrappers. Imports `graphs` and below."""
