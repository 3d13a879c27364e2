"""The reference arm: transformers and torch, in this process."""
