"""May this table be believed? Each file asks one question of a run directory."""
