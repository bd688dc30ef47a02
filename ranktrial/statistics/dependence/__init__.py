"""Effects that are not independent: clustered queries, tasks that share queries or checkpoints, seed effects.

Nothing here reads or writes files. clusters, units and influence describe dependence between queries; covariance
computes the matrix of the effects from them; seeds_part adds seed variance.
"""
