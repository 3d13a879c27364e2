"""The local web app: `bakeoff ui`. It starts runs as processes, watches their files, and shows their reports.

Nothing here loads a model, a runtime or the statistics: whatever does so is a process of its own. The server therefore
stays small enough to be left open beside a run whose speed is measured.
"""
