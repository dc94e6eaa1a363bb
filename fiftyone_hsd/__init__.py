"""Find hidden sample dependence in image data sets, measure what it inflates, and split without it."""

__version__ = "0.1.0"
