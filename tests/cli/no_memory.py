#!/usr/bin/env python3
"""zmpi, and programs from MPI_Init to MPI_Finalize, without memory: each allocation fails in turn (faults/memory.h).

A command ends with status 0 and the right output, or with another status and a line that says why; no signal, no
hang, nothing left behind, and a file that was to be changed is what it was, or what it was to be."""
import array
import glob
import math
import os
import shutil
import subprocess
import sys

BIN, LIB = os.environ["ZMPI_TEST_BIN"], os.environ["ZMPI_TEST_LIB"]
ZMPI = os.path.join(BIN, "zmpi")
SHIM = os.path.join(os.path.dirname(LIB.split(":")[0]), "libzmpi_test_memory.so")
SECONDS = 60
faults = 0


def fail(text):
    sys.exit(f"FAIL: {text}")


def run(command, at=None, times=1):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ZMPI_")}
    if at is not None:
        environment |= {"LD_PRELOAD": SHIM, "LACK": f"{at}:{times}", "LACK_OF": "program",
                        "LACK_COUNT": "count"}
    if os.path.exists("count"):
        os.remove("count")
    try:
        done = subprocess.run([ZMPI, *command], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        fail(f"zmpi {' '.join(command)}: hangs when allocation {at} fails")
    return done


def count():
    with open("count", encoding="ascii") as f:
        return sum(int(line) for line in f)


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def logical(path):
    """What the container holds."""
    done = run(["cat", path])
    return done.stdout if done.returncode == 0 else None


def sweep(command, check, prepare=lambda: None, normal=0):
    """check(done): of a run that ended well. normal: the status without a failure."""
    global faults
    prepare()
    wanted = run(command, at=0)
    if wanted.returncode != normal:
        fail(f"zmpi {' '.join(command)}: status {wanted.returncode}: {wanted.stderr.decode()}")
    total = count()
    for times in (1, 0):
        for at in range(1, total + 1, 1 if times else 4):
            prepare()
            before = set(os.listdir("."))
            done = run(command, at, times)
            what = f"zmpi {' '.join(command)}: allocation {at} of {total}, times {times}: status {done.returncode}"
            if done.returncode < 0:
                fail(what)
            if done.returncode != normal and not done.stderr + done.stdout:
                fail(f"{what}, and nothing is said")
            if done.returncode == normal:
                check(what, done, wanted)
            left = set(os.listdir(".")) - before - {"count", "out"}
            if left:
                fail(f"{what}: {left} left")
            faults += 1


def same_output(what, done, wanted):
    if done.stdout != wanted.stdout:
        fail(f"{what}: another output")


def anything(_what, _done, _wanted):
    pass


def make_files():
    """A field, containers of it, and one whose index is gone."""
    values = array.array("d", (math.sin(i / 100) + (i % 77 == 0) * 0.01 for i in range(60000)))
    with open("field", "wb") as f:
        values.tofile(f)
    run(["compress", "-t", "f64", "-e", "abs=1e-3", "-d", "20x30x100", "field", "good.zmpi"])
    shutil.copy("good.zmpi", "kept")
    with open("kept", "rb") as f:
        data = f.read()
    with open("torn", "wb") as f:
        f.write(data[:-40])


def put_out(source):
    return lambda: shutil.copy(source, "changed")


def remove_out():
    if os.path.exists("out"):
        os.remove("out")


def test_tool():
    field = contents("field")
    good = logical("good.zmpi")
    for more in (["-e", "abs=1e-3"], ["-e", "rel=1e-4", "--codec", "huffman"], ["-e", "psnr=60"],
                 ["-e", "rel=1e-3", "--codec", "interp"], ["-e", "pw_rel=1e-3"],
                 ["-e", "ratio=9"], ["-e", "lossless"]):
        def smaller(what, _done, _wanted, exact=more[1] == "lossless"):
            if run(["verify", "out"]).returncode:
                fail(f"{what}: a wrong file")
            if exact and logical("out") != field:
                fail(f"{what}: not the field")
        sweep(["compress", "-t", "f64", "-d", "20x30x100", *more, "field", "out"], smaller, remove_out)

    def right(what, _done, _wanted):
        if contents("out") != good:
            fail(f"{what}: wrong data")
    sweep(["decompress", "good.zmpi", "out"], right, remove_out)
    sweep(["cat", "-o", "1001", "-n", "70001", "good.zmpi"], same_output)
    for command in (["info", "--json", "-a", "good.zmpi"], ["info", "good.zmpi"], ["verify", "good.zmpi"],
                    ["fsck", "good.zmpi"], ["compare", "-t", "f64", "-d", "20x30x100", "--json", "field", "good.zmpi"],
                    ["options"]):
        sweep(command, same_output)
    sweep(["check", os.path.join(BIN, "wave3d")], anything)
    sweep(["info", "torn"], anything)
    sweep(["fsck", "torn"], anything, normal=1)

    def intact(what, _done, _wanted):
        if logical("changed") != good:
            fail(f"{what}: data are lost")
    put_out("torn")()
    sweep(["fsck", "--repair", "changed"], intact, put_out("torn"), run(["fsck", "--repair", "changed"]).returncode)
    sweep(["trim", "changed"], intact, put_out("good.zmpi"))
    # Whatever the status: what was there before is there.
    for source, command in (("torn", ["fsck", "--repair", "changed"]), ("good.zmpi", ["trim", "changed"])):
        for at in range(1, 60):
            put_out(source)()
            run(command, at, 0)
            if logical("changed") != good:
                fail(f"zmpi {' '.join(command)}: allocation {at} and all that follow: data are lost")


def test_programs():
    """From MPI_Init to MPI_Finalize: nobody hangs or crashes, and who is told that all was written finds it."""
    global faults
    with open("rules", "w", encoding="ascii") as f:
        f.write("[*]\nerror_bound = abs=1e-3\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ZMPI_")}
    environment |= {"ZMPI_CONFIG": "rules", "ZMPI_ERROR_BOUND": "abs=1e-3", "ZMPI_COLLECTIVE_MODE": "always",
                    "ZMPI_REPORT": "report.json"}
    program = os.path.join(BIN, "tests", "startup")
    oversubscribe = [] if "mpich" in os.environ["MPIEXEC"] else ["--oversubscribe"]
    good = None
    for at in [0, *range(1, 75, 12)]:
        for times, rank in ((1, -1), (0, -1), (0, 1)):
            environment["LACK"] = f"{at}:{times}:{rank}"
            if os.path.exists("out"):
                os.remove("out")
            what = f"allocation {at}, times {times}, rank {rank}"
            try:
                done = subprocess.run([os.environ["MPIEXEC"], *oversubscribe, "-n", "2", "env",
                                       f"LD_PRELOAD={LIB}:{SHIM}", program, "out"], env=environment, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
            except subprocess.TimeoutExpired:
                fail(f"{what}: hangs")
            if at == 0:
                good = logical("out")
            if "signal" in done.stderr or (done.returncode and "zmpi" not in done.stderr):
                fail(f"{what}: status {done.returncode}: {done.stderr}")
            if "written" in done.stdout and (not good or logical("out") != good):
                fail(f"{what}: what was written is not there")
            faults += 1


def main():
    if not os.path.exists(SHIM):
        sys.exit(77)
    for path in glob.glob("*"):
        os.remove(path)
    make_files()
    test_tool()
    test_programs()
    print(f"{faults} faults")


if __name__ == "__main__":
    main()
