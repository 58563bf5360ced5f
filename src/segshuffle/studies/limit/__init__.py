"""How close one level comes to a Gaussian curator."""
