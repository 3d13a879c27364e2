"""Core AI of macOS 27, in this process."""
