"""The figures and tables of the amplification papers: their settings, and the numbers behind every curve."""
