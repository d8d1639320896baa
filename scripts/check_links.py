#!/usr/bin/env python3
"""Do the links between documents lead somewhere: to a file that is there, and to a heading in it?

    check_links.py [FOLDER]     all *.md below it that git knows, or without git all; exit status 1 after a line for each that does not
"""
import os
import re
import shutil
import subprocess
import sys


def documents(top):
    if shutil.which("git"):
        found = subprocess.run(["git", "-C", top, "ls-files", "*.md"], capture_output=True, text=True)
        if found.returncode == 0 and found.stdout:
            return found.stdout.split()
    return [os.path.relpath(os.path.join(folder, name), top)
            for folder, _, names in os.walk(top) for name in names if name.endswith(".md")]


def anchors(path):
    """As GitHub makes them of headings."""
    with open(path) as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)
    headings = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h) for h in re.findall(r"^#+ +(.*)", text, re.M))
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}


def main():
    top, bad = sys.argv[1] if len(sys.argv) > 1 else ".", 0
    for name in documents(top):
        with open(os.path.join(top, name)) as file:
            links = re.findall(r"\]\(([^)\s]+)\)", file.read())
        for link in (k for k in links if "://" not in k):
            path, _, anchor = link.partition("#")
            path = os.path.join(top, os.path.dirname(name), path) if path else os.path.join(top, name)
            if not os.path.exists(path):
                print(f"{name}: {link} is not there")
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                print(f"{name}: {link}: no such heading")
            else:
                continue
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
