"""What results show: statistics of runs whose tasks share graphs."""
