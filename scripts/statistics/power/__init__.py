"""What a design of a study can show: its power, smallest detectable effect and expected interval."""
