"""How fast an arm is: what is asked, how it is timed, and what the machine was doing meanwhile. Scores nothing."""
