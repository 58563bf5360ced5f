"""What all runs need: configuration, scenarios, random streams, jobs, tables, provenance, style."""
