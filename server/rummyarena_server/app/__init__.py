"""The composition root: what the command line asks for, each use case with all that it needs opened around it."""
