"""`python -m graphwalk` is the command `graphwalk`."""

from graphwalk.cli import main

if __name__ == "__main__":
    main()
