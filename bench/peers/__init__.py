"""catmem beside what people would pick instead: the same texts, the same questions, each in an environment of its own."""
