"""One task: the effect of paired scores with its interval and tests, seeds, and who wins how many queries."""
