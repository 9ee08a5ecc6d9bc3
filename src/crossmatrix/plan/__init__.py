"""Cells -> build and run jobs, their keys and edges, and which of them need not be run."""
