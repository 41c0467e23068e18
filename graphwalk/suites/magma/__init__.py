"""MAGMA: five graph algorithms carried out step by step. Its walking expert uses the calls of `suites.questions`."""
