"""The experiments of the paper: configuration, scenarios, runs, tables, verdicts."""
