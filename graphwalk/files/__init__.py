"""Write files whole, and lines durably; find the data files of the package. Imports `terminal` and `errors`."""
