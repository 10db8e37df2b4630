"""`MEMORY.md`: the memory as a page that people read and edit. What they change there is their word."""
