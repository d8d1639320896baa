#!/usr/bin/env python3
"""kill_loop.py: processes die in the middle of writing; nothing that was synchronised is lost, nothing is invented.

    kill_loop.py [--count N] [--first SEED] [--ranks R] [--keep]

Each seed is one run of tests/faults/sequence.c. A rank (or all of them) is killed: before an operation, before, in or
after one of its system calls on the file, or from outside. The ranks' logs tell which writes had begun, which had
returned, and which were followed by a sync or close that some rank came out of. Then

  - zmpi decompress, and MPI, without repair and after zmpi fsck --repair, read the same bytes;
  - each of them is what some write that had begun put there, and not older than the last one before a sync;
  - the logical size fits that too;
  - zmpi fsck and zmpi verify find nothing wrong after the repair;
  - programs that go on writing to the file without a repair lose nothing either.

A failure keeps its folder and says how to repeat it. ZMPI_TEST_BIN, ZMPI_TEST_LIB and MPIEXEC as in all cli tests.
"""
import argparse
import array
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

MASK = (1 << 64) - 1
GOLD = 0x9E3779B97F4A7C15
FOREVER = 1 << 62
KILL, TEAR, AFTER = 4, 5, 6  # enum fault_act of tests/faults/shim.h
WRITE, READ, SYNC, RESIZE = 1, 2, 4, 8  # enum fault_call


class Failure(Exception):
    pass


def mix(seed, i):
    """check_mix of tests/mpi/check.h."""
    x = ((seed + 1) * GOLD + i * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


# ---- what the ranks say they did ----


class Op:
    """One operation of one rank; places and sizes count elements of 8 bytes."""

    def __init__(self, seed, rank, fields):
        self.rank, self.number, self.phase, self.kind = rank, int(fields[0]), int(fields[1]), fields[2]
        numbers = [int(x) for x in fields[3:]]
        self.done = self.durable = False
        self.runs = []  # (first element, one past the last, number of the first)
        self.count = 0
        if self.kind == "w":
            at, block, stride, self.count, noise = numbers
            if block == stride:
                self.runs = [(at, at + self.count, 0)] if self.count else []
            else:
                self.runs = [(at + k * stride, at + k * stride + block, k * block) for k in range(self.count // block)]
        elif self.kind == "h":
            self.low, zone, self.count, noise = numbers
            self.high = self.low + zone
        elif self.kind in "zp":
            self.size = numbers[0]
        self.values = array.array("Q", self.make_values(seed, noise) if self.count else [])

    def make_values(self, seed, noise):
        key = mix(seed, self.rank << 16 | self.number)
        if noise == 2:  # five variables of points
            return array.array("Q", array.array("d", (float((key % 1000 + i // 5) * 10 ** (i % 5))
                                                      for i in range(self.count))).tobytes())
        if not noise:
            return [(key + i) & MASK for i in range(self.count)]
        linear = [(key + i * GOLD) & MASK for i in range(self.count)]
        return [x ^ x >> 29 for x in linear]

    def before(self, other):
        """Must `other`, of the same bytes, win over this one? Of set_size all ranks know the place."""
        if self.rank == other.rank or "z" in (self.kind, other.kind):
            return self.number < other.number
        return self.phase < other.phase


def read_logs(prefix, seed, ranks):
    """The operations that had begun, of all ranks; also their processes."""
    operations, pids = [], {}
    for rank in range(ranks):
        mine = {}
        try:
            with open(f"{prefix}.{rank}", encoding="ascii") as log:
                lines = log.read().split("\n")[:-1]
        except FileNotFoundError:
            lines = []
        for line in lines:
            what, *fields = line.split()
            if what == "pid":
                pids[rank] = int(fields[0])
            elif what == "b":
                mine[int(fields[0])] = Op(seed, rank, fields)
            else:
                mine[int(fields[0])].done = True
        operations += mine.values()
    synced = max((o.number for o in operations if o.kind in "yc" and o.done), default=-1)
    for o in operations:
        o.durable = o.number < synced
    return operations, pids


# ---- what the file may hold ----


class Model:
    def __init__(self, operations, base):
        self.base = base  # the elements before
        sizes = {o.number: o for o in operations if o.kind == "z"}
        for number, size in sizes.items():
            size.durable = any(o.durable for o in operations if o.kind == "z" and o.number == number)
            size.runs = [(size.size, FOREVER, 0)]
        self.sizes = list(sizes.values())
        self.writes = [o for o in operations if o.kind == "w"]
        self.shared = [o for o in operations if o.kind == "h"]
        self.operations = operations

    def size_range(self):
        """Smallest and largest size the file may have, in elements."""
        low = high = len(self.base)
        seen = set()
        for o in sorted(self.operations, key=lambda o: o.number):
            if o.kind == "z":
                if o.number in seen:
                    continue
                seen.add(o.number)
                durable = [z for z in self.sizes if z.number == o.number][0].durable
                low = o.size if durable else min(low, o.size)
                high = o.size if durable else max(high, o.size)
                continue
            end = o.high if o.kind == "h" else o.size if o.kind == "p" else max([r[1] for r in o.runs], default=0)
            high = max(high, end)
            if o.durable:
                least = o.low + sum(p.count for p in self.shared if p.durable and p.low == o.low) if o.kind == "h" else end
                low = max(low, least)
        return low, high

    def check(self, data):
        low, high = self.size_range()
        if not low <= len(data) <= high:
            raise Failure(f"the size is {len(data)} elements, not from {low} to {high}")
        for begin, end, allowed, old in self.segments(len(data)):
            self.check_segment(data, begin, end, allowed, old)
        self.check_shared(data)

    def segments(self, size):
        """Stretches in which the same operations may have had the last word; the last item: may it be as before?"""
        events = {0: ([], []), size: ([], [])}
        for o in self.writes + self.sizes:
            for run in o.runs:
                if run[0] < size:
                    events.setdefault(run[0], ([], []))[0].append((o, run))
                    events.setdefault(min(run[1], size), ([], []))[1].append(o)
        for o in self.shared:
            for edge in (o.low, o.high):
                events.setdefault(min(edge, size), ([], []))
        active = {}
        edges = sorted(events)
        for begin, end in zip(edges, edges[1:]):
            for o in events[begin][1]:
                active.pop(o, None)
            active.update(events[begin][0])
            durable = [o for o in active if o.durable]
            allowed = [(o, run) for o, run in active.items() if not any(o.before(d) for d in durable)]
            yield begin, end, allowed, not durable

    def check_segment(self, data, begin, end, allowed, old):
        if any(o.low <= begin < o.high for o in self.shared):
            return  # check_shared
        is_ = data[begin:end]
        zeros = array.array("Q", bytes(8 * (end - begin)))
        choices = []
        if old:
            before = self.base[begin:end]
            choices.append(before + zeros[len(before):])
        for o, run in allowed:
            first = run[2] + begin - run[0]
            choices.append(zeros if o.kind == "z" else o.values[first:first + end - begin])
        if any(is_ == c for c in choices):
            return
        for i, x in enumerate(is_):
            if not any(c[i] == x for c in choices):
                names = [f"{o.kind} {o.number} of rank {o.rank}" for o, _ in allowed] + (["before"] if old else [])
                raise Failure(f"element {begin + i} is {x:x}: not what any of these wrote: {', '.join(names)}")

    def check_shared(self, data):
        """A shared write goes to a place of its own in its zone, as a whole."""
        owner = {}
        for o in self.shared:
            owner.update((v, (o, i)) for i, v in enumerate(o.values))
        found = {}
        for low, high in {(o.low, o.high) for o in self.shared}:
            for e in range(low, min(high, len(data))):
                if data[e] == 0 or (e < len(self.base) and data[e] == self.base[e]):
                    continue
                if data[e] not in owner:
                    raise Failure(f"element {e} is {data[e]:x}: no shared write put it there")
                o, i = owner[data[e]]
                found.setdefault(o, set()).add(e - i)
        for o in self.shared:
            places = found.get(o, set())
            gone = any(o.before(z) and z.size < o.high for z in self.sizes)
            if len(places) > 1:
                raise Failure(f"shared write {o.number} of rank {o.rank} is at {sorted(places)}")
            if o.durable and not gone:
                at = next(iter(places), None)
                if at is None or data[at:at + o.count] != o.values:
                    raise Failure(f"shared write {o.number} of rank {o.rank} is lost")


# ---- running ----


class Runner:
    def __init__(self, options):
        self.bin = os.environ["ZMPI_TEST_BIN"]
        self.zmpi = os.path.join(self.bin, "zmpi")
        self.program = os.path.join(self.bin, "tests", "sequence")
        self.mpiexec = os.environ.get("MPIEXEC", "mpiexec")
        version = subprocess.run([self.mpiexec, "--version"], capture_output=True, text=True, check=False)
        open_mpi = re.search("Open MPI|OpenRTE", version.stdout + version.stderr)
        self.flags = ["--oversubscribe"] if open_mpi else []
        self.components = os.environ.get("ZMPI_TEST_IO", "ompio").split() if open_mpi else [None]
        self.options = options

    def start(self, ranks, seed, session, folder, name, kill):
        env = dict(os.environ, ZMPI_ERROR_BOUND="lossless", ZMPI_STAGING="1M", ZMPI_REPORT_TEXT="off", ZMPI_LEAST_RATIO="0")
        component = self.components[seed % len(self.components)]
        if component:
            env["OMPI_MCA_io"] = component
        command = [self.mpiexec, *self.flags, "-n", str(ranks), "env", "LD_PRELOAD=" + os.environ["ZMPI_TEST_LIB"],
                   self.program, str(seed), str(session), f"{folder}/{name}.z", f"{folder}/{name}.log{session}", kill]
        with open(f"{folder}/{name}.out{session}", "wb") as out:
            return subprocess.Popen(command, env=env, stdout=out, stderr=out)

    @staticmethod
    def wait(process, folder, what):
        try:
            return process.wait(timeout=90)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Failure(f"{what} hangs: see {folder}") from None

    def tool(self, *arguments, status=(0,)):
        done = subprocess.run([self.zmpi, *arguments], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode not in status:
            raise Failure(f"zmpi {' '.join(arguments)}: status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def contents(self, path):
        if os.path.getsize(path) == 0:  # all was cut off, and then it was closed
            return array.array("Q")
        raw = path + ".raw"
        self.tool("decompress", path, raw)
        with open(raw, "rb") as f:
            data = f.read()
        os.remove(raw)
        if len(data) % 8:
            raise Failure(f"{path}: a size of {len(data)} bytes")
        return array.array("Q", data)


def log_lines(prefix, rank):
    try:
        with open(f"{prefix}.{rank}", "rb") as f:
            return f.read().count(b"\n")
    except FileNotFoundError:
        return 0


def plan(rng, ranks):
    """How somebody is killed: for the program, or (victim, lines in its log) for kill_outside."""
    victim = rng.choice([-1, 0, rng.randrange(ranks)])
    way = rng.randrange(10)
    if way < 2:
        return f"op:{victim}:{rng.randrange(1, 100)}", None
    if way < 4:
        return "none", (victim, rng.randrange(2, 90))
    act = rng.choice([KILL, TEAR, TEAR, AFTER])
    calls = rng.choice([WRITE, WRITE, WRITE, WRITE, SYNC, RESIZE | SYNC, READ])
    return f"call:{max(victim, 0)}:{act}:{calls}:{1 + int(rng.expovariate(1 / 12))}", None


def kill_outside(process, prefix, ranks, victim, lines):
    end = time.monotonic() + 90
    while process.poll() is None and log_lines(prefix, max(victim, 0)) < lines and time.monotonic() < end:
        time.sleep(0.001)
    _, pids = read_logs(prefix, 0, ranks)
    for rank, pid in pids.items():
        if process.poll() is None and victim in (-1, rank):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def gone(pids):
    """Wait for the killed job's processes: what they still write would spoil the comparison."""
    end = time.monotonic() + 20
    while any(os.path.exists(f"/proc/{p}") for p in pids) and time.monotonic() < end:
        time.sleep(0.01)


def killed_run(runner, seed, rng, ranks, folder):
    """Returns how it was killed."""
    for _ in range(20):
        for old in glob.glob(f"{folder}/*"):
            os.remove(old)
        kill, outside = plan(rng, ranks)
        process = runner.start(ranks, seed, 0, folder, "killed", kill)
        prefix = f"{folder}/killed.log0"
        if outside:
            kill_outside(process, prefix, ranks, *outside)
        try:
            status = runner.wait(process, folder, "the killed job")
        except Failure:
            if log_lines(prefix, 0) == 0:  # mpiexec, on a machine that is very busy
                continue
            raise
        operations, pids = read_logs(prefix, seed, ranks)
        gone(pids.values())
        with open(f"{folder}/killed.out0", encoding="utf-8", errors="replace") as f:
            said = f.read()
        # Who dies in the middle of the counters leaves none to those who live a moment longer: they must not guess.
        if "FAIL" in said and "the header's counters are damaged" not in said:
            raise Failure(said)
        if status:
            return (kill if not outside else f"outside:{outside[0]}:{outside[1]}"), operations
    raise Failure("nobody was killed in 20 attempts")


def examine(runner, seed, folder, operations, ranks):
    path = f"{folder}/killed.z"
    if not any(o.kind == "o" and o.done for o in operations):
        if not os.path.exists(path) or os.path.getsize(path) < 512:
            return 0
    untouched = f"{folder}/continued.z"
    shutil.copy(path, untouched)
    model = Model(operations, array.array("Q"))
    data = runner.contents(path)
    model.check(data)
    if os.path.getsize(path):
        runner.tool("fsck", path, status=(0, 1))
        runner.tool("fsck", "--repair", path)
        runner.tool("fsck", path)
        runner.tool("verify", path)
    if runner.contents(path) != data:
        raise Failure("other data after zmpi fsck --repair")
    go_on(runner, seed, folder, data, ranks)
    return len(data)


def go_on(runner, seed, folder, data, ranks):
    """Another program opens the file as the crash left it, reads it, and goes on writing."""
    process = runner.start(ranks, seed + 1000000, 1, folder, "continued", "none")
    status = runner.wait(process, folder, "the job that goes on")
    prefix = f"{folder}/continued.log1"
    if status:
        with open(f"{folder}/continued.out1", encoding="utf-8", errors="replace") as f:
            raise Failure(f"going on after the crash: status {status}: {f.read()}")
    before = array.array("Q")
    if os.path.exists(prefix + ".before"):
        with open(prefix + ".before", "rb") as f:
            before.frombytes(f.read())
    if before != data:
        raise Failure("MPI reads other data than zmpi decompress")
    operations, _ = read_logs(prefix, seed + 1000000, ranks)
    Model(operations, data).check(runner.contents(f"{folder}/continued.z"))
    if os.path.getsize(f"{folder}/continued.z"):
        runner.tool("verify", f"{folder}/continued.z")
        runner.tool("fsck", f"{folder}/continued.z")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=12, help="seeds to run [12]")
    parser.add_argument("--first", type=int, default=1, help="the first of them [1]")
    parser.add_argument("--ranks", type=int, help="instead of 1 to 3")
    parser.add_argument("--keep", action="store_true", help="keep every folder")
    options = parser.parse_args()
    runner = Runner(options)
    if not os.access(runner.program, os.X_OK):
        print("needs the MPI test programs")
        return 77
    failed = 0
    for seed in range(options.first, options.first + options.count):
        rng = random.Random(seed)
        ranks = rng.randint(1, 3)
        ranks = options.ranks or ranks
        folder = os.path.abspath(f"kill_{seed}")
        os.makedirs(folder, exist_ok=True)
        how = "?"
        try:
            how, operations = killed_run(runner, seed, rng, ranks, folder)
            size = examine(runner, seed, folder, operations, ranks)
            durable = sum(o.durable for o in operations)
            print(f"seed {seed}: {ranks} ranks, {how}: {len(operations)} operations, {durable} promised, {8 * size} bytes",
                  flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAIL: seed {seed}, {ranks} ranks, {how}: {failure}\n"
                  f"  again: tests/cli/kill_loop.py --first {seed} --count 1 --ranks {ranks}; kept: {folder}", flush=True)
            continue
        if not options.keep:
            shutil.rmtree(folder)
    print(f"{options.count - failed} of {options.count} kills survived")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
