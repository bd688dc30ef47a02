"""Means of effects that may be correlated: generalised least squares, components of variance, robust variances.

It knows arrays alone, and lies below the intervals that are computed with it. Nothing here reads or writes files.
"""
