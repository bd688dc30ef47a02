"""Simultaneous tests of all pairs of systems, or of all systems against one control, and compact letter displays.

A family is the set of differences that are tested together. docs/statistics.md has its formulas and their sources.
"""
