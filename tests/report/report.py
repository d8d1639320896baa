#!/usr/bin/env python3
"""report.py: zmpi report and zmpi advise on made reports, and pages in a browser, where there is one."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ZMPI = os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi")
BAD = 'out/<script>console.log("here")</script>&"\'.bin'


def fail(*what):
    sys.exit("FAIL: " + " ".join(str(w) for w in what))


def zmpi(*arguments, status=0):
    done = subprocess.run([ZMPI, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    if done.returncode != status:
        fail(arguments, "status", done.returncode, done.stderr)
    return done.stdout, done.stderr


def estimates(*ratios, share=1.0):
    bounds = [("lossless", 0), ("rel=0.01", 1e-2), ("rel=0.001", 1e-3), ("rel=0.0001", 1e-4), ("rel=1e-05", 1e-5)]
    return [{"bound": b, "codec": "fle", "ratio": r, "seconds": 0.1, "bytes_saved": 1, "absolute_bound": 5 * s, "share_of_range": s * share}
            for (b, s), r in zip(bounds, ratios)]


def write(name, **report):
    with open(name, "w", encoding="utf-8") as out:
        json.dump({"zmpi": "0.1.0", "version": 1, "files": [], **report}, out)


def files(count):
    return [{"path": BAD if i == 0 else f"out/rho_{i:05d}.bin", "bound": "rel=0.001", "codec": "fle", "ranks": 4, "ratio": 8,
             "calls": [{"errors_on_samples": [0.0035, None], "absolute_bounds": [0.004]}] if i == 1 else [{"absolute_bounds": [0.008]}],
             "bytes_written": 8e7, "bytes_stored": 1e7, "bytes_read": 0, "seconds_range": 0.1, "seconds_compress": 1,
             "seconds_wait": 0.5, "seconds_write": 2} for i in range(count)]


def check_page(name):
    with open(name, encoding="utf-8") as text:
        page = text.read()
    if re.search(r"<script|https?:|\b(src|href)=(?!\"data:)|@import|url\(", page):
        fail(name, "has scripts or looks elsewhere")
    if "&lt;script&gt;console.log(&quot;here&quot;)" not in page or "<svg" not in page or "prefers-color-scheme:dark" not in page:
        fail(name, "lacks something")
    browser = shutil.which("chromium")
    if not browser:
        print("no chromium: pages were not opened")
        return
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--user-data-dir=profile",
                           "--dump-dom", "file://" + os.path.abspath(name)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if "CONSOLE" in done.stderr or "What was saved" not in done.stdout:
        fail("the browser says", done.stderr)


def sections(text):
    return {m[1]: dict(re.findall(r"^(\w+) = (.*)$", m[2], re.M)) for m in re.finditer(r"^\[(.*?)\]\n((?:[^\[\n].*\n|\n)*)", text, re.M)}


def check_advice():
    rows = [("run/rho_0001.bin", estimates(1.2, 20, 9, 6, 4), 0), ("run/rho_0002.bin", estimates(1.2, 20, 9, 6, 4), 0),
            ("restart_7.bin", estimates(1.3, 20, 9, 6, 4), 0), ("ids.bin", estimates(2, 2, 2, 2, 2), 1e6),
            ("noise.bin", estimates(1.01, 1.09, 1.05, 1.02, 1.01), 0)]
    write("dry.json", dry_run=[{"path": p, "bytes": 1e6, "bytes_float": 1e6, "bytes_whole_numbers": w, "estimates": e} for p, e, w in rows])
    for options, bound in ([], "rel=0.0001"), (["--psnr", "60"], "rel=0.001"), (["--psnr", "130"], "lossless"), \
                          (["--max-error", "0.05"], "rel=0.01"), (["--max-error", "0.01"], "rel=0.001"):
        rules = sections(zmpi("advise", *options, "dry.json")[0])
        want = {"rho_*.bin": bound, "restart_*.bin": "lossless", "ids.bin": "lossless"}
        if {k: v["error_bound"] for k, v in rules.items()} != want:
            fail("advise", options, rules)
    with open("rules.conf", "w", encoding="utf-8") as out:
        out.write(zmpi("advise", "dry.json")[0])
    said = subprocess.run([ZMPI, "options", "--file", "run/rho_0042.bin", "error_bound"], env=os.environ | {"ZMPI_CONFIG": "rules.conf"},
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    if "now rel=0.0001 (rule" not in said:
        fail("ZMPI_CONFIG", said)


def main():
    if "without cJSON" in zmpi("report", "nothing.json", status=2)[1]:
        print("no libcjson")
        return 77
    write("a.json", files=files(3), plain_files=[{"path": BAD, "why": "not selected", "new": True}],
          timeline={"seconds_of_a_bin": 0.1, "calls": [1, 0, 3], "bytes_written": [1e6, 0, 2e6], "bytes_read": [], "bytes_sent": [0, 0, 5e5],
                    "bytes_written_plain": [2.5e6, 0, 0], "bytes_read_plain": [5e5]})
    write("big.json", files=files(10000))
    zmpi("report", "a.json", "big.json", "-o", "both.html")
    check_page("both.html")
    with open("both.html", encoding="utf-8") as text:
        if text.read().count("9970 more are in the table") != 1:
            fail("how many files have no bar")
    with open("both.html", encoding="utf-8") as text:
        page = text.read()
    for said in "at most 40 MB/s in a bin of 0.1 s", ">plain files written<", ">plain files read<", "range 0.0", "coding 0.", "waiting 0.", "at most 3 in a bin", "<td>0.0035", "at most 0.008":
        if said not in page:
            fail("both.html lacks", said)
    if os.path.getsize("both.html") > 5 << 20:
        fail("both.html has", os.path.getsize("both.html"))
    said = zmpi("report", "big.json")[0]
    if said.count("\n") > 20 or "80.00" not in said:
        fail("in the terminal", said)
    check_advice()
    for text in "", "{", "[]", "7", '{"zmpi": 1}', '{"zmpi": "9", "version": 2, "files": []}', '{"zmpi": "0", "files": []}', \
                '{"zmpi": "0", "version": 1, "files": 7, "timeline": {"seconds_of_a_bin": 1, "calls": 7, "bytes_read": [null, "x", -1, 3]}, "dry_run": [1, {}, {"estimates": [{}]}]}':
        with open("bad.json", "w", encoding="utf-8") as out:
            out.write(text)
        status = 0 if "dry_run" in text else 2
        zmpi("report", "bad.json", status=status)
        zmpi("report", "bad.json", "-o", "bad.html", status=status)
        zmpi("advise", "bad.json", status=status)
    if "new files only" not in zmpi("advise", "a.json", status=2)[1]:  # of no dry run, or of one that found compressed files
        fail("advise does not say why there are no estimates")
    zmpi("advise", "--psnr", "much", "dry.json", status=2)
    zmpi("report", "a.json", "-o", "no/such.html", status=2)
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        status = main()
        os.chdir("/")
    sys.exit(status)
