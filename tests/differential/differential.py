#!/usr/bin/env python3
"""differential.py [OPTION...] PROGRAM RANKS -- LAUNCHER [ARGUMENT...]

Run differential on RANKS ranks with random MPI-IO programs. One that fails is run again by itself, and
with two plain files and no library in front: what the MPI library cannot do alone (wrong data or
results, a crash, a hang) is counted, set aside, and the next program has its turn. What only zmpi
gets wrong is shrunk to as few lines, ranks and small numbers as possible, and printed as C.
LAUNCHER starts as many processes as the number put behind its arguments.

  --preload LIBRARY     put in front of PROGRAM by LD_PRELOAD
  --seed S              of the programs (1)
  --random              a seed that is different every time
  --count N             how many (200)
  --first K             begin with this one (0)
  --time T              start no other program after T seconds
  --set-aside PERCENT   fail if more programs are set aside (10)
  --shrink-seconds T    give up shrinking then (240)
  --expect LINES        succeed only if a failure is found and shrinks to at most so many lines
  --replay FILE         run, and shrink, this program
  --bound BOUND         of the compressed file (lossless); abs=0.125 with --option=--numbers
  --option ARGUMENT     for PROGRAM, as in --option=--atomic; may be repeated
"""
import argparse
import collections
import os
import random
import re
import signal
import shutil
import subprocess
import sys
import tempfile
import time

BATCH = 200  # programs of one process
PROGRAM_SECONDS = 20  # more is a hang
HANG_SECONDS = 8  # where hangs are what is looked for
LAUNCH_SECONDS = 20  # to start and end
PLAIN_RUNS = 3  # MPI libraries do not fail every time


class Job:
    """How PROGRAM is started, and what became of it."""

    def __init__(self, options):
        self.options = options
        self.environment = dict(os.environ, ZMPI_ERROR_BOUND=options.bound, ZMPI_FILES="*,!*.plain",
                                ZMPI_REPORT_TEXT="off")
        self.environment.setdefault("ZMPI_LOG", "quiet")
        # In memory, if that can be had: every MPI_File_sync waits for a disk.
        memory = "/dev/shm"
        self.folder = tempfile.mkdtemp(prefix="differential-",
                                       dir=memory if os.access(memory, os.W_OK) else None)
        # All that MALLOC_PERTURB_ fills takes time: not 16 or 32 MiB for each collective call.
        hints = os.path.join(self.folder, "hints")
        with open(hints, "w", encoding="ascii") as f:
            f.write("cb_buffer_size 1048576\nind_rd_buffer_size 1048576\n")
        self.environment |= {"ROMIO_HINTS": hints, "OMPI_MCA_io_ompio_bytes_per_agg": "1048576"}

    def run(self, ranks, arguments, seconds=PROGRAM_SECONDS, programs=1, plain=False):
        """Exit status (None: it hung) and output."""
        # Who uses memory that was never written does it every time.
        command = self.options.launcher + [str(ranks), "env", "MALLOC_PERTURB_=165"]
        if self.options.preload and not plain:
            command.append("LD_PRELOAD=" + self.options.preload)
        command += [self.options.program, "--folder", self.folder, "--watchdog", str(seconds)]
        command += self.options.option + arguments + ["--plain"] * plain
        job = subprocess.Popen(command, env=self.environment, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
        try:
            # Behind the watchdog's back: the launcher itself hangs.
            output, _ = job.communicate(timeout=seconds * programs + LAUNCH_SECONDS)
            return job.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGTERM)  # the launcher ends its processes
            try:
                output, _ = job.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                output, _ = job.communicate()
            return None, output

    def fails_alone(self, ranks, arguments, failure, times=PLAIN_RUNS, programs=1):
        """What the MPI library makes of a program that failed, up to the line where it did. Wrong
        data in other lines are no excuse, and in none for a hang or a crash."""
        arguments = arguments + (["--lines", str(failure.line)] if failure.line else [])
        seconds = HANG_SECONDS if failure.kind == "hangs" else PROGRAM_SECONDS
        for _ in range(times):
            alone = failure_of(*self.run(ranks, arguments, seconds, programs, plain=True))
            if alone:
                return alone
        return None


# kind and call are what it has in common with smaller programs that show the same.
Failure = collections.namedtuple("Failure", "kind call program line")


def alike(a, b):
    return a and b and (a.kind, a.call) == (b.kind, b.call)


def failure_of(status, output):
    """None: there is none."""
    if status == 0:
        return None
    found = re.search(r"^MISMATCH: program (\d+), line (\d+) \((\w+)\), rank \d+: ([^:\n]*)",
                      output, re.M)
    if found:
        return Failure(found[4], found[3], int(found[1]), int(found[2]))
    if status is None or re.search(r"^HANGS:", output, re.M):
        return Failure("hangs", None, None, None)
    return Failure("crashes", None, None, None)


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
        candidate = ["--replay", "candidate"]
        seconds = HANG_SECONDS if self.want.kind == "hangs" else PROGRAM_SECONDS
        failure = failure_of(*self.job.run(text.ranks, candidate, seconds))
        return (alike(failure, self.want) and
                not self.job.fails_alone(text.ranks, candidate, failure, 1))

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


def shrink(job, options, found, failure):
    shrinker = Shrinker(job, failure, time.monotonic() + options.shrink_seconds)
    small = shrinker.shrink(found)
    small.save("shrunk")
    status, output = job.run(small.ranks, ["--replay", "shrunk"])
    print(f"shrunk from {len(found.lines)} to {len(small.lines)} lines in {shrinker.tried} runs: "
          f"{os.getcwd()}/shrunk")
    print("".join(" ".join(l) + "\n" for l in small.lines))
    print("\n".join(l for l in output.splitlines() if re.match("MISMATCH|HANGS", l)))
    status, listing = job.run(1, ["--emit", "shrunk"])
    with open("shrunk.c", "w", encoding="utf-8") as f:
        f.write(listing)
    print(listing, flush=True)
    return small


class Test:
    """A number of programs, and what became of them."""

    def __init__(self, job, options):
        self.job, self.options = job, options
        self.totals = collections.Counter()
        self.aside = collections.Counter()
        self.small = None  # the first failure, shrunk

    def failing_program(self, failure):
        """Number and Text of the program at which the run ended."""
        if self.options.replay:
            return 0, load(self.options.replay)
        number = failure.program
        if number is None:
            with open(os.path.join(self.job.folder, "progress"), encoding="ascii") as f:
                number = int(f.read())
        status, output = self.job.run(self.options.ranks, [
            "--seed", str(self.options.seed), "--first", str(number), "--save", "found"])
        if status != 0:
            sys.exit(f"differential.py: cannot write program {number}:\n{output}")
        return number, load("found")

    def judge(self, failure, number, text, first):
        """The failure, if it is zmpi's; `first` is the first program of the process."""
        text.save("found")
        found = ["--replay", "found"]
        again = failure_of(*self.job.run(text.ranks, found))
        alone = self.job.fails_alone(text.ranks, found, again or failure)
        if not again and not alone and not failure.line:  # something that others left behind?
            before = ["--seed", str(self.options.seed), "--first", str(first), "--count",
                      str(number + 1 - first)]
            alone = self.job.fails_alone(text.ranks, before, failure, 1, number + 1 - first)
        what = " ".join(w for w in (failure.kind, failure.call and f"({failure.call})") if w)
        if alone:
            verdict = f"{alone.kind} without zmpi"
        elif not again:
            verdict = "not when run again"
        else:
            print(f"program {number} of seed {self.options.seed}: {what}, not without zmpi",
                  flush=True)
            return again
        print(f"program {number} of seed {self.options.seed}: {what}; {verdict}: set aside",
              flush=True)
        self.aside[verdict] += 1
        return None

    def batch(self, first, count, seconds):
        """One process; the number of the next program."""
        arguments = ["--seed", str(self.options.seed), "--first", str(first), "--count",
                     str(count), "--time", str(seconds)]
        if self.options.replay:
            arguments = ["--replay", self.options.replay]
        progress = os.path.join(self.job.folder, "progress")
        with open(progress, "w", encoding="ascii") as f:
            f.write(str(first))
        status, output = self.job.run(self.options.ranks, arguments, programs=count)
        failure = failure_of(status, output)
        totals = re.search(r"^totals:.*", output, re.M)
        for name, number in re.findall(r" (\w+) (\d+)", totals[0] if totals else ""):
            self.totals[name] += int(number)
        if not failure:
            return first + count
        if not re.search("^(MISMATCH|HANGS)", output, re.M):
            print(f"exit status {status}: {output.strip()[-2000:]}", flush=True)
        print("\n".join(re.findall("^(?:MISMATCH|HANGS).*", output, re.M)), flush=True)
        number, text = self.failing_program(failure)
        failure = self.judge(failure, number, text, first)
        if failure:
            self.small = shrink(self.job, self.options, text, failure)
        if not totals:
            self.totals["programs"] += number + 1 - first
        return number + 1

    def run(self):
        first, options = self.options.first, self.options
        end, now = first + options.count, time.monotonic()
        deadline = now + options.time
        while first < end and not self.small and now < deadline:
            first = self.batch(first, min(BATCH, end - first), deadline - now)
            now = time.monotonic()
        return self.report()

    def report(self):
        aside, all_of_them = sum(self.aside.values()), self.totals["programs"]
        totals = ", ".join(f"{n} {name}" for name, n in self.totals.items() if name != "programs")
        print(f"seed {self.options.seed}, {self.options.ranks} ranks: {all_of_them - aside} "
              f"programs compared, {aside} set aside; {totals}")
        for verdict, n in self.aside.items():
            print(f"{n} set aside: {verdict}")
        if self.options.expect is not None:
            good = self.small and len(self.small.lines) <= self.options.expect
        else:
            good = not self.small and 100 * aside <= self.options.set_aside * all_of_them
        return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--preload")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--time", type=float, default=1e6)
    parser.add_argument("--set-aside", type=float, default=10)
    parser.add_argument("--shrink-seconds", type=float, default=240)
    parser.add_argument("--expect", type=int)
    parser.add_argument("--replay")
    parser.add_argument("--bound", default="lossless")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("program")
    parser.add_argument("ranks", type=int)
    parser.add_argument("launcher", nargs="+")
    options = parser.parse_args()
    if options.replay:
        options.count = 1
    missing = [p for p in (options.preload or "").split(":") if p and not os.path.exists(p)]
    if missing:
        sys.exit(f"differential.py: no {missing[0]}")
    if options.random:
        options.seed = random.SystemRandom().randrange(1, 10**9)
    job = Job(options)
    try:
        return Test(job, options).run()
    finally:
        shutil.rmtree(job.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
