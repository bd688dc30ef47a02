"""The power, smallest detectable effect and expected interval of study designs."""
