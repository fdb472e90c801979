"""Load, faults and what a process holds, for the tests of a daemon that is treated badly."""
