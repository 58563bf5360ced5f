"""Certified mean positive part of a sum of independent copies: enumeration for few, Fourier inversion for many."""
