"""How everything looks: palette and looks, the style of figures, and pages that need no other file."""
