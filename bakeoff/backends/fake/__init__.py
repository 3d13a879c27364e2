"""Scripted answers, for tests of everything that is not a model."""
