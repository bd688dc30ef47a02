"""One task: the effect of paired scores with its interval and tests, seeds, wins and losses."""
