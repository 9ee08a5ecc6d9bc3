"""Build crypto libraries for other architectures, test them under emulation, and prove what ran."""

__version__ = "0.1.0"
