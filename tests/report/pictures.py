#!/usr/bin/env python3
"""Pictures of zmpi-perf and zmpi bench: machine, field, date and bounds in each, every result is drawn, gnuplot has nothing to say."""

import json
import os
import re
import shutil
import subprocess

BIN, SOURCE = os.environ["ZMPI_TEST_BIN"], os.environ["ZMPI_TEST_SOURCE"]
BOUNDS, CODECS = ["rel=1e-2", "pw_rel=1e-3", "psnr=60", "ratio=8", "lossless"], ["fle", "huffman", "interp"]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done


def script(name):
    with open(name, encoding="utf-8") as f:
        return f.read()


def points(text, prefix):
    """How many points are in the data blocks $PREFIX..."""
    return sum(len(rows.splitlines()) for rows in re.findall(rf"^\${prefix}\w* << END\n(.*?)^END$", text, re.M | re.S))


def draw(folder, names):
    """gnuplot takes them without a word, where it is."""
    if not shutil.which("gnuplot"):
        print("no gnuplot: scripts are not run")
        return
    for name in names:
        done = subprocess.run(["gnuplot", name + ".gp"], cwd=folder, capture_output=True, text=True, check=True)
        assert not done.stderr + done.stdout, (name, done)
        assert os.path.getsize(os.path.join(folder, name + ".png")) > 10000


def perf():
    launcher = [os.environ["MPIEXEC"]]
    if "OMPI" in run(*launcher, "--version").stdout or "Open" in run(*launcher, "--version").stdout:
        launcher.append("--oversubscribe")
    files, results = [], []
    for ranks in 1, 2:
        files.append(f"r{ranks}.json")
        run(*launcher, "-n", str(ranks), os.path.join(BIN, "zmpi-perf"), "-s", "512K", "-n", "2", "-w", "1", "-e", ",".join(BOUNDS),
            "--codec", ",".join(CODECS), "-m", "always,measured", "-o", "write_at_all,gather", "--note", "link='<a>", "-j", files[-1])
        with open(files[-1], encoding="utf-8") as f:
            data = json.load(f)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", data["date"])
        results += data["results"]
    run(os.path.join(SOURCE, "scripts/perf_plots.py"), ".", *files)
    drawn = [r for r in results if r["bytes"] and r["bound"]]
    plain = [r for r in results if r["bytes"] and not r["bound"]]
    assert len(drawn) == 15 + 15 + 30 and len(plain) == 3  # a gather of one rank moves nothing
    count = {"throughput": points(script("throughput.gp"), "t"), "speedup": points(script("speedup.gp"), "s"),
             "breakdown": points(script("breakdown.gp"), "b")}
    assert count == {"throughput": 60 + 3 * len(BOUNDS), "speedup": 60, "breakdown": 60}, count
    for name in count:
        text = script(name + ".gp")
        for said in (data["machine"]["cpu"], data["machine"]["mpi"], data["date"][:10], data["parameters"]["field"],
                     "gather on 1 rank", "link=''<a>", "fastest and slowest", *BOUNDS, *(CODECS if name != "breakdown" else [])):
            assert said in text, (name, said)
    draw(".", count)
    # Like results of several files are one point, and it is said.
    run(os.path.join(SOURCE, "scripts/perf_plots.py"), ".", *files, files[1])
    assert points(script("throughput.gp"), "t") == 60 + 3 * len(BOUNDS) and "of several files" in script("throughput.gp")


def bench():
    shutil.rmtree("bench", ignore_errors=True)
    os.makedirs("bench/raw")
    n = 0
    for bound in "rel=1e-2", "lossless":
        for codec in CODECS:
            for kind, options in ("speed", ["--threads", "1..2"]), ("quality", []):
                n += 1
                done = run(os.path.join(BIN, "zmpi"), "bench", "--json", "--size", "128K", "--repetitions", "2", "-e", bound,
                           "--codec", codec, "--peers", *options)
                with open(f"bench/raw/{kind}-{n}.json", "w", encoding="utf-8") as f:
                    f.write(done.stdout)
    run(os.path.join(SOURCE, "scripts/bench/bench_tables.py"), "--machine", "zmpi on this, 2 cores, 2026-11-29", "--zmpi",
        os.path.join(BIN, "zmpi"), "bench")
    names = ["throughput", "rate_distortion", "slice"]
    for name in names:
        text = script(f"bench/raw/{name}.gp")
        assert "zmpi on this, 2 cores, 2026-11-29" in text and "generated" in text and "rel=" in text, name
        for codec in CODECS if name != "slice" else []:
            assert f"title '{codec}'" in text and (name != "throughput" or f"title '{codec}, 2 threads'" in text), (name, codec)
    draw("bench/raw", names)


perf()
bench()
