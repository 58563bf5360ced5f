"""Certified divergences, laws and searches: what the accountants are built from."""
