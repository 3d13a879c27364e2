"""What `bakeoff` does, one command a file; `cli` reads the command line and prints what these return."""
