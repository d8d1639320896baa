#!/usr/bin/env python3
"""differ.py [OPTION...] PROGRAM RANKS -- LAUNCHER [ARGUMENT...]

Run differ on RANKS ranks with random MPI-IO programs; shrink the first one that fails to as few
lines, ranks and small numbers as possible, and print it as C. LAUNCHER starts as many processes as
the number put behind its arguments.

  --preload LIBRARY     put in front of PROGRAM by LD_PRELOAD
  --seed S              of the programs (1)
  --random              a seed that is different every time
  --count N             how many (200)
  --first K             begin with this one (0)
  --seconds T           of one run, before it counts as hanging (240)
  --shrink-seconds T    give up shrinking then (240)
  --expect LINES        succeed only if a failure is found and shrinks to at most so many lines
  --replay FILE         run, and shrink, this program
  --option ARGUMENT     for PROGRAM, as in --option=--atomic; may be repeated
"""
import argparse
import os
import random
import re
import signal
import shutil
import subprocess
import sys
import tempfile
import time

CANDIDATE_SECONDS = 20  # a small program; more is a hang
HANG_SECONDS = 6  # where hangs are what is looked for


class Job:
    """How PROGRAM is started, and what became of it."""

    def __init__(self, options):
        self.options = options
        self.environment = dict(os.environ, ZMPI_ERROR_BOUND="lossless", ZMPI_FILES="*,!*.plain",
                                ZMPI_REPORT_TEXT="off")
        self.environment.setdefault("ZMPI_LOG", "quiet")
        # In memory, if that can be had: every MPI_File_sync waits for a disk.
        memory = "/dev/shm"
        self.folder = tempfile.mkdtemp(prefix="differ-",
                                       dir=memory if os.access(memory, os.W_OK) else None)

    def run(self, ranks, arguments, seconds):
        """Exit status (None: it hung) and output."""
        command = self.options.launcher + [str(ranks)]
        if self.options.preload:
            command += ["env", "LD_PRELOAD=" + self.options.preload]
        command += [self.options.program, "--folder", self.folder] + self.options.option
        command += arguments
        job = subprocess.Popen(command, env=self.environment, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
        try:
            output, _ = job.communicate(timeout=seconds)
            return job.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGTERM)  # the launcher ends its processes
            try:
                output, _ = job.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                output, _ = job.communicate()
            return None, output


def symptom(status, output):
    """What a failure has in common with the smaller ones that show the same; None: no failure."""
    if status == 0:
        return None
    found = re.search(r"^MISMATCH: .*?\((\w+)\), rank \d+: ([^:]*)", output, re.M)
    if found:
        return found.groups()
    return "hangs" if status is None else "crashes"


class Text:
    """A program as lines of words; the first line is `ranks N`."""

    def __init__(self, lines, ranks):
        self.lines, self.ranks = lines, ranks

    def save(self, path):
        with open(path, "w", encoding="ascii") as f:
            f.write(f"ranks {self.ranks}\n" + "".join(" ".join(l) + "\n" for l in self.lines))


def load(path):
    with open(path, encoding="ascii") as f:
        lines = [line.split() for line in f if line.strip() and line[0] != "#"]
    return Text(lines[1:], int(lines[0][1]))


class Shrinker:
    """Replays candidates as long as they fail in the same way."""

    def __init__(self, job, want, deadline):
        self.job, self.want, self.deadline, self.tried = job, want, deadline, 0

    def fails(self, text):
        if time.monotonic() > self.deadline:
            return False
        self.tried += 1
        text.save("candidate")
        seconds = HANG_SECONDS if self.want == "hangs" else CANDIDATE_SECONDS
        status, output = self.job.run(text.ranks, ["--replay", "candidate"], seconds)
        return symptom(status, output) == self.want

    def fewer_ranks(self, text):
        for ranks in range(1, text.ranks):
            if self.fails(Text(text.lines, ranks)):
                return Text(text.lines, ranks)
        return text

    def fewer_lines(self, text):
        size = max(1, len(text.lines) // 2)
        while size:
            at = 0
            while at < len(text.lines):
                candidate = Text(text.lines[:at] + text.lines[at + size:], text.ranks)
                if self.fails(candidate):
                    text = candidate
                else:
                    at += size
            size //= 2
        return text

    def smaller_numbers(self, text):
        for i, line in enumerate(text.lines):
            for k in range(2, len(line)):
                for small in smaller(int(line[k])):
                    changed = line[:k] + [str(small)] + line[k + 1:]
                    candidate = Text(text.lines[:i] + [changed] + text.lines[i + 1:], text.ranks)
                    if self.fails(candidate):
                        text, line = candidate, changed
                        break
        return text

    def shrink(self, text):
        text = self.fewer_lines(self.fewer_ranks(text))
        while True:
            before = [l[:] for l in text.lines], text.ranks
            text = self.fewer_lines(self.smaller_numbers(self.fewer_ranks(text)))
            if (text.lines, text.ranks) == before or time.monotonic() > self.deadline:
                return text


def smaller(value):
    """Simpler numbers in place of this one, the simplest first."""
    tries = [0, 1, value // 2, value - 1] if value > 0 else [0, -(-value // 2)]
    return [t for k, t in enumerate(tries) if t != value and t not in tries[:k]]


def failing_program(job, options, output):
    """The program at which the run ended, as Text."""
    if options.replay:
        return load(options.replay)
    found = re.search(r"^MISMATCH: program (\d+)", output, re.M)
    if found:
        number = found.group(1)
    else:
        with open(os.path.join(job.folder, "progress"), encoding="ascii") as f:
            number = f.read().strip()
    print(f"program {number} of seed {options.seed} fails", flush=True)
    arguments = ["--seed", str(options.seed), "--first", number, "--save", "found"]
    status, output = job.run(options.ranks, arguments, 60)
    if status != 0:
        sys.exit(f"differ.py: cannot write the program:\n{output}")
    return load("found")


def shrink(job, options, output):
    found = failing_program(job, options, output)
    found.save("found")
    status, output = job.run(found.ranks, ["--replay", "found"], CANDIDATE_SECONDS)
    want = symptom(status, output)
    if want is None:
        print("alone it does not fail: what went before it matters, or chance does")
        return None
    shrinker = Shrinker(job, want, time.monotonic() + options.shrink_seconds)
    small = shrinker.shrink(found)
    small.save("shrunk")
    status, output = job.run(small.ranks, ["--replay", "shrunk"], CANDIDATE_SECONDS)
    print(f"shrunk from {len(found.lines)} to {len(small.lines)} lines in {shrinker.tried} runs: "
          f"{os.getcwd()}/shrunk")
    print("".join(" ".join(l) + "\n" for l in small.lines))
    print("\n".join(l for l in output.splitlines() if l.startswith("MISMATCH")))
    status, listing = job.run(1, ["--emit", "shrunk"], 60)
    with open("shrunk.c", "w", encoding="utf-8") as f:
        f.write(listing)
    print(listing)
    return small


def test(job, options):
    arguments = ["--seed", str(options.seed), "--first", str(options.first), "--count",
                 str(options.count)]
    if options.replay:
        arguments = ["--replay", options.replay]
    status, output = job.run(options.ranks, arguments, options.seconds)
    print(f"seed {options.seed}: {output.strip()}", flush=True)
    if status == 0:
        return 0 if options.expect is None else 1
    print(f"exit status {status}: {symptom(status, output)}", flush=True)
    small = shrink(job, options, output)
    if options.expect is None:
        return 1
    return 0 if small and len(small.lines) <= options.expect else 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--preload")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--shrink-seconds", type=float, default=240)
    parser.add_argument("--expect", type=int)
    parser.add_argument("--replay")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("program")
    parser.add_argument("ranks", type=int)
    parser.add_argument("launcher", nargs="+")
    options = parser.parse_args()
    if options.random:
        options.seed = random.SystemRandom().randrange(1, 10**9)
    job = Job(options)
    try:
        return test(job, options)
    finally:
        shutil.rmtree(job.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
