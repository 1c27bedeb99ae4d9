"""Random bytes for what reads bytes of others, and memory in which one access too far ends the process."""
