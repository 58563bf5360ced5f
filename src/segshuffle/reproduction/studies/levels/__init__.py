"""What protecting the levels themselves costs."""
