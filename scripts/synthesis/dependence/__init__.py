"""Effects that are not independent: clustered queries, tasks that share queries or checkpoints, luck of seeds.

Nothing here reads or writes files. clusters, units and influence say how queries hang together; covariance makes the
matrix of the effects from them; seeds_part adds the luck of checkpoints; dependent_tasks combines with least_squares/.
"""
