#!/usr/bin/env python3
"""tutorial.py: every command of docs/tutorial.md runs, in order, and prints what the page shows, numbers roughly. The build is
the one that is there."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.environ["ZMPI_TEST_SOURCE"]
BUILD = os.path.dirname(os.environ["ZMPI_TEST_BIN"])
NOT_RUN = ("sudo ", "git clone ", "cd zmpi", "cmake ")
NUMBER = r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?"


def fail(*what):
    sys.exit("FAIL: " + " ".join(str(w) for w in what))


def commands(page):
    """Each command with the lines of output that the page shows: `$ ` begins one, `> ` goes on with it."""
    found = []
    for line in re.findall(r"^    (.*)$", page, re.M):
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif line.startswith("> "):
            found[-1][0] += "\n" + line[2:]
        else:
            found[-1][1].append(line)
    return found


def is_like(shown, printed):
    """The same words; numbers below 1 are times or errors, others may be off by a factor of two."""
    if re.sub(NUMBER, "1", shown).split() != re.sub(NUMBER, "1", printed).split():
        return False
    for a, b in zip(re.findall(NUMBER, shown), re.findall(NUMBER, printed)):
        a, b = (abs(float(x.replace(",", ""))) for x in (a, b))
        if max(a, b) >= 1 and not a / 2 <= b <= 2 * a:
            return False
    return True


def check(command, shown, printed):
    """The shown lines are there in this order; `...` stands for any."""
    rest = printed.splitlines()
    for line in shown:
        if line.strip() == "...":
            continue
        while rest and not is_like(line, rest[0]):
            rest.pop(0)
        if not rest:
            fail(f"{command}\nshows\n{line}\nprinted\n{printed}")
        rest.pop(0)


def tools(folder):
    """What the page means by mpicc, mpirun and python3: Open MPI, and a Python with NumPy."""
    os.mkdir(folder)
    for name in "mpicc", "mpirun":
        os.symlink(shutil.which(name + ".openmpi"), os.path.join(folder, name))
    for python in sys.executable, "/usr/bin/python3":
        if os.path.exists(python) and subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
            os.symlink(python, os.path.join(folder, "python3"))
            return True
    return False


def main():
    if not (shutil.which("mpicc.openmpi") and shutil.which("mpirun.openmpi") and os.path.exists(f"{BUILD}/lib/zmpi/openmpi/libzmpi.so")):
        print("no Open MPI")
        return 77
    said = subprocess.run([f"{BUILD}/bin/zmpi", "report", "nothing.json"], capture_output=True, text=True, check=False).stderr
    if "without cJSON" in said or not tools("tools"):
        print("no libcjson, or no NumPy")
        return 77
    for name, path in ("build", BUILD), ("docs", f"{TOP}/docs"), ("scripts", f"{TOP}/scripts"):
        os.symlink(path, name)
    with open(f"{TOP}/docs/tutorial.md", encoding="utf-8") as text:
        steps = commands(text.read())
    ran = 0
    for command, shown in steps:
        if command.startswith(NOT_RUN):
            continue
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=120, check=False)
        if done.returncode:
            fail(command, "ended with", done.returncode, done.stdout)
        check(command, shown, done.stdout)
        ran += 1
    if ran < 10:
        fail("only", ran, "commands")
    with open("heat.json", encoding="utf-8") as text:
        if json.load(text)["version"] != 1:
            fail("the report's version")
    with open("heat.html", encoding="utf-8") as text:
        if "heat2.bin" not in text.read():
            fail("heat.html")
    print(ran, "commands")
    return 0


if __name__ == "__main__":
    for variable in [v for v in os.environ if v.startswith("ZMPI_") and not v.startswith("ZMPI_TEST_")] + ["PYTHONPATH"]:
        os.environ.pop(variable, None)
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ["PATH"] = os.path.join(work, "tools") + os.pathsep + os.environ["PATH"]
        status = main()
        os.chdir("/")
    sys.exit(status)
