"""Simultaneous tests of all pairs of systems, or of all systems against one control, and compact letter displays.

A family is the set of differences that are tested together. docs/formulas.md has its formulas and their sources.
"""
