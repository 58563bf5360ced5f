"""Plumbing of the runs: configuration, scenarios, random streams, jobs, tables, provenance, style."""
