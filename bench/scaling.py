#!/usr/bin/env python3
"""Simulates means of 1.5 and 100 TB with up to 100,000 workers, by the real planner and driver.

Prints tables in Markdown: the parameters of the model with their sources, and medians over five
seeds, also with each parameter reduced and increased by half. bench/simulate.c runs the simulation.
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
