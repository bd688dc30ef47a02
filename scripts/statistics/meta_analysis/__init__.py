"""The effects of several tasks: their mean, how they differ, the effect in a new collection, the influence of each."""
