"""Writes the pages of the command: an index, and the help of each subcommand."""

import re
import subprocess
from pathlib import Path

COMMAND = Path(__file__).resolve().parents[1] / "build/release/cubed"


def run(*args):
    return subprocess.run([COMMAND, *args], capture_output=True, text=True, check=True).stdout


def verbs():
    """Returns the summaries of all subcommands by name."""
    listed = run("--help").split("\nsubcommands:\n")[1].split("\n\n")[0]
    return dict(re.findall(r"^ +([\w-]+) +(.*)$", listed, re.MULTILINE))


def index():
    rows = [f"| [`cubed {verb}`]({verb}.md) | {about} |" for verb, about in verbs().items()]
    return "\n".join(
        [
            "# The command\n",
            "One page for each subcommand. `cubed SUBCOMMAND --help` prints the same text, and"
            " `cubed help SUBCOMMAND --man` a man page.\n",
            "| subcommand | purpose |\n|---|---|",
            *rows,
            "",
            f"```text\n{run('--version')}```\n",
        ]
    )


def page(verb, about):
    return (
        f"# cubed {verb}\n\n{about[:1].upper()}{about[1:]}.\n\n```text\n{run(verb, '--help')}```\n"
    )


def pages():
    found = {f"reference/command/{v}.md": page(v, about) for v, about in verbs().items()}
    return {"reference/command/index.md": index(), **found}


def navigation():
    listed = [{f"cubed {v}": f"reference/command/{v}.md"} for v in verbs()]
    return {"The command": ["reference/command/index.md", *listed]}
