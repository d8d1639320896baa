#!/usr/bin/env python3
"""Does scripts/zmpi_reader.py, written from docs/format.md alone, read what zmpi writes?

    reader_test.py ZMPI READER GOLDEN_FOLDER [CONTAINER...]

ZMPI is the tool. Compresses data of all kinds and compares `zmpi cat` with the reader's cat, byte
for byte; likewise for the golden files, the smallest real fields of the folder ZMPI_DATA and any
CONTAINER given, or named in ZMPI_READER_CONTAINERS: those that MPI programs wrote.
"""
import array
import contextlib
import importlib.util
import io
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

# Length of HASHED to hash, XXH3 with seed 0, XXH3 with seed 0x9E3779B185EBCA8D: from xxHash 0.8.
VECTORS = (
    (0, 0x2D06800538D394C2, 0xA8A6B918B2F0364A),
    (1, 0xC44BDFF4074EECDB, 0x032BE332DD766EF8),
    (2, 0x9093381C8763D62E, 0x9304FC2DC05B7A79),
    (3, 0xC18747DD6A92C907, 0xFEDAB393C2FF4F84),
    (4, 0xD5EDF422017FFC22, 0xFB180DE0B161AC39),
    (7, 0xA6492EAC318DD1E9, 0x11B4224B35E28C15),
    (8, 0xFCEBD701DFECBC13, 0x36D35ADB7CC27006),
    (9, 0xD9760B3CEDE867E1, 0xAB3988562898F3D6),
    (16, 0xE087DB3D5D03AE53, 0xC484640F6341A04C),
    (17, 0x97FC5E49160A44F7, 0xC03BFDF187487280),
    (32, 0xC29852CBA1E6E5DD, 0xFA1A65D4F14CB9E9),
    (33, 0x7E9AFA961E24C42C, 0xDD71B6787102A008),
    (64, 0x7D566E7F70E8C57C, 0x78E55C188C5B2B57),
    (65, 0xACF61BA06280ACB8, 0x24CF1313D2C3531E),
    (97, 0xA6FD9782B70CD115, 0x19BD100EF859B33A),
    (128, 0xE7E694CC41FED4A6, 0xAE1699340D6DD764),
    (129, 0x813FD953C2AE6C62, 0xD4EF70C3B387E1D1),
    (145, 0xDF4C8FE731FC3CB6, 0x7AC0620055CC41E6),
    (240, 0x9EC48D06749FD3CD, 0xD4622A0F3BB567C2),
    (241, 0x7822064BC3B1053E, 0x0FA588AA09AF4EC6),
    (256, 0x80CDC85A455E47A9, 0x69CC1FAA8CB78E02),
    (1024, 0xE7BA1BC9411738A8, 0xA71C46CA701D116A),
    (1025, 0xE638FD088DCF92F5, 0x8B6252491CFCCEAD),
    (1088, 0x40374FBFB36E4855, 0x861CFBF2EEA2AFEF),
    (1089, 0xCB78E3A97DC4E813, 0x146C0D460943CA57),
    (2048, 0x175DC85B948DF87A, 0xF22E6ECFEB89B52F),
    (2049, 0x35A9E81C213AEC62, 0x8C703C79512897BE),
    (5000, 0xB492A79736C0AFFD, 0x54C63B3DD6F20B8F),
)
HASHED = bytes(i * i * 7 + i // 3 & 255 for i in range(5000))

BOUNDS = ("abs=1e-3", "rel=1e-4", "pw_rel=1e-3", "lossless")
CODECS = ("fle", "huffman")
SHAPES = ((1, 1, 4211), (1, 47, 97), (9, 21, 23))  # more than a chunk
if os.environ.get("ZMPI_TEST_LONG"):
    SHAPES = ((1, 1, 20011), (1, 101, 203), (17, 33, 41))
REAL_FIELDS = 6  # the smallest ones


def load_reader(path):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("zmpi_reader", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, check=True).stdout


def read(*arguments):
    """What the reader prints. In this process: to start another takes longer than to read most containers."""
    printed = io.TextIOWrapper(io.BytesIO(), write_through=True)
    with contextlib.redirect_stdout(printed):
        status = MODULE.main([str(a) for a in arguments])
    if status != 0:
        raise AssertionError(f"the reader's status is {status}: {arguments}")
    return printed.buffer.getvalue()


# ---- data: element i of n ----


def wave(i):
    return 5 + 3 * math.sin(0.03 * i) + 0.5 * math.cos(0.4 * i)


def smooth(random_, i):
    return wave(i)


def noise(random_, i):
    return random_.uniform(-1, 1)


def decades(random_, i):
    return random_.uniform(-1, 1) * 10.0 ** random_.randint(-20, 4)  # more of them would look like no floats


def spikes(random_, i):
    return 1e30 if random_.random() < 0.02 else wave(i)


def special(random_, i):
    values = (math.nan, math.inf, -math.inf, -0.0, 1e-44, 1e20, 9.96921e36)
    return random_.choice(values) if random_.random() < 0.01 else wave(i)


def constant(random_, i):
    return -273.15


def patches(random_, i):
    return (0, wave(i), 100 * random_.random(), 1e20)[i // 777 % 4]


KINDS = (smooth, noise, decades, spikes, special, constant, patches)


def make(kind, element, count):
    random_ = random.Random(kind.__name__)
    return array.array(element, [kind(random_, i) for i in range(count)]).tobytes()


def real_fields():
    """(path, type, extents) of the smallest fields; leading dimensions are folded to three."""
    fields = []
    for path in pathlib.Path(os.environ.get("ZMPI_DATA", "")).glob("*_*.f??"):
        match = re.fullmatch(r".*_([0-9x]+)\.(f32|f64)", path.name)
        if match:
            dims = [int(n) for n in match.group(1).split("x")]
            dims = [1] * (3 - len(dims)) + dims
            fields.append((path, match.group(2), [math.prod(dims[:-2])] + dims[-2:]))
    return sorted(fields, key=lambda field: (field[0].stat().st_size, field[0].name))[:REAL_FIELDS]


class ReaderTest(unittest.TestCase):
    turn = 0  # both encoders with every bound

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.container = pathlib.Path(self.folder.name) / "a.zmpi"

    def check(self, container):
        """Whole and in part, both readers see the same."""
        expected = run(ZMPI, "cat", container)
        got = read("cat", container)
        self.assertEqual(len(got), len(expected), container)
        # Not assertEqual: its message would be megabytes long.
        self.assertTrue(got == expected, f"{container}: other bytes")
        offset, length = len(expected) // 3, len(expected) // 2
        part = read("cat", container, offset, length)
        self.assertTrue(part == expected[offset:offset + length], f"{container}: a part")
        self.assertTrue(part == run(ZMPI, "cat", container, "-o", offset, "-n", length),
                        f"{container}: a part by zmpi")
        self.assertIn(b"container", read("info", container))
        self.check_tally(container)
        return expected

    def check_tally(self, path):
        container = MODULE.Container(pathlib.Path(path).read_bytes())
        if container.slot.tally is not None and container.listed == len(container.records):
            self.assertEqual(container.slot.tally, tally_of(container.records))

    def compress(self, source, element, bound, shape, codec=None):
        dims = "x".join(map(str, shape))
        codec = codec or CODECS[(ReaderTest.turn + ReaderTest.turn // len(BOUNDS)) % 2]
        ReaderTest.turn += 1
        self.container.unlink(missing_ok=True)
        run(ZMPI, "compress", "--codec", codec, "-t", element, "-e", bound, "-d", dims, source,
            self.container)
        self.assertRegex(read("info", self.container), rb" (\d+) records, \1 in the index")
        return self.check(self.container)

    def check_data(self, data, element, shape, bounds=BOUNDS):
        source = pathlib.Path(self.folder.name) / "a.raw"
        source.write_bytes(data)
        for bound in bounds:
            with self.subTest(element=element, bound=bound, shape=shape):
                decoded = self.compress(source, element, bound, shape)
                self.assertEqual(len(decoded), len(data))
                if bound == "lossless":
                    self.assertTrue(decoded == data, "not lossless")

    def test_data(self):
        for element, code in (("f32", "f"), ("f64", "d")):
            for number, kind in enumerate(KINDS):
                shape = SHAPES[number % len(SHAPES)]
                self.check_data(make(kind, code, math.prod(shape)), element, shape)

    def test_interp(self):
        """Encoder 3, whose streams are smaller than those of the others where it is taken."""
        source = pathlib.Path(self.folder.name) / "a.raw"
        taken = 0
        for number, kind in enumerate(KINDS):
            for element, code, bound in (("f32", "f", "rel=1e-3"), ("f64", "d", "abs=1e-2")):
                shape = SHAPES[(number + (code == "d")) % 3]
                source.write_bytes(make(kind, code, math.prod(shape)))
                with self.subTest(kind=kind.__name__, element=element, shape=shape):
                    self.compress(source, element, bound, shape, "interp")
                    taken += b"interp" in read("info", self.container)
        self.assertGreater(taken, 5)

    def test_random_bits(self):
        for element, size in (("f32", 4), ("f64", 8)):
            data = random.Random(element).randbytes(5003 * size)
            self.check_data(data, element, (1, 1, 5003), ["lossless"])  # with a bound they are refused

    def test_tiny(self):
        for count in (1, 2, 31, 32, 33):
            self.check_data(make(smooth, "f", count), "f32", (1, 1, count))

    def test_real_fields(self):
        fields = real_fields()
        if not fields:
            self.skipTest("no fields: ZMPI_DATA names no folder of them")
        for path, element, shape in fields:
            with self.subTest(field=path.name):
                self.compress(path, element, "ratio=6", shape)

    def test_golden_files(self):
        files = sorted(GOLDEN.glob("*.zmpi"))
        self.assertGreater(len(files), 10)
        for path in files:
            with self.subTest(file=path.name):
                self.check(path)

    def test_program(self):
        """As a user starts it."""
        path = GOLDEN / "f32_pw_rel.zmpi"
        for arguments in (("cat", path), ("cat", path, 40, 100), ("info", path)):
            self.assertEqual(run(sys.executable, READER, *arguments), read(*arguments))
        for wrong, status in ((("cat", READER), 1), (("dog", path), 2), ((), 2)):
            done = subprocess.run([sys.executable, READER, *wrong], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (status, b""))
            self.assertIn(b"zmpi_reader.py", done.stderr)

    def test_given_containers(self):
        for path in CONTAINERS:
            with self.subTest(file=path):
                self.check(path)


def tally_of(records):
    """Which records these are (2.6)."""
    return sum(MODULE.xxh3(struct.pack("<2Q", r.offset, r.order)) for r in records) % 2**64


class DamageTest(unittest.TestCase):
    """The reader refuses what is damaged; it must not show other numbers."""

    def read(self, data):
        container = MODULE.Container(data)
        return bytes(container.read(0, container.size))

    def test_flipped_bytes(self):
        for name in ("f32_exceptions", "f32_pw_rel", "huffman_f64"):
            self.flip((GOLDEN / f"{name}.zmpi").read_bytes())

    def flip(self, data):
        expected = self.read(data)
        for at in list(range(0, 200)) + list(range(512, len(data), 13)):
            damaged = bytearray(data)
            damaged[at] ^= 0x10
            try:
                self.assertTrue(self.read(bytes(damaged)) == expected, f"byte {at}")
            except MODULE.FormatError:
                pass

    def test_lost_with_the_index(self):
        """Where the index is damaged the header tells whether a record is missing."""
        data = bytearray((GOLDEN / "indexed.zmpi").read_bytes())
        container = MODULE.Container(bytes(data))
        slot = container.slot
        data[slot.index] ^= 1
        of_all = tally_of(container.records)
        for tally, told in ((struct.pack("<2Q", slot.generation, of_all), True),
                            (struct.pack("<2Q", slot.generation + 2, 1), False)):
            place = 128 if slot.generation % 2 else 152
            data[place:place + 24] = tally + struct.pack("<Q", MODULE.xxh3(tally))
            self.assertTrue(MODULE.Container(bytes(data)).whole)
            for record in container.records:
                damaged = bytearray(data)
                damaged[record.offset:record.end()] = bytes(record.end() - record.offset)
                fewer = MODULE.Container(bytes(damaged))
                self.assertEqual(fewer.whole, not told and fewer.size >= slot.size)
                self.check_program(damaged, fewer)

    def check_program(self, data, container):
        """What is there is written, and the status tells whether that is all."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            done = subprocess.run([sys.executable, READER, "cat", file.name], capture_output=True,
                                  check=False)
        self.assertEqual(done.returncode, 0 if container.whole else 1)
        self.assertEqual(b"may be missing" in done.stderr, not container.whole)
        self.assertEqual(done.stdout, container.read(0, container.size))

    def test_newer_encoder(self):
        """A stream by an encoder that is not known says that it is newer, not that it is damaged."""
        header = bytearray(80)
        header[:9] = b"ZSTR" + bytes((1, 1, 1, 0, max(MODULE.ENCODERS) + 1))
        with self.assertRaisesRegex(MODULE.FormatError, "newer"):
            MODULE.Stream(bytes(header))
        header[8] = 0
        with self.assertRaisesRegex(MODULE.FormatError, "encoder$"):
            MODULE.Stream(bytes(header))

    def test_cut_off(self):
        data = (GOLDEN / "f32_pw_rel.zmpi").read_bytes()
        for size in list(range(0, 600, 8)) + list(range(600, len(data), 97)):
            try:
                MODULE.Container(data[:size])
            except MODULE.FormatError:
                pass

    def test_not_a_container(self):
        for data in (b"", b"text", bytes(5000), HASHED):
            self.assertRaises(MODULE.FormatError, MODULE.Container, data)


class HashTest(unittest.TestCase):
    def test_vectors(self):
        for length, unseeded, seeded in VECTORS:
            self.assertEqual(MODULE.xxh3(HASHED[:length]), unseeded, f"{length} bytes")
            self.assertEqual(MODULE.xxh3(HASHED[:length], 0x9E3779B185EBCA8D), seeded,
                             f"{length} bytes, seeded")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    ZMPI, READER, GOLDEN = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    CONTAINERS = sys.argv[4:] + os.environ.get("ZMPI_READER_CONTAINERS", "").split()
    MODULE = load_reader(READER)
    unittest.main(argv=sys.argv[:1])
