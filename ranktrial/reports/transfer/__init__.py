"""Studies of transfer in tables, figures and answers: the matrix of sources and targets, and curves."""
