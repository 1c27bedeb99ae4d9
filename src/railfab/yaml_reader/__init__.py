"""The reader of YAML: a document composed once, within limits, with the line of each key, and its values."""
