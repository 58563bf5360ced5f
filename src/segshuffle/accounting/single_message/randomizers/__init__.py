"""Local randomizers as parameter objects: what the single-message accountants need to know of them."""
