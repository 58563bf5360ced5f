"""What a guarantee relies on beyond sizes and levels, and what it costs to rely on less."""
