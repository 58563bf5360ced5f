"""How close the proven protocol with one level comes to a Gaussian curator."""
