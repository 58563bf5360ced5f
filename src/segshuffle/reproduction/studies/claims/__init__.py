"""What section 6 of the paper states, and what came out."""
