"""What the published guarantee is worth in the server's full view."""
