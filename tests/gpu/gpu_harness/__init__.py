"""Daemons, their clients and the stand-in machine, for the tests of GPU arrays."""
