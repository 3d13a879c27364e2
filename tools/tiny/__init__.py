"""Scripts that train, export and check the embedded calibration checkpoint in ``data/tiny``."""
