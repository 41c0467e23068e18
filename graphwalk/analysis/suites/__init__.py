"""What reports, pages and rewards know about each suite: a class `Analysis` in a module with the suite's name."""
