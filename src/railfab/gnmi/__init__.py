"""gnmi."""
