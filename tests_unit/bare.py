"""What a run that a test starts does without: a cache nobody reads, and hypothesis, which is slow to load."""

BARE = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
