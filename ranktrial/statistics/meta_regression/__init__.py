"""Models of the differences between the effects of tasks: moderators, subgroups, permutation tests."""
