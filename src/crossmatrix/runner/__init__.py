"""Carries out a plan on an engine and tells whoever watches."""
