"""Writes the pages of the C library: one for each public header.

A page consists of the comments and declarations of the header, and the values of enums from
tests/abi.txt.
"""

import itertools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include/cubed"

COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
#: Lines of a comment that describe a parameter, a field or a choice: a name, two spaces, words.
ENTRY = re.compile(r"^([\w.*]+(?:, [\w.*]+)*) {2,}(\S.*)$")
#: First lines of list items. The following lines of an item are indented.
ITEM = re.compile(r"^(- |\d+\. )(\S.*)$")
NAMES = (
    re.compile(r"^typedef (?:enum|struct) (\w+)(?: \{|;)"),
    re.compile(r"^(?:enum|struct) (\w+) \{"),
    re.compile(r"^#define (\w+)"),
    re.compile(r"^typedef .*?\(\*(\w+)\)", re.DOTALL),
    re.compile(r"^typedef .*?(\w+);$"),
    re.compile(r"(\w+)\s*\("),
    re.compile(r"(\w+)(?:\[\w*\])?;$"),
)
#: Lines that only the compiler and the preprocessor need.
GUARDS = re.compile(r"^#(?:ifndef|ifdef|if|endif|else|include|undef)\b|^extern \"C\"|^}$")


def headers():
    """Returns the public headers by name, such as "run.h" or "sys/codec.h"."""
    paths = [*sorted(INCLUDE.glob("*.h")), *sorted(INCLUDE.glob("sys/*.h"))]
    return {str(p.relative_to(INCLUDE)): p for p in paths}


def page_name(header):
    return f"reference/c/{header.replace('/', '-').removesuffix('.h')}.md"


def recorded():
    """Returns the values of all enum members."""
    found = {}
    for block in re.findall(r"^enum .*\n(?: .*\n)*", (ROOT / "tests/abi.txt").read_text(), re.M):
        found.update(re.findall(r"^ +(\w+) = (-?\d+)$", block, re.M))
    return found


VALUES = recorded()


def words(comment):
    """Returns the text of a comment without its stars."""
    return "\n".join(
        re.sub(r"^ ?\* ?", "", line.strip()) for line in comment.strip().splitlines()
    ).strip()


def escaped(text):
    """Escapes text as Markdown, except backquotes, and formats public C names as code."""
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        part = parts[i].replace("\\", "\\\\").replace("<", "&lt;").replace("*", "\\*")
        parts[i] = re.sub(r"\b((?:cubed_|CUBED_)\w+)", r"`\1`", part)
    return "".join(parts)


def prose(comment):
    """Yields the paragraphs and lists of a comment. Descriptions of parameters become a list."""
    for paragraph in re.split(r"\n\s*\n", words(comment)):
        parts = []  # list marker ("" in paragraphs), name of an entry, text
        for line in paragraph.splitlines():
            text = line.strip()
            if entry := ENTRY.match(text):
                parts.append(["- ", f"`{entry[1]}`: ", entry[2]])
            elif item := ITEM.match(text):
                parts.append([item[1], "", item[2]])
            elif parts and (not parts[-1][0] or parts[-1][1] or line.startswith(" ")):
                parts[-1][2] += " " + text
            else:
                parts.append(["", "", text])
        for _, some in itertools.groupby(parts, key=lambda part: bool(part[0])):
            yield "".join(f"{mark}{name}{escaped(text)}\n" for mark, name, text in some)


def blocks(text):
    """Yields pairs of a comment ("" if there is none) and the declarations that follow it."""
    text = re.sub(r"\\\n", "\0", text)
    comment, code = "", []
    position = 0
    while position < len(text):
        if code and code[0].startswith("#define") and not text.startswith("#define", position):
            yield comment, "\n".join(code).replace("\0", "\\\n")
            comment, code = "", []
        found = COMMENT.match(text, position)
        if found and not code:
            if comment:
                yield comment, ""
            comment, position = found[1], found.end()
            continue
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        # A comment after code may have several lines.
        while line.count("/*") > line.count("*/") and end < len(text):
            end = text.find("\n", end + 1)
            line = text[position:end]
        position = end + 1
        if GUARDS.match(line) and not (code and open_braces(code)):
            line = ""
        if line.strip():
            code.append(line)
        elif code and not open_braces(code):
            yield comment, "\n".join(code).replace("\0", "\\\n")
            comment, code = "", []
        if code and not open_braces(code) and complete(code):
            yield comment, "\n".join(code).replace("\0", "\\\n")
            comment, code = "", []
    if comment or code:
        yield comment, "\n".join(code).replace("\0", "\\\n")


def stripped(code):
    return COMMENT.sub("", "\n".join(code))


def open_braces(code):
    text = stripped(code)
    return text.count("{") > text.count("}")


def complete(code):
    """Returns whether a declaration is complete. Consecutive #defines form one block."""
    last = stripped(code).rstrip()
    return last.endswith((";", "}")) and not code[0].startswith("#define")


def name_of(code):
    text = COMMENT.sub("", code).strip()
    text = re.sub(r"^CUBED_API\s+", "", text)
    text = re.sub(r"^CUBED_MUST_CHECK\s+", "", text)
    text = re.sub(r"__attribute__\(\(.*?\)\)\)?\s*", "", text)
    for pattern in NAMES:
        if found := pattern.search(text):
            return found[1]
    return None


def members(code):
    """Returns the comment before or after each member of an enum, by member name."""
    inner = code[code.index("{") + 1 : code.rindex("}")]
    notes, name = {}, None
    pending = ""
    for part in re.finditer(r"/\*(.*?)\*/|(\bCUBED_\w+)|(\n)", inner, re.DOTALL):
        comment, found, newline = part.groups()
        if found and found in VALUES:
            name = found
            notes[name], pending = pending, ""
        elif comment:
            text = " ".join(words(comment).split())
            behind = inner[: part.start()].rpartition("\n")[2].strip()
            if name and behind:
                notes[name] = f"{notes[name]} {text}".strip()
            else:
                pending = text
    return notes


def generated_members(name, code):
    """Returns the summaries of the enum members that a table in cubed/*.def generates, by name."""
    include = re.search(r'#include "cubed/(\w+\.def)"', code)
    if not include:
        return {}
    rows = (INCLUDE / include[1]).read_text()
    prefix = re.search(r"#define \w+\([^)]*\)\s*(?:\\\n\s*)?(CUBED_\w+?_)##", code)
    found = {}
    for row in re.finditer(r"^CUBED_\w+\((\w+),(.*)\)\s*$", rows, re.MULTILINE):
        member = f"{prefix[1] if prefix else ''}{row[1]}"
        summary = re.findall(r'"((?:[^"\\]|\\.)*)"', row[2])
        if member in VALUES:
            found[member] = summary[-1] if summary and " " in summary[-1] else ""
    return found


def enum_table(name, code):
    notes = {**generated_members(name, code), **members(code)}
    yield "| name | value | meaning |\n|---|---|---|"
    for member, note in sorted(notes.items(), key=lambda item: int(VALUES[item[0]])):
        yield f"| `{member}` | {VALUES[member]} | {escaped(note).replace('|', chr(92) + '|')} |"
    yield ""


def names_of(code):
    """Returns the functions that a block declares, or else the single name that it declares."""
    plain = COMMENT.sub("", code)
    functions = re.findall(r"\b(cubed_\w+)\((?!\*)", plain)
    if functions and not re.match(r"^(?:typedef|enum|struct|#define)\b", plain):
        return list(dict.fromkeys(functions))
    return [name for name in [name_of(code)] if name and not name.endswith("_H")]


def section(comment):
    """Returns the title in a comment such as "--- Sorting ---", or None."""
    found = re.fullmatch(r"-{3} (.*?) -{3,}", words(comment))
    return found and found[1]


def described(comment, code):
    names = names_of(code)
    if not names:
        return
    name = names[0]
    yield f"### {', '.join(names)} {{ #{name} }}\n"
    yield from (f'<span id="{other}"></span>\n' for other in names[1:])
    yield from prose(comment)
    if re.match(r"^(?:typedef )?enum\b", code):
        yield from enum_table(name, code)
    else:
        yield f"```c\n{code}\n```\n"


def page(header):
    text = headers()[header].read_text()
    about, _, rest = text.partition("*/")
    parts = [
        f"# cubed/{header}\n",
        *prose(about.removeprefix("/*")),
        f"```c\n#include <cubed/{header}>\n```\n",
    ]
    for comment, code in blocks(rest):
        if title := section(comment):
            parts.append(f"## {title}\n")
            comment = ""
        if code:
            parts += described(comment, code)
        elif words(comment):
            parts += prose(comment)
    return "\n".join(parts)


def about(header):
    first = words(COMMENT.search(headers()[header].read_text())[1])
    return escaped(" ".join(first.split("\n\n")[0].split()))


def index():
    rows = [
        f"| [`cubed/{h}`]({page_name(h).removeprefix('reference/c/')}) | {about(h)} |"
        for h in headers()
    ]
    return "\n".join(
        [
            "# The C library\n",
            "One page for each public header. A page has all functions, structures, constants and"
            " values of enums, with their parameters, errors, ownership and thread safety."
            " `cubed/cubed.h` includes all headers that programs need. Headers in"
            " `cubed/sys` are for"
            " programs that add stores, codecs, sources, functions or executors.\n",
            "| header | contents |\n|---|---|",
            *rows,
            "",
        ]
    )


def pages():
    return {"reference/c/index.md": index(), **{page_name(h): page(h) for h in headers()}}


def navigation():
    return {
        "The C library": [
            "reference/c/index.md",
            *({h: page_name(h)} for h in headers()),
        ]
    }
