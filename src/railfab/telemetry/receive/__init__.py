"""Receivers: from a target's Subscribe RPCs to buffers of raw gNMI messages."""
