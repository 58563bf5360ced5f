"""What constants that others have published are worth."""
