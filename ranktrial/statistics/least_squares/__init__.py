"""Means of effects that may be correlated: generalised least squares, components of variance, robust variances.

Its functions take only arrays; the intervals build on it. Nothing here reads or writes files.
"""
