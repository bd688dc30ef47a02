"""The effects of several tasks: their mean, heterogeneity, the prediction for a new collection, and influence."""
