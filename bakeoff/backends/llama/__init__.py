"""llama.cpp: a server of its own, or one from a package, answers for GGUF files."""
