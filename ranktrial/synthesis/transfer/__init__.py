"""Studies of transfer: the matrix of sources and targets, and curves over the number of training queries.

docs/formulas.md describes the tests.
"""
