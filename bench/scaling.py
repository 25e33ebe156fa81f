#!/usr/bin/env python3
"""Means of 1.5 and 100 TB by up to 100,000 workers, in simulation: the real planner and driver.

Prints the parameters of the model with their sources, and medians over five seeds, also with each
parameter by half less and by half more, as tables in Markdown. bench/simulate.c does the work.
"""

import pathlib
import subprocess

SIMULATE = pathlib.Path(__file__).resolve().parents[1] / "build/release/bench/simulate"


def main():
    for options in (["--parameters"], ["--means", "--vary"]):
        subprocess.run([SIMULATE, *options], check=True)
        print()


if __name__ == "__main__":
    main()
