"""Dreaming with a model: it points at memories that belong together, and the rules decide what may come of it."""
