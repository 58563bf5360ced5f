"""Figures 2-6: the panels of the segmented-aggregation paper, published and proven."""
