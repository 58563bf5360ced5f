"""How close one level comes to a trusted curator."""
