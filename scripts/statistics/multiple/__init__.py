"""Many systems at once: simultaneous tests of all pairs, or of all systems against one control, and compact letters.

A family is the set of differences that are tested together. docs/statistics.md has its formulas and their sources.
"""
