#!/usr/bin/env python3
"""power.py: the power fails while programs write to a container, at any moment; what was synchronised is read, nothing is invented.

    power.py [--states N] [--traces N] [--first SEED] [--keep]

Every third trace begins with a plain file that is there, which becomes a container. Every sixth is of one record of many pages
in a new file. Each other trace is of a seeded program of MPI-IO calls (tests/faults/power/writer.c), on one rank or two: it closes the file or is
killed, then perhaps zmpi fsck --repair or zmpi trim runs, and a second such program goes on. tests/faults/power/states.c builds
states of the disk from the trace, and checks them; some of them once more when zmpi fsck --repair, or a program that writes
behind all (goes_on.c), has had them. A failure says how to repeat it. ZMPI_TEST_BIN, ZMPI_TEST_LIB and MPIEXEC as in
all cli tests.
"""
import argparse
import os
import random
import re
import subprocess
import sys

BIN = os.environ["ZMPI_TEST_BIN"]
PROGRAMS = os.path.join(BIN, "tests")
TRACER = os.path.join(os.path.dirname(BIN), "lib", "libzmpi_test_trace.so")
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec")
VERSION = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=False)
COMPONENTS = os.environ.get("ZMPI_TEST_IO", "").split() or ["ompio"]  # of Open MPI
OPEN_MPI = re.search("Open MPI|OpenRTE", VERSION.stdout + VERSION.stderr)


# Each of so many states, and what it then goes through.
COMMANDS = ["29", os.path.join(BIN, "zmpi") + " fsck --repair",
            "199", f"env LD_PRELOAD={os.environ['ZMPI_TEST_LIB']} {os.path.join(PROGRAMS, 'power_goes_on')}"]


class Failure(Exception):
    pass


def run(command, env, killed=False):
    done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", check=False, timeout=120)
    said = done.stdout + done.stderr
    if "FAIL" in said or (done.returncode != 0) != killed:
        raise Failure(f"{' '.join(command)}: status {done.returncode}: {said}")


def write(env, ranks, seed, session, file, end, *there):
    mpiexec = [MPIEXEC, *(["--oversubscribe"] if OPEN_MPI else []), "-n", str(ranks), "env",
               "LD_PRELOAD=" + os.environ["ZMPI_TEST_LIB"]]
    run([*mpiexec, os.path.join(PROGRAMS, "power_writer"), str(seed), str(session), file, end, *there], env, killed=end != "close")


def tool(env, *arguments):
    done = subprocess.run([os.path.join(BIN, "zmpi"), *arguments], env=dict(env, LD_PRELOAD=TRACER), capture_output=True, text=True,
                          check=False, timeout=120)
    if done.returncode:
        raise Failure(f"zmpi {' '.join(arguments)}: status {done.returncode}: {done.stdout}{done.stderr}")


def is_there(seed):
    return seed % 3 == 0


def is_one(seed):
    return seed % 6 == 4


def is_container(file):
    with open(file, "rb") as f:
        return f.read(5) == b"\x89ZMPI"


def make_trace(seed, keep):
    """What programs do to a file, as a trace; in words."""
    rng = random.Random(seed)
    file, trace = os.path.realpath(f"power_{seed}.z"), os.path.realpath(f"power_{seed}.trace")
    for name in file, trace, file + ".zmpi-new", file + ".zmpi-synced":
        if os.path.exists(name):
            os.remove(name)
    ranks, end = 1 + seed % 2, rng.choice(["close", "kill"])
    between = rng.choice(["nothing", "fsck", "trim"] if end == "close" else ["nothing", "fsck", "fsck"])
    env = dict(os.environ, ZMPI_ERROR_BOUND="lossless", ZMPI_REPORT_TEXT="off", ZMPI_LEAST_RATIO="0", POWER_TRACE=trace,
               POWER_FILE=file)
    if OPEN_MPI:
        env["OMPI_MCA_io"] = COMPONENTS[seed // 2 % len(COMPONENTS)]
    if is_one(seed):
        write(env, ranks, seed, 0, file, "one")
        os.remove(file)
        return trace, f"{ranks} ranks, one large record"
    there = ["there"] if is_there(seed) else []
    write(env, ranks, seed, 0, file, end, *there)
    if between != "nothing" and os.path.getsize(file) and (not there or is_container(file)):
        tool(env, *(["fsck", "--repair"] if between == "fsck" else ["trim"]), file)
    write(env, ranks, seed, 1, file, "close")
    if not keep:
        os.remove(file)
    return trace, ", ".join([f"{ranks} ranks, {end}, {between}", *there])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=2000, help="in all [2000]")
    parser.add_argument("--traces", type=int, default=6, help="of programs, which share them [6]")
    parser.add_argument("--first", type=int, default=1, help="seed of the first trace [1]")
    parser.add_argument("--keep", action="store_true", help="keep all files")
    options = parser.parse_args()
    if not os.access(os.path.join(PROGRAMS, "power_writer"), os.X_OK):
        print("needs the MPI test programs")
        return 77
    failed, each = 0, -(-options.states // options.traces)
    for seed in range(options.first, options.first + options.traces):
        how = "?"
        try:
            trace, how = make_trace(seed, options.keep)
            env = dict(os.environ, POWER_KEEP=f"power_{seed}.bad", ZMPI_LEAST_RATIO="0", ZMPI_ERROR_BOUND="lossless",
                       ZMPI_LOG="error", ZMPI_REPORT_TEXT="off")
            if is_there(seed):
                env["POWER_THERE"] = "1"
            done = subprocess.run([os.path.join(PROGRAMS, "power_states"), trace, str(1000000 * seed), str(each), *COMMANDS],
                                  env=env, capture_output=True, text=True, check=False, timeout=1200)
            if done.returncode:
                raise Failure(done.stdout + done.stderr)
            print(f"{how}: {done.stdout}", end="", flush=True)
            if not options.keep:
                for name in trace, trace + ".state", trace + ".said":
                    if os.path.exists(name):
                        os.remove(name)
        except Failure as failure:
            failed += 1
            print(f"FAIL: {how}: {failure}\n  again: tests/cli/power.py --first {seed} --traces 1 --states {each}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
