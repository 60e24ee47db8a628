"""Units of the front end."""
