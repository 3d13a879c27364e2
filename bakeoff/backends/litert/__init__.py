"""LiteRT-LM, in this process."""
