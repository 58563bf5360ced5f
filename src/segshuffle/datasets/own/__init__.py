"""Data of your own: a file or table of users and items, in any layout."""
