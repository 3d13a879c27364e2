"""Servers that speak the OpenAI interface, wherever they are."""
