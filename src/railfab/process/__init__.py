"""Processes of this machine: listening sockets, signals, cores, child processes, and servers in threads."""
