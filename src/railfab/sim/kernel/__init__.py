"""The packet loop. Plain loops over records and integers: numba compiles them, and Python can run them as they are.

Time is in integer picoseconds. A *window* is at most as long as the shortest delay of a link, so that what a node does
in one window reaches no other node in the same window: nodes are processed one after the other, each with all its
packets of the window in order of time. This is the conservative synchronisation of Chandy, Misra and Bryant.
"""
