"""One module per family of figures; they draw tables and compute nothing. The style is in segshuffle.mplstyle."""
