#!/usr/bin/env python3
"""Write a text file as a C array: embed_text.py FILE OUT.c NAME HEADER."""

import sys
from pathlib import Path


def main() -> None:
    source, output, name, header = sys.argv[1:]
    # Above 127 as a character, whose number is negative on some processors and positive on others.
    data = [str(byte) if byte < 128 else f"'\\{byte:o}'" for byte in Path(source).read_bytes()] + ["0"]
    lines = [", ".join(data[at : at + 24]) + "," for at in range(0, len(data), 24)]
    Path(output).write_text(f'#include "{header}"\n\nconst char {name}[] = {{\n' + "\n".join(lines) + "\n};\n")


main()
