"""Write files whole and lines durably, and rows in several formats. Imports `terminal`, `sanitise` and `errors`."""
