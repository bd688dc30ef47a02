"""Studies of transfer, as tables, figures and answers say them: the matrix of sources and targets, and curves."""
