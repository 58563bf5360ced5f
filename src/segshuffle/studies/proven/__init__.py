"""What proven accounting and copies buy on the panels of the paper."""
