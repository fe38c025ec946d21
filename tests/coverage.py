#!/usr/bin/env python3
"""coverage.py -- which lines and branches of sdk/ the counts of gcc's --coverage say were run; for tests/coverage.sh.

    coverage.py OBJECTS LIST [--judge]

OBJECTS is the folder with the .gcno and .gcda files. LIST is tests/coverage.txt, which says how it is read. Prints a
row for each file that has something left over, then each line and each branch that was not run and is not in LIST. The
last line is "N passed, N failed": a file with all its lines is one that passed, and with --judge, so are the branches
and each entry of LIST.

Left out are the branches of assertions, which nobody can take without a fault of ours, and what stands behind an
assertion that is false, up to the end of its block, with the branch to it if it is a case; the branch of a switch to no
case at all, if it has no default, as -Wswitch-enum sees that all values are there; and the cases that do nothing, which
stand there for the same reason: their lines, and the branch to them, if none comes there.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

BRANCHES_WANTED = 95.0
NEVER = re.compile(r"\b(GH_ASSERT|GH_INVARIANT)\(.*\bfalse\)")
ASSERTION = re.compile(r"\b(GH_ASSERT|GH_INVARIANT|GH_CHECKED)\(")
IDLE_CASE = re.compile(r"^((case \w+|default):\s*)+(break;|return;)?\s*(/\*.*)?$")
ENTRY = re.compile(r"^ {4}(\S+) (\w+): (.+)$")


class Source:
    """The text of a file, and what is in it that is no branch of ours."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.asserted = set()
        self.never = set()
        for number, line in enumerate(self.lines, 1):
            if ASSERTION.search(line):
                self.asserted.update(range(number, self.end_of_call(number) + 1))
            if NEVER.search(line):
                self.never.update(range(number, self.end_of_block(number) + 1))

    def text(self, number):
        return self.lines[number - 1].strip()

    def end_of_call(self, number):
        while not self.lines[number - 1].rstrip().endswith(";") and number < len(self.lines):
            number += 1
        return number

    def end_of_block(self, number):
        while not re.match(r"^\s*(\}|break;|return\b|continue;)", self.lines[number - 1]):
            number += 1
        return number

    def labels_of_switch(self, number):
        """Lines of its cases and its default, by the indentation, which clang-format sees to. None: it is no switch."""
        line = self.lines[number - 1]
        if not line.lstrip().startswith("switch ("):
            return None
        indent = line[: len(line) - len(line.lstrip())]
        labels = []
        for other in range(number + 1, len(self.lines) + 1):
            if self.lines[other - 1] == indent + "}":
                break
            if re.match(indent + r"(case |default:)", self.lines[other - 1]):
                labels.append(other)
        return labels


class Counts:
    """Of one file: how often each line of each function ran, and each branch of it. A function of a header is in many
    objects, and counts as one."""

    def __init__(self):
        self.lines = collections.Counter()
        self.branches = {}

    def add(self, line):
        place = (line.get("function_name", ""), line["line_number"])
        self.lines[place] += line["count"]
        counts = [branch["count"] for branch in line["branches"]]
        known = self.branches.get(place)
        if known and len(known) == len(counts):
            counts = [a + b for a, b in zip(known, counts)]
        if counts:
            self.branches[place] = counts


def gather(objects):
    """Counts by path, from the root of the tree on; only of sdk/."""
    notes = sorted(glob.glob(os.path.join(objects, "*.gcno")))
    run = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities"] + notes,
                         check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    gathered = collections.defaultdict(Counts)
    for text in run.stdout.splitlines():
        unit = json.loads(text)
        for file in unit["files"]:
            path = os.path.relpath(os.path.join(unit["current_working_directory"], file["file"]))
            if path.startswith("sdk/"):
                for line in file["lines"]:
                    gathered[path].add(line)
    return gathered


def read_list(path):
    """{(file, function, text): line of the list}"""
    entries = {}
    reason = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            entry = ENTRY.match(line)
            if entry and not reason:
                sys.exit(f"{path}:{number}: no reason stands in front of it")
            if entry:
                entries[entry.groups()] = number
            elif line.startswith(" "):
                sys.exit(f"{path}:{number}: no entry: {line.strip()}")
            elif not line.startswith("#"):
                reason = line != ""
    return entries


def is_idle_end(text):
    """The last label of a case that does nothing."""
    return IDLE_CASE.match(text) and re.search(r"(break|return);", text)


def branches_of(source, counts, place):
    """Counts of those that are wanted."""
    function, number = place
    if number in source.asserted:
        return []
    found = list(counts.branches.get(place, []))
    labels = source.labels_of_switch(number)
    if labels is None:
        return found
    idle = sum(1 for label in labels if label + 1 in source.never or
               (is_idle_end(source.text(label)) and counts.lines[(function, label)] == 0))
    has_default = any(source.text(label).startswith("default:") for label in labels)
    for _ in range(idle + (not has_default)):
        if 0 in found:
            found.remove(0)
    return found


class Sum:
    def __init__(self):
        self.lines = self.lines_run = self.lines_listed = self.branches = self.branches_run = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def lines_percent(self):
        return 100.0 * (self.lines_run + self.lines_listed) / max(self.lines, 1)

    def branches_percent(self):
        return 100.0 * self.branches_run / max(self.branches, 1)


def look_at(path, counts, entries, used):
    """The sum of a file, and what is left over in it as texts."""
    source = Source(path)
    here = Sum()
    left = []
    for place in sorted(counts.lines, key=lambda place: place[1]):
        function, number = place
        if number in source.never or IDLE_CASE.match(source.text(number)):
            continue
        entry = (path, function, source.text(number))
        ran = counts.lines[place] > 0
        branches = branches_of(source, counts, place)
        taken = sum(1 for count in branches if count > 0)
        here.lines += 1
        here.lines_run += ran
        here.branches += len(branches)
        here.branches_run += taken
        if ran and taken == len(branches):
            continue
        used.add(entry)
        if entry in entries:
            here.lines_listed += not ran
        elif not ran:
            left.append(f"line    {path}:{number}: {function}: {source.text(number)}")
        else:
            left.append(f"branch  {path}:{number}: {function}: {source.text(number)}  "
                        f"({taken} of {len(branches)})")
    return here, left


def main():
    objects, list_path, judge = sys.argv[1], sys.argv[2], sys.argv[3:] == ["--judge"]
    entries = read_list(list_path)
    used = set()
    total = Sum()
    left = []
    passed = failed = 0
    print(f"{'lines':>7} {'branches':>9}")
    for path, counts in sorted(gather(objects).items()):
        here, left_here = look_at(path, counts, entries, used)
        total.add(here)
        left += left_here
        whole = here.lines_run + here.lines_listed == here.lines
        passed += whole
        failed += not whole
        if left_here:
            print(f"{here.lines_percent():6.1f}% {here.branches_percent():8.1f}%  {path}")
    print(f"{total.lines_percent():6.2f}% {total.branches_percent():7.2f}%  sdk: {total.lines_run} of {total.lines} "
          f"lines, {total.lines_listed} listed; {total.branches_run} of {total.branches} branches")
    print("\n".join(left))
    if judge:
        for entry, number in entries.items():
            if entry not in used:
                print(f"{list_path}:{number}: is run, or is not there: {' '.join(entry)}")
        stale = sum(1 for entry in entries if entry not in used)
        enough = total.branches_percent() >= BRANCHES_WANTED
        passed += len(entries) - stale + enough
        failed += stale + (not enough)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
