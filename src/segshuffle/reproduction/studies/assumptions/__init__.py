"""What a guarantee relies on, apart from sizes and levels, and the cost of weaker assumptions."""
