"""Reading answers out of replies, and measuring how good they are; nothing here knows a suite."""
