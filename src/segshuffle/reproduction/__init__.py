"""The paper and the studies around it: configuration, scenarios, tables, figures, verdicts, and the page."""
