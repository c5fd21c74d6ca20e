"""Run the program: ``python -m neurolens`` is the same as ``neurolens``."""

import os
import sys

from neurolens._program import program

if __name__ == "__main__":
    path = program()
    # The program takes the place of this process, so that signals, the terminal and the exit status are its own.
    os.execv(path, [path, *sys.argv[1:]])
