"""Segmented private data aggregation in the multi-message shuffle model: accountants, protocols, experiments."""
