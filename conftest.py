pytest_plugins = ["bakeoff.plugin", "pytester"]
