#!/usr/bin/env python3
"""Read zmpi containers without zmpi.

    zmpi_reader.py cat FILE [OFFSET LENGTH] > out     logical bytes (all, or LENGTH from OFFSET)
    zmpi_reader.py --enhance cat FILE ...             the same, values by the network in the file (2.9)
    zmpi_reader.py info FILE                          header, records and streams

An independent reader, written from docs/format.md alone and with nothing but Python's standard
library: the proof that the page is complete. Numbers in the comments are that page's sections. It
favours being easy to compare with the page over speed. It is one file, long as it is, so that whoever
archives containers can lay it beside them.
"""
import array
import contextlib
import fcntl
import functools
import itertools
import math
import operator
import os
import stat
import struct
import sys

M32 = 0xFFFFFFFF
M64 = 0xFFFFFFFFFFFFFFFF
MISSING = "the index is damaged, and not all that it had was found: data may be missing"


class FormatError(Exception):
    """The bytes are not what docs/format.md allows."""


def require(condition, text):
    if not condition:
        raise FormatError(text)


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def words_of(data, code):
    """Little-endian bytes as an array of the given type code."""
    words = array.array(code)
    words.frombytes(data)
    if sys.byteorder == "big":
        words.byteswap()
    return words


def bytes_of(words):
    if sys.byteorder == "big":
        words = words[:]
        words.byteswap()
    return words.tobytes()


# ---- XXH3, 64 bits (xxHash 0.8) ----

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxh3(data, seed=0):
    n = len(data)
    if n == 0:
        return avalanche64(seed ^ u64(SECRET, 56) ^ u64(SECRET, 64))
    if n <= 3:
        return xxh3_to_3(data, seed)
    if n <= 8:
        return xxh3_to_8(data, seed)
    if n <= 16:
        return xxh3_to_16(data, seed)
    if n <= 128:
        return xxh3_to_128(data, seed)
    if n <= 240:
        return xxh3_to_240(data, seed)
    return xxh3_long(data, seed)


def avalanche64(h):
    h = (h ^ h >> 33) * P64_2 & M64
    h = (h ^ h >> 29) * P64_3 & M64
    return h ^ h >> 32


def avalanche3(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def rotate(h, n):
    return (h << n | h >> (64 - n)) & M64


def fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def mix16(data, at, secret, seed):
    return fold(u64(data, at) ^ (u64(SECRET, secret) + seed & M64),
                u64(data, at + 8) ^ (u64(SECRET, secret + 8) - seed & M64))


def xxh3_to_3(data, seed):
    n = len(data)
    combined = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
    return avalanche64(combined ^ ((u32(SECRET, 0) ^ u32(SECRET, 4)) + seed & M64))


def xxh3_to_8(data, seed):
    n = len(data)
    seed ^= int.from_bytes((seed & M32).to_bytes(4, "little"), "big") << 32
    flip = (u64(SECRET, 8) ^ u64(SECRET, 16)) - seed & M64
    h = u32(data, n - 4) + (u32(data, 0) << 32) ^ flip
    h ^= rotate(h, 49) ^ rotate(h, 24)
    h = h * 0x9FB21C651E98DF25 & M64
    h ^= (h >> 35) + n
    h = h * 0x9FB21C651E98DF25 & M64
    return h ^ h >> 28


def xxh3_to_16(data, seed):
    n = len(data)
    lo = u64(data, 0) ^ ((u64(SECRET, 24) ^ u64(SECRET, 32)) + seed & M64)
    hi = u64(data, n - 8) ^ ((u64(SECRET, 40) ^ u64(SECRET, 48)) - seed & M64)
    swapped = int.from_bytes(lo.to_bytes(8, "little"), "big")
    return avalanche3(n + swapped + hi + fold(lo, hi) & M64)


def xxh3_to_128(data, seed):
    n = len(data)
    acc = n * P64_1
    for i in range((n - 1) // 32 + 1):
        acc += mix16(data, 16 * i, 32 * i, seed)
        acc += mix16(data, n - 16 - 16 * i, 32 * i + 16, seed)
    return avalanche3(acc & M64)


def xxh3_to_240(data, seed):
    n = len(data)
    acc = n * P64_1 + sum(mix16(data, 16 * i, 16 * i, seed) for i in range(8))
    acc = avalanche3(acc & M64)
    acc += sum(mix16(data, 16 * i, 16 * (i - 8) + 3, seed) for i in range(8, n // 16))
    acc += mix16(data, n - 16, 136 - 17, seed)
    return avalanche3(acc & M64)


def seeded_secret(seed):
    parts = []
    for at in range(0, len(SECRET), 16):
        parts.append(struct.pack("<QQ", u64(SECRET, at) + seed & M64,
                                 u64(SECRET, at + 8) - seed & M64))
    return b"".join(parts)


def accumulate(acc, data, keys):
    """Add a row of 64-byte stripes to the eight lanes; stripe s is keyed with keys[s : s + 8]."""
    for lane in range(8):
        values = data[lane::8]
        keyed = map(operator.xor, values, keys[lane:])
        acc[lane ^ 1] += sum(values)
        acc[lane] += sum((k & M32) * (k >> 32) for k in keyed)


def xxh3_long(data, seed):
    secret = SECRET if seed == 0 else seeded_secret(seed)
    keys = words_of(secret, "Q")
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    n = len(data)
    data = memoryview(data)
    blocks = (n - 1) // 1024
    for block in range(blocks):
        accumulate(acc, words_of(data[1024 * block:1024 * (block + 1)], "Q"), keys)
        for lane in range(8):
            a = acc[lane] & M64
            acc[lane] = (a ^ a >> 47 ^ keys[16 + lane]) * P32_1 & M64
    rest = data[1024 * blocks:]
    accumulate(acc, words_of(rest[:(len(rest) - 1) // 64 * 64], "Q"), keys)
    accumulate(acc, words_of(data[n - 64:], "Q"), words_of(secret[121:185], "Q"))
    return xxh3_merge(acc, secret, n)


def xxh3_merge(acc, secret, n):
    h = n * P64_1
    for i in range(4):
        h += fold(acc[2 * i] & M64 ^ u64(secret, 11 + 16 * i),
                  acc[2 * i + 1] & M64 ^ u64(secret, 19 + 16 * i))
    return avalanche3(h & M64)


# ---- books of codes (1.4, 6) ----

CLASSES, MOST_EXTRA, LONGEST = 32, 59, 12
RUNS = CLASSES + 16 * MOST_EXTRA
RUN_LENGTHS = list(range(2, 16)) + [16 << i for i in range(7)]
ESCAPE = RUNS + len(RUN_LENGTHS)
SYMBOLS = ESCAPE + 1
OFFLINE = [bytes.fromhex(text) for text in (
    "6741516dd32482d068402840204af58c2640e92b00a8d034d619000000000000185ebefa49230db6"
    "644dfa01",  # climate
    "63058aea935e0901b61a815020108a8a882845df00ada404d866000000000000c0f0f2e5eb2890ba"
    "326e7406",  # cosmology
    "2745296dd34b082154002804141040aa90240da0ed0c8ccf3a03000000000080e1e52d2104f239e7"
    "06",  # molecular
    "ab524ab56d120921208446a94400b49d01000000008006000000000030c4bc25a121b6e8a933",  # physics
    "b3a2aa6ddb9a9248420800a001000000000000000000000000000c316f2204f9ce1900",  # seismic
    "6781526dd324824085000582a0948400a55e01400518af19000000000000185ebe7c4280cdd86800",  # average
)]


class Bits:
    """Takes bits from bytes, the lowest first."""

    def __init__(self, data):
        self.number = int.from_bytes(data, "little")
        self.size = 8 * len(data)
        self.at = 0

    def take(self, count):
        require(self.at + count <= self.size, "bits: they end too early")
        value = self.number >> self.at & (1 << count) - 1
        self.at += count
        return value


def read_lengths(bits):
    """Lengths of the codes of one book."""
    lengths, last = [], 6
    while len(lengths) < SYMBOLS:
        length = last
        if bits.take(1):
            if bits.take(1):
                length = bits.take(4)
            else:
                length = last - 1 if bits.take(1) else last + 1
                require(length > 0, "book: length")
        require(length <= LONGEST, "book: length")
        if length:
            lengths.append(length)
            last = length
        else:
            lengths += [0] * (bits.take(10) + 1)
    require(len(lengths) == SYMBOLS and lengths[ESCAPE], "book: symbols")
    require(sum(1 << LONGEST - n for n in lengths if n) == 1 << LONGEST, "book: not complete")
    return lengths


def make_book(lengths):
    """(symbol, length of its code) for the next LONGEST bits."""
    book, code = [None] * (1 << LONGEST), 0
    for length in range(1, LONGEST + 1):
        code <<= 1
        for symbol in range(SYMBOLS):
            if lengths[symbol] == length:
                first = int(f"{code:0{length}b}"[::-1], 2)
                book[first::1 << length] = [(symbol, length)] * (1 << LONGEST - length)
                code += 1
    return book


def read_books(data):
    """The books in a stream's section."""
    if not data:
        return []
    require(1 <= data[0] <= 250, "books: number of them")
    books, at = [], 1
    for _ in range(data[0]):
        bits = Bits(data[at:])
        books.append(make_book(read_lengths(bits)))
        require(not bits.take(-bits.at % 8), "book: padding")
        at += bits.at // 8
    require(len(data) - at <= 3 and not any(data[at:]), "books: padding")
    return books


class Books:
    """Those that every reader has, then those of a stream; and its bound, which tells steps."""

    def __init__(self, own, abs_bound):
        self.own = own
        self.abs_bound = abs_bound

    def __getitem__(self, number):
        if number < len(OFFLINE):
            return make_book(read_lengths(Bits(OFFLINE[number])))
        require(number - len(OFFLINE) < len(self.own), "chunk: book")
        return self.own[number - len(OFFLINE)]


def read_bits(bits, book, count, width):
    """`count` residuals of one stream of bits."""
    residuals = []
    while len(residuals) < count:
        symbol, length = book[bits.number >> bits.at & (1 << LONGEST) - 1]
        bits.take(length)
        if symbol < CLASSES:
            residuals.append(symbol - 16)
        elif symbol < RUNS:
            extra = (symbol - CLASSES) // 16 + 1
            top = (symbol & 7) + (-16 if symbol & 8 else 8)
            residuals.append((top << extra) + bits.take(extra))
        elif symbol < ESCAPE:
            residuals += [0] * RUN_LENGTHS[symbol - RUNS]
        else:
            residuals.append(bits.take(8 * width))
    require(len(residuals) == count, "chunk: a run goes on behind the end")
    return residuals


# ---- chunks (1.2) ----

QUANTIZED, INTEGER, STORED = 0, 1, 2
AXIS_X, AXIS_Y, AXIS_Z = 1, 2, 4
FLAG_ZERO, FLAG_EXCEPTIONS, FLAG_HUFFMAN, FLAG_ONCE, FLAG_NARROW = 1, 2, 4, 8, 16
BLOCK_EXCEPTIONS, BLOCK_UNIFORM = 0x80, 0x40
UNSIGNED = {4: "I", 8: "Q"}
FLOATING = {4: "f", 8: "d"}


def make_spread(width):
    """For each byte, a number with bit j of the byte in bit 0 of word j."""
    return [sum((byte >> j & 1) << (8 * width * j) for j in range(8)) for byte in range(256)]


SPREAD = {4: make_spread(4), 8: make_spread(8)}


class Reader:
    """Takes bytes from the front of a chunk."""

    def __init__(self, data):
        self.data = bytes(data)
        self.at = 0

    def take(self, size):
        require(self.at + size <= len(self.data), "chunk: its parts are longer than the chunk")
        self.at += size
        return self.data[self.at - size:self.at]

    def done(self):
        require(self.at == len(self.data), "chunk: its parts are shorter than the chunk")


def decode_chunk(data, width, is_float, extent, books=None):
    """The elements of one chunk as bytes, row-major. books: of encoder 2."""
    count = math.prod(extent)
    reader = Reader(data)
    kind, axes, flags, shift = reader.take(4)
    known = step = None
    huffman = once = narrow = False
    if books is not None:
        huffman, once, narrow = (bool(flags & bit)
                                 for bit in (FLAG_HUFFMAN, FLAG_ONCE, FLAG_NARROW))
        flags &= ~(FLAG_HUFFMAN | FLAG_ONCE | FLAG_NARROW)
        if kind == QUANTIZED and is_float and shift:
            known, shift = level_step(books.abs_bound, width, shift), 0
    require(kind <= STORED and axes <= 7 and flags <= 2, "chunk: header")
    require(not huffman or (kind != STORED and not flags & FLAG_ZERO), "chunk: flags")
    require(not once or (huffman and flags & FLAG_EXCEPTIONS), "chunk: exceptions once")
    require(not narrow or (known is not None and width == 8), "chunk: base of 4 bytes")
    require(shift == 0 or (kind == INTEGER and is_float and shift < 8 * width), "chunk: shift")
    if kind == STORED:
        require(axes == 0 and flags == 0, "chunk: axes or flags of a stored chunk")
        values = reader.take(count * width)
        reader.done()
        return values
    require(kind == INTEGER or is_float, "chunk: quantized integers")
    require(kind == QUANTIZED or shift or not flags & FLAG_EXCEPTIONS, "chunk: exceptions in map 1")
    if kind == QUANTIZED:
        step = read_step(reader, width) if known is None else known
    base = int.from_bytes(reader.take(4 if narrow else width), "little", signed=True)
    if huffman:
        head = read_huffman_head(reader, flags, count, once)
        exceptional, masks = head[2:]
    else:
        residuals, exceptional = read_residuals(reader, width, flags, count)
        masks = words_of(reader.take(4 * len(exceptional)), "I")
    values = read_exception_values(reader, width, exceptional, masks, count, once)
    if huffman:
        residuals = read_huffman(reader, books, head, count, width)
    integers = integrate(residuals, axes, extent)
    words = to_values(integers, base, step, width, is_float, shift)
    for element, value in values:
        words[element] = value
    reader.done()
    return bytes_of(words)


def level_step(eb, width, b):
    """The step of level b for this absolute bound (4.4)."""
    require(b in ((10, 6, 2) if width == 4 else (22, 10, 2)), "chunk: level")
    smallest, largest = (-100, 126) if width == 4 else (-900, 1020)
    step = math.ldexp(1, largest)
    if eb < step:
        fraction, exponent = math.frexp(2 * (1 - math.ldexp(1, 1 - b)) * eb)
        step = min(step, math.ldexp(math.floor(math.ldexp(fraction, b)), exponent - b))
    require(step >= math.ldexp(1, smallest), "chunk: level")
    return step


def read_step(reader, width):
    step, = struct.unpack("<f" if width == 4 else "<d", reader.take(width))
    require(0 < step < math.inf, "chunk: step")
    return step


def read_residuals(reader, width, flags, count):
    """Residuals; and the blocks with exceptions: (number, does one value stand for all of them)."""
    if flags & FLAG_ZERO:
        return [0] * count, []
    blocks = (count + 31) // 32
    lengths = reader.take(blocks)
    require(not any(reader.take(-blocks % 4)), "chunk: padding of the length bytes")
    residuals = []
    exceptional = []
    for block, length in enumerate(lengths):
        if length & BLOCK_EXCEPTIONS:
            exceptional.append((block, bool(length & BLOCK_UNIFORM)))
            length &= 0x3F
        require(length <= 8 * width, "chunk: length byte")
        residuals += read_planes(reader, length, width) if length else [0] * 32
    require(bool(flags & FLAG_EXCEPTIONS) == bool(exceptional), "chunk: exceptions flag")
    return residuals[:count], exceptional


def read_planes(reader, length, width):
    planes = reader.take(4 * (length + 1))
    spread = SPREAD[width]
    parts = []
    for group in range(4):
        lanes = 0
        for k, byte in enumerate(planes[4 + group::4]):
            lanes |= spread[byte] << k
        parts.append(lanes.to_bytes(8 * width, "little"))
    magnitudes = words_of(b"".join(parts), UNSIGNED[width])
    signs = u32(planes, 0)
    return [-v if signs >> j & 1 else v for j, v in enumerate(magnitudes)]


def integrate(values, axes, extent):
    """Running sums along the axes; numbers grow here and are cut to the word's width later."""
    rows, row = extent[0] * extent[1], extent[2]
    if axes == AXIS_X:
        return list(itertools.accumulate(values))
    if axes & AXIS_X:
        for i in range(0, rows * row, row):
            values[i:i + row] = itertools.accumulate(values[i:i + row])
    if axes & AXIS_Y:
        for i in range(row, rows * row, row):
            if i // row % extent[1] != 0:
                values[i:i + row] = map(operator.add, values[i:i + row], values[i - row:i])
    if axes & AXIS_Z:
        plane = extent[1] * row
        for i in range(plane, rows * row, plane):
            values[i:i + plane] = map(operator.add, values[i:i + plane], values[i - plane:i])
    return values


def to_values(integers, base, step, width, is_float, shift):
    half, mask = 1 << (8 * width - 1), (1 << 8 * width) - 1
    if step is not None:
        # An array of floats rounds to nearest even; the product of two f32 is exact in f64.
        code = FLOATING[width]
        numbers = array.array(code, [(v + base + half & mask) - half for v in integers])
        products = array.array(code, [v * step for v in numbers])
        return array.array(UNSIGNED[width], products.tobytes())
    words = [v + base & mask for v in integers]
    if is_float:
        words = [v ^ (half - 1) if v & half else v for v in words]
        words = [v & half | v << shift & (half - 1) for v in words]
    return array.array(UNSIGNED[width], words)


def read_exception_values(reader, width, exceptional, masks, count, once):
    """(element, its word) of all exceptions; once: they have one value."""
    values = []
    stored = words_of(reader.take(width), UNSIGNED[width]) if once else None
    for (block, uniform), mask in zip(exceptional, masks):
        elements = [32 * block + j for j in range(32) if mask >> j & 1]
        require(elements and elements[-1] < count, "chunk: exception mask")
        if not once:
            stored = words_of(reader.take(width * (1 if uniform else len(elements))), UNSIGNED[width])
        values += [(element, stored[0 if uniform else i]) for i, element in enumerate(elements)]
    return values


def read_huffman_head(reader, flags, count, once):
    """Book, sizes of the streams of bits but the last, blocks with exceptions, their masks (1.4)."""
    number, streams, size = struct.unpack("<2BH", reader.take(4))
    require(streams in (1, 4), "chunk: streams of bits")
    require(streams == 4 or size == 0, "chunk: reserved field")
    sizes = [size, *struct.unpack("<2H", reader.take(4))] if streams == 4 else []
    if not flags & FLAG_EXCEPTIONS:
        return number, sizes, [], []
    blocks = (count + 31) // 32
    marks = [int.from_bytes(reader.take((blocks + 31) // 32 * 4), "little") for _ in range(2)]
    require(marks[0] and not marks[0] >> blocks and not marks[1] & ~marks[0], "chunk: marks")
    exceptional = [(b, once or bool(marks[1] >> b & 1)) for b in range(blocks) if marks[0] >> b & 1]
    # Blocks whose elements are all exceptions, as far as the chunk goes, have no mask.
    whole = marks[1] if once else 0
    masks = [M32 >> max(32 * b + 32 - count, 0) if whole >> b & 1 else u32(reader.take(4), 0)
             for b, _ in exceptional]
    return number, sizes, exceptional, masks


def read_huffman(reader, books, head, count, width):
    """All residuals of a chunk, from its streams of bits (1.4)."""
    number, sizes = head[:2]
    book = books[number]
    blocks = (count + 31) // 32
    each = -(-blocks // (len(sizes) + 1)) * 32
    residuals = []
    for k in range(len(sizes) + 1):
        last = k == len(sizes)
        data = reader.take(len(reader.data) - reader.at if last else sizes[k])
        bits = Bits(data)
        part = min(max(count - k * each, 0), each)
        residuals += read_bits(bits, book, part, width)
        rest = bits.size - bits.at
        require(rest < (32 if last else 8) and not bits.take(rest), "chunk: bits left over")
    return residuals


# ---- chunks of encoder 3 (1.5) ----

CONTEXTS, RANS_SYMBOLS, DIRECT = 25, 72, 24
CONSTANT, STORED_3, LATTICE, LORENZO, LAGGED, CUBIC = 0, 255, 1, 2, 3, 8
AXES = (AXIS_Z, AXIS_Y, AXIS_X)


def i32(v):
    return (v + 0x80000000 & M32) - 0x80000000


class PredictionSet:
    """How chunks that name it are predicted."""

    def __init__(self, reader, tile):
        self.family, packed = reader.take(2)
        self.axes, self.shift = packed & 7, packed >> 4
        require(self.axes and not packed & 8 and self.shift < 6, "parameters: axes or shift")
        require(self.family in (LATTICE, LORENZO, LAGGED), "parameters: family")
        self.lag = 0
        if self.family == LAGGED:
            self.lag = reader.take(1)[0]
            require(1 <= self.lag <= 64 and not self.axes & AXIS_Z, "parameters: planes")
        if self.family != LORENZO:
            self.read_levels(reader, tile)

    def read_levels(self, reader, tile):
        longest = max(t for t, axis in zip(tile, AXES) if self.axes & axis)
        levels = (longest - 1).bit_length()
        require(levels, "parameters: levels")
        self.fine_of_anchors = reader.take(1)[0]
        self.levels = []  # (fine, ways), the coarsest first
        for _ in range(levels):
            fine = reader.take(1)[0]
            ways = {p: reader.take(1)[0] for p in range(1, 8) if not p & ~self.axes}
            require(all(w < 16 and w & 7 and not w & 7 & ~p for p, w in ways.items()),
                    "parameters: ways")
            self.levels.append((fine, ways))
        require(max(f for f, _ in self.levels + [(self.fine_of_anchors, 0)]) <= 4,
                "parameters: step")


class Parameters:
    """What all chunks of a stream share."""

    def __init__(self, data, tile):
        reader = Reader(data)
        self.unit, count, profile, reserved = struct.unpack("<dBBH", reader.take(12))
        require(profile <= 2, f"parameters: profile {profile}: written by a newer version of the format")
        self.flare, self.books = profile == 1, profile == 2
        most = FLARE_TILE_MOST if self.flare else TILE_MOST
        require(0 < self.unit < math.inf and not reserved and math.prod(tile) <= most, "parameters")
        require(count == 0 and tile[0] <= 128 if self.flare else 1 <= count <= 4, "parameters: sets")
        self.sets = [PredictionSet(reader, tile) for _ in range(count)]
        rest = reader.take(len(data) - reader.at)
        require(len(rest) <= (0 if self.flare else 3) and not any(rest), "parameters: padding")


def read_varint(reader):
    value = 0
    for shift in range(0, 63, 7):
        byte = reader.take(1)[0]
        value |= (byte & 127) << shift
        if byte < 128:
            return value
    raise FormatError("chunk: number")


def read_pairs(reader, count):
    """Elements in runs, each of two varints."""
    elements, at = [], 0
    while True:
        gap, length = read_varint(reader), read_varint(reader)
        if not length:
            require(not gap and elements, "chunk: runs")
            return elements
        require((gap or not elements) and at + gap + length <= count, "chunk: runs")
        elements += range(at + gap, at + gap + length)
        at += gap + length


def read_number(bits, order):
    """A number whose order says how many bits a small one has."""
    ones = 0
    while bits.take(1):
        ones += 1
    return ((1 << ones) - 1 << order) + bits.take(ones + order)


def read_runs(reader, count):
    """Elements in runs, whose numbers are bits."""
    orders, elements, at = reader.take(1)[0], [], 0
    number = read_varint(reader)
    require(0 < number <= count, "chunk: runs")
    bits = Bits(reader.data[reader.at:])
    for run in range(number):
        at += read_number(bits, orders & 15) + (run > 0)
        length = read_number(bits, orders >> 4) + 1
        require(at + length <= count, "chunk: runs")
        elements += range(at, at + length)
        at += length
    require(not bits.take(-bits.at % 8), "chunk: runs")
    reader.take(bits.at // 8)
    return elements


def sum_differences(differ, extent):
    """Elements, from those that differ from the plane before or, in the first plane, from the row above."""
    row, plane = extent[2], extent[1] * extent[2]
    marks = bytearray(math.prod(extent))
    for i in differ:
        marks[i] = 1
    for i in range(row, len(marks)):
        marks[i] ^= marks[i - (row if i < plane else plane)]
    return [i for i, mark in enumerate(marks) if mark]


def read_exceptions(reader, flags, width, extent):
    """The elements of a chunk of encoder 3 that are no integers: place, bytes."""
    count = math.prod(extent)
    read = read_runs if flags & 4 else read_pairs
    require(not flags & 12 or flags & 3, "chunk: flags")
    require(not flags & 8 or flags & 5 == 5, "chunk: flags")
    exceptions = {}
    if flags & 1:
        value, elements = reader.take(width), read(reader, count)
        exceptions = dict.fromkeys(sum_differences(elements, extent) if flags & 8 else elements, value)
    if flags & 2:
        elements = read(reader, count)
        require(not exceptions.keys() & elements, "chunk: runs")
        last = bytes(width)
        for k in elements:
            value = reader.take(width)
            if flags & 4:
                value = last = bytes(a ^ b for a, b in zip(value, last))
            exceptions[k] = value
    return exceptions


def signed(n):
    return -(n + 1) // 2 if n & 1 else n // 2


def read_weight_number(bits):
    k = 0
    while k < 8 and bits.take(1):
        k += 1
    return 4 * ((1 << k) - 1) + bits.take(k + 2)


def read_table(bits):
    """(symbol, frequency, first slot) for each slot."""
    symbols, last, weights = bits.take(7), 108, []
    require(1 <= symbols <= RANS_SYMBOLS, "table: symbols")
    for s in range(symbols):
        if s + 1 < symbols and not bits.take(1):
            weights.append(0)
            continue
        last = max(last - (4 if s % 2 else 0), 1) + signed(read_weight_number(bits))
        require(1 <= last <= 104, "table: weight")
        weights.append(last)
    sizes = [8 + (g - 1) % 8 << (g - 1) // 8 if g else 0 for g in weights]
    frequencies = [max(4096 * w // sum(sizes), 1) if w else 0 for w in sizes]
    frequencies[weights.index(max(weights))] += 4096 - sum(frequencies)
    table = []
    for s, f in enumerate(frequencies):
        table += [(s, f, len(table))] * f
    return table


class Symbols:
    """Codes of a chunk, row by row."""

    def __init__(self, data):
        bits = Bits(data)
        self.lanes, count = 1 << bits.take(3), bits.take(5)
        require(self.lanes <= 16 and 1 <= count <= CONTEXTS, "chunk: lanes or tables")
        of = [bits.take(5) if count > 1 else 0 for _ in range(CONTEXTS)]
        require(max(of) < count, "chunk: tables")
        tables = [read_table(bits) for _ in range(count)]
        self.tables = [tables[k] for k in of]
        require(not bits.take(-bits.at % 8), "chunk: padding of the tables")
        reader = Reader(data)
        reader.take(bits.at // 8)
        self.raw = Bits(reader.take(u32(reader.take(4), 0)))
        self.states = list(struct.unpack(f"<{self.lanes}I", reader.take(4 * self.lanes)))
        require(min(self.states) >= 1 << 16, "chunk: state")
        self.words = reader.take(len(data) - reader.at)
        self.at = 0

    def row(self, contexts):
        codes = []
        for i, context in enumerate(contexts):
            x = self.states[i % self.lanes]
            symbol, frequency, first = self.tables[context][x & 4095]
            x = frequency * (x >> 12) + (x & 4095) - first
            if x < 1 << 16:
                require(self.at + 2 <= len(self.words), "chunk: words")
                x = x << 16 | self.words[self.at] | self.words[self.at + 1] << 8
                self.at += 2
            self.states[i % self.lanes] = x
            codes.append(self.code(symbol))
        return codes

    def code(self, symbol):
        if symbol <= 2 * DIRECT:
            return (symbol + 1) // 2 if symbol & 1 else -(symbol // 2)
        e = symbol - 2 * DIRECT - 1
        raw = self.raw.take(e + 3)
        size = DIRECT + 1 + 4 * ((1 << e) - 1) + raw // 2
        return -size if raw & 1 else size

    def done(self):
        require(all(x == 1 << 16 for x in self.states), "chunk: state at the end")
        rest = self.words[self.at:]
        require(len(rest) < 4 and not any(rest), "chunk: words left over")
        left = self.raw.size - self.raw.at
        require(left < 8 and not self.raw.take(left), "chunk: raw bits left over")


class BookCodes:
    """Codes of a chunk by Huffman's, book by book (1.7)."""

    def __init__(self, data, count):
        reader = Reader(data)
        books = reader.take(1)[0]
        require(1 <= books <= CONTEXTS, "chunk: books")
        self.of = list(reader.take(CONTEXTS)) if books > 1 else [0] * CONTEXTS
        require(max(self.of) < books, "chunk: number of a book")
        self.codes = []
        for _ in range(books):
            left = u32(reader.take(4), 0)
            count -= left
            require(count >= 0, "chunk: codes")
            book, codes = read_book(reader), []
            while left:
                part = min(left, SECTION)
                codes += [i32(c) for c in read_section(reader, book, part)]
                left -= part
            self.codes.append(iter(codes))
        rest = reader.take(len(data) - reader.at)
        require(count == 0 and len(rest) <= 3 and not any(rest), "chunk: codes or padding")

    def row(self, contexts):
        codes = [next(self.codes[self.of[c]], None) for c in contexts]
        require(None not in codes, "chunk: no more codes of a book")
        return codes

    def done(self):
        """As many are taken as there are."""


def context_of_row(sizes, z, y, count, shift):
    """Of the sizes of the row above and the one before; sizes: by (z, y)."""
    above, before = sizes.get((z, y - 1)), sizes.get((z - 1, y))
    above, before = above or before, before or above
    if not above:
        return [0] * count
    wide = [above[0]] + above + [above[-1]]
    sums = [2 * (above[i] + before[i]) + wide[i] + wide[i + 2] >> shift for i in range(count)]
    return [sum(s >= limit for limit in (1, 2, 3, 5, 8, 13, 23)) for s in sums]


def size_row(codes):
    return [min(abs(c), 63) for c in codes]


def decode_lorenzo(rules, symbols, extent):
    """The integers of a tile."""
    t, sizes, out = {}, {}, []
    x_axis, y_axis, z_axis = (rules.axes & axis for axis in (AXIS_X, AXIS_Y, AXIS_Z))
    for z, y in itertools.product(range(extent[0]), range(extent[1])):
        contexts = context_of_row(sizes, z, y, extent[2], rules.shift)
        codes = symbols.row(contexts)
        sizes[z, y] = size_row(codes)
        above, before = t.get((z, y - 1)), t.get((z - 1, y))
        nearest = above or before
        base, start = [0] * extent[2], 0
        if y_axis and above and z_axis and before:
            base = [a + b - c for a, b, c in zip(above, before, t[z - 1, y - 1])]
        elif y_axis and above:
            base = above
        elif z_axis and before:
            base = before
        elif nearest and not x_axis:
            base = nearest
        elif nearest:
            start = nearest[0]
        if x_axis:
            codes = list(itertools.accumulate(codes, initial=start))[1:]
        t[z, y] = [i32(b + c) for b, c in zip(base, codes)]
        out += [i32(256 * v) for v in t[z, y]]
    return out


class Line:
    """Even points along an axis, with what stands for those outside."""

    def __init__(self, points, odd):
        n = len(points)
        self.points = points
        a, b, c = (points + points[-1:] * 2)[:3]
        z, y, x = (points[:1] * 2 + points)[:-4:-1]
        self.first = 3 * a - 3 * b + c if n > 2 else 2 * a - b if n > 1 else a
        if n > odd:
            self.behind = (3 * z - 3 * y + x if n > 2 else 2 * z - y if n > 1 else z, 0)
        else:
            self.behind = (2 * z - y, 3 * z - 2 * y) if n > 1 else (z, z)

    def __getitem__(self, j):
        if j < 0:
            return self.first
        return self.points[j] if j < len(self.points) else i32(self.behind[j - len(self.points)])


class Lattice:
    """Points by their places in the tile, level by level."""

    def __init__(self, rules, symbols, extent, differs):
        self.rules, self.symbols, self.extent, self.differs = rules, symbols, extent, differs
        self.value, self.size = {}, {}
        self.lines = {}  # of the class at hand

    def decode(self):
        strides = [1 << len(self.rules.levels) if self.rules.axes & axis else 1 for axis in AXES]
        self.anchors(strides)
        for fine, ways in self.rules.levels:
            strides = [s // 2 if self.rules.axes & axis else 1 for s, axis in zip(strides, AXES)]
            for p in (1, 2, 4, 3, 5, 6, 7):
                if p in ways:
                    self.decode_class(strides, p, ways[p], fine)
        return [self.whole(place) for place in itertools.product(*map(range, self.extent))]

    def whole(self, place):
        """The integer of a point: planes are kept as differences."""
        z, total = place[0], self.value[place]
        while self.differs[z]:
            z -= self.rules.lag
            total += self.value[(z,) + place[1:]]
        return i32(total)

    def anchors(self, strides):
        zs, ys, xs = (range(0, n, s) for n, s in zip(self.extent, strides))
        for z, y in itertools.product(zs, ys):
            codes = self.symbols.row([CONTEXTS - 1] * len(xs))
            for x, code in zip(xs, codes):
                predicted = 0
                if y:
                    predicted = self.value[z, y - strides[1], x]
                elif z and not self.differs[z]:
                    predicted = self.whole((z - strides[0], 0, x))
                self.put((z, y, x), predicted, code, self.rules.fine_of_anchors)

    def put(self, place, predicted, code, fine):
        self.value[place] = i32(predicted + code * (1 << 8 - fine))
        self.size[place] = min(abs(code), 63)

    def decode_class(self, strides, p, way, fine):
        step = [2 * s if self.rules.axes & axis else 1 for s, axis in zip(strides, AXES)]
        zs, ys, xs = (range(s if p & axis else 0, n, k)
                      for s, n, k, axis in zip(strides, self.extent, step, AXES))
        sizes = {}
        self.lines.clear()
        for (iz, z), (iy, y) in itertools.product(enumerate(zs), enumerate(ys)):
            if not xs:
                break
            contexts = context_of_row(sizes, iz, iy, len(xs), self.rules.shift)
            sums = [self.sum_sizes((z, y, x), strides, way) for x in xs]
            k = bin(way & 7).count("1")
            low, high = self.limits(k)
            contexts = [c + 8 * (s > low) + 8 * (s > high) for c, s in zip(contexts, sums)]
            codes = self.symbols.row(contexts)
            sizes[iz, iy] = size_row(codes)
            for x, code in zip(xs, codes):
                self.put((z, y, x), self.predict((z, y, x), strides, way), code, fine)

    def limits(self, k):
        shift = self.rules.shift
        return ((k * (5 << shift) // 2, k * (11 << shift) // 2) if shift else (0, (0, 1, 2, 4)[k]))

    def sum_sizes(self, place, strides, way):
        total = 0
        for i, axis in enumerate(AXES):
            if way & axis:
                lower, upper = list(place), list(place)
                lower[i] -= strides[i]
                upper[i] += strides[i]
                total += self.size[tuple(lower)]
                total += self.size[tuple(upper if upper[i] < self.extent[i] else lower)]
        return total

    def predict(self, place, strides, way):
        parts = [self.along(place, i, strides[i], way & CUBIC) for i in (2, 1, 0) if way & AXES[i]]
        if len(parts) == 2:
            return i32(parts[0] + parts[1] + 1) >> 1
        if len(parts) == 3:
            return i32(5 * (parts[0] + parts[2]) + 6 * parts[1] + 8) >> 4
        return parts[0]

    def along(self, place, i, stride, cubic):
        before, after = place[:i], place[i + 1:]
        line = self.lines.get((before, after))
        if line is None:
            evens = range(0, self.extent[i], 2 * stride)
            odd = len(range(stride, self.extent[i], 2 * stride))
            line = Line([self.value[before + (k,) + after] for k in evens], odd)
            self.lines[before, after] = line
        j = place[i] // (2 * stride)
        b, c = line[j], line[j + 1]
        if not cubic:
            return i32(8 * (b + c) + 8) >> 4
        return i32(9 * (b + c) - (line[j - 1] + line[j + 2]) + 8) >> 4



def read_book(reader):
    bits = Bits(reader.data[reader.at:])
    book = make_book(read_lengths(bits))
    require(not bits.take(-bits.at % 8), "chunk: book")
    reader.take(bits.at // 8)
    return book


def read_section(reader, book, count):
    sizes = struct.unpack("<4H", reader.take(8))
    each = -(-((count + 31) // 32) // 4) * 32
    codes = []
    for k, size in enumerate(sizes):
        bits = Bits(reader.take(size))
        codes += read_bits(bits, book, min(max(count - k * each, 0), each), 4)
        rest = bits.size - bits.at
        require(rest < (32 if k == 3 else 8) and not bits.take(rest), "chunk: bits left over")
    return codes


class Blocks:
    """The profile FLARE (1.6)."""

    BLOCK, OWN = 32, 6

    def __init__(self, data, extent):
        self.reader, self.extent = Reader(data), extent
        self.points = [0] * math.prod(extent)
        self.steps = extent[1] * extent[2], extent[2], 1

    def decode(self):
        r = self.reader
        self.escapes = Reader(r.take(struct.unpack("<I", r.take(4))[0]))
        places = list(itertools.product(*(range(0, n, 8) for n in self.extent)))
        anchors = struct.unpack(f"<{len(places)}h", r.take(2 * len(places)))
        # Where points are, in the order of codes, and by what they are predicted.
        self.batch, before = [], 0
        for place, code in zip(places, anchors):
            before = i32(before + 256 * (self.escape() if code == -32768 else code))
            self.points[sum(i * s for i, s in zip(place, self.steps))] = before
        self.slab(4, 0)
        self.escapes.done()
        rest = r.take(len(r.data) - r.at)
        require(len(rest) <= 3 and not any(rest), "chunk: padding")
        return self.points

    def escape(self):
        first = self.escapes.at
        number = read_varint(self.escapes)
        require(self.escapes.at - first <= 4, "chunk: escape")
        return signed(number)

    def slab(self, stride, z):
        """Blocks of a level from plane z on, then finer ones: those of the lower half, then the others."""
        side = self.BLOCK * stride
        for y, x in itertools.product(range(0, self.extent[1], side), range(0, self.extent[2], side)):
            self.batch.append((stride, (z, y, x)))
        if stride == 1:
            self.decode_batch()
            return
        self.slab(stride // 2, z)
        if z + side // 2 < self.extent[0]:
            self.slab(stride // 2, z + side // 2)

    def decode_batch(self):
        """What waits for codes, up to the finest level of 32 planes."""
        work = [line for block in self.batch for line in self.block(*block)]
        self.batch = []
        number = self.reader.take(1)[0]
        require(number <= self.OWN, "chunk: book")
        if number < self.OWN:
            book = make_book(read_lengths(Bits(OFFLINE[number])))
        else:
            book = read_book(self.reader)
        for first in range(0, len(work), SECTION):
            part = work[first:first + SECTION]
            for (at, step, i, n), code in zip(part, read_section(self.reader, book, len(part))):
                require(-128 <= i32(code) <= 127, "chunk: code")
                code = self.escape() if i32(code) == -128 else i32(code)
                self.points[at] = i32(self.predict(at, step, i, n) + 256 * code)

    def block(self, stride, at):
        """(place, way to the next point, number, of how many) of each new point in the order of codes."""
        counts = [min(self.BLOCK, (n - a - 1) // stride + 1) for n, a in zip(self.extent, at)]
        steps = [s * stride for s in self.steps]
        first = sum(a * s for a, s in zip(at, self.steps))
        for axis in (2, 1, 0):
            ranges = [range(int(i == axis), n, 2 if i <= axis else 1) for i, n in enumerate(counts)]
            for place in itertools.product(*ranges):
                yield (first + sum(i * s for i, s in zip(place, steps)), steps[axis], place[axis],
                       counts[axis])

    def predict(self, at, step, i, n):
        p = self.points
        b = p[at - step]
        if i + 1 >= n:
            total = 24 * b - 8 * p[at - 3 * step] if i >= 3 else 16 * b
        elif i >= 3 and i + 3 < n:
            total = 9 * (b + p[at + step]) - p[at - 3 * step] - p[at + 3 * step]
        elif i >= 3:
            total = 12 * b + 6 * p[at + step] - 2 * p[at - 3 * step]
        elif i + 3 < n:
            total = 6 * b + 12 * p[at + step] - 2 * p[at + 3 * step]
        else:
            total = 8 * (b + p[at + step])
        return i32(total + 8) >> 4


def which_differ(data, lag, planes):
    """Of each plane, whether it is coded less the one `lag` before; and what follows."""
    if not lag or planes <= lag:
        return [False] * planes, data
    count = planes - lag
    size = (count + 7) // 8
    require(len(data) >= size, "chunk: planes")
    bits = int.from_bytes(data[:size], "little")
    require(not bits >> count, "chunk: planes")
    return [False] * lag + [bool(bits >> k & 1) for k in range(count)], data[size:]


def decode_interp(data, width, extent, parameters):
    """The elements of one chunk of encoder 3 as bytes, row-major."""
    count = math.prod(extent)
    reader = Reader(data)
    kind, flags, *reserved = reader.take(4)
    require(not any(reserved), "chunk: reserved bytes")
    if kind == STORED_3:
        require(flags == 0, "chunk: flags of a stored chunk")
        values = reader.take(count * width)
        reader.done()
        return values
    most = 1 if parameters.flare else len(parameters.sets)
    require(kind <= most and flags <= 15, "chunk: kind or flags")
    base = signed(read_varint(reader))
    require(-(1 << 44) - 1 <= base <= 1 << 44, "chunk: base")
    exceptions = read_exceptions(reader, flags, width, extent)
    rest = reader.take(len(data) - reader.at)
    if kind == CONSTANT:
        require(len(rest) < 4 and not any(rest), "chunk: padding")
        integers = [0] * count
    elif parameters.flare:
        integers = Blocks(rest, extent).decode()
    else:
        rules = parameters.sets[kind - 1]
        differs, rest = which_differ(rest, rules.lag, extent[0])
        symbols = BookCodes(rest, count) if parameters.books else Symbols(rest)
        integers = (decode_lorenzo(rules, symbols, extent) if rules.family == LORENZO
                    else Lattice(rules, symbols, extent, differs).decode())
        symbols.done()
    values = array.array("d", [float(256 * base + v) * parameters.unit for v in integers])
    if width == 4:
        values = array.array("f", values)
    out = bytearray(bytes_of(values))
    for element, value in exceptions.items():
        out[element * width:(element + 1) * width] = value
    return out


# ---- streams (1.1) ----

TYPES = {1: "f32", 2: "f64", 3: "i32", 4: "i64", 5: "bytes"}
ENCODERS = {1: "fle", 2: "huffman", 3: "interp"}
BOOKS_MOST = {1: 0, 2: 65536, 3: 1024}  # bytes
TILE_MOST = 262144  # elements of encoder 3
FLARE_TILE_MOST = 2097152  # of its profile FLARE
SECTION = 8192  # codes, where profiles of encoder 3 have books
MODES = {0: "lossless", 1: "abs", 2: "rel", 3: "psnr", 4: "ratio", 5: "pw_rel"}
WIDTHS = {1: 4, 2: 8, 3: 4, 4: 8, 5: 4}
BYTES = 5


class Stream:
    def __init__(self, data):
        require(len(data) >= 80, "stream: shorter than its header")
        self.data = memoryview(data)
        (magic, version, self.type, self.ndim, self.mode, encoder, reserved, *rest) = struct.unpack(
            "<I5B3s3I3Q2d2Q", self.data[:80])
        self.tile, self.dims = rest[0:3], rest[3:6]
        self.bound, self.abs_bound, self.length, self.checksum = rest[6:10]
        require(magic == 0x5254535A, "stream: magic")
        require(version == 1, "stream: version")
        self.big_endian, self.type = self.type >> 7, self.type & 127
        require(not self.big_endian or self.type <= 2, "stream: byte order")
        require(self.type in TYPES, "stream: element type")
        require(1 <= self.ndim <= 3 and self.mode in MODES, "stream: dimensions or mode")
        require(self.bound >= 0 and self.abs_bound >= 0, "stream: bound")
        require(encoder > 0, "stream: encoder")
        require(encoder in ENCODERS,
                f"stream: encoder {encoder}: written by a newer version of the format")
        self.encoder = encoder
        self.books_size = 4 * int.from_bytes(reserved, "little")
        require(self.books_size <= BOOKS_MOST[encoder], "stream: size of the books")
        require(encoder != 3 or self.type <= 2, "stream: encoder and type")
        require(self.length == len(data), "stream: length")
        self.check_extents()
        self.check_table()

    def check_extents(self):
        require(all(n == 1 for n in self.dims[:3 - self.ndim]), "stream: unused dimensions")
        self.width = WIDTHS[self.type]
        self.words = list(self.dims)
        self.size = math.prod(self.dims) * self.width
        if self.type == BYTES:
            require(self.dims[:2] == [1, 1], "stream: dimensions of bytes")
            self.words[2] = (self.dims[2] + 3) // 4
            self.size = self.dims[2]
        require(self.size < 1 << 63, "stream: too large")
        most = FLARE_TILE_MOST if self.encoder == 3 else 32768 // self.width
        require(min(self.tile) >= 1 and math.prod(self.tile) <= most, "stream: tile")
        self.coded_most = 4 + FLARE_TILE_MOST * self.width if self.encoder == 3 else 32772
        self.grid = [(n + t - 1) // t for n, t in zip(self.words, self.tile)]
        self.chunks = math.prod(self.grid)

    def check_table(self):
        require(self.chunks <= (self.length - 80 - self.books_size) // 12,
                "stream: more chunks than fit")
        end = 80 + 8 * self.chunks
        first = end + self.books_size
        checked = bytes(self.data[:72]) + bytes(self.data[80:first])
        require(xxh3(checked) == self.checksum, "stream: checksum of header and table")
        table = words_of(self.data[80:end], "I")
        self.sizes, self.sums = table[0::2], table[1::2]
        require(all(4 <= n <= self.coded_most and n % 4 == 0 for n in self.sizes),
                "stream: chunk size")
        self.starts = list(itertools.accumulate(self.sizes, initial=first))
        require(self.starts[-1] == self.length, "stream: chunks do not fill it")
        self.books = None
        if self.encoder == 2:
            self.books = Books(read_books(bytes(self.data[end:first])), self.abs_bound)
        elif self.encoder == 3:
            self.books = Parameters(bytes(self.data[end:first]), self.tile)

    def chunk(self, k):
        data = self.data[self.starts[k]:self.starts[k + 1]]
        require(xxh3(data) & M32 == self.sums[k], f"stream: checksum of chunk {k}")
        return data

    def verify(self):
        for k in range(self.chunks):
            self.chunk(k)

    def place(self, k):
        """First element and extents of chunk k."""
        tiles = [k // self.grid[2] // self.grid[1], k // self.grid[2] % self.grid[1],
                 k % self.grid[2]]
        first = [i * t for i, t in zip(tiles, self.tile)]
        return first, [min(t, n - f) for t, n, f in zip(self.tile, self.words, first)]

    def decode(self, network=None):
        out = bytearray(math.prod(self.words) * self.width)
        flags = network.streams.get(self.checksum) if network else None
        if flags is not None:
            require(self.encoder == 3 and len(flags) == self.chunks and 0 < self.abs_bound < 1e300, "network: stream")
        _, ny, nx = self.words
        for k in range(self.chunks):
            (z, y, x), (cz, cy, cx) = first, extent = self.place(k)
            if self.encoder == 3:
                data = decode_interp(bytes(self.chunk(k)), self.width, extent, self.books)
            else:
                data = decode_chunk(self.chunk(k), self.width, self.type <= 2, extent, self.books)
            if flags is not None and flags[k] is not None:
                data = network.enhance(data, self.width, extent, self.abs_bound, flags[k])
            if self.big_endian:
                words = words_of(data, "IQ"[self.type - 1])
                words.byteswap()
                data = bytes_of(words)
            row = cx * self.width
            for i in range(cz * cy):
                to = (((z + i // cy) * ny + y + i % cy) * nx + x) * self.width
                out[to:to + row] = data[i * row:(i + 1) * row]
        return out[:self.size]

    def describe(self):
        dims = "x".join(map(str, self.dims[3 - self.ndim:]))
        bound = MODES[self.mode] + (f"={self.bound!r}" if self.mode else "")
        limit = f"abs {self.abs_bound!r}" if self.abs_bound < math.inf else "no abs bound"
        coded = f"{ENCODERS[self.encoder]}, " if self.encoder != 1 else ""
        order = " big-endian" if self.big_endian else ""
        return (f"{TYPES[self.type]}{order} {dims} {bound} ({limit}), {coded}"
                f"{self.chunks} chunks of {'x'.join(map(str, self.tile))}, {self.length} bytes")


# ---- the network (2.9) ----

PATCH, ONE = 64, 64
LAYERS = ((1, 8), (8, 16), (24, 8), (8, 1))
POINTER = 440


class Flags:
    """Which values of a chunk are kept, from its bytes."""

    def __init__(self, data):
        self.data = itertools.chain(data, itertools.repeat(0))
        self.low, self.high, self.code = 0, M32, 0
        self.chance = [1024] * 9
        for _ in range(4):
            self.code = self.code << 8 | next(self.data)

    def take(self, context):
        chance = self.chance[context]
        middle = self.low + (self.high - self.low >> 16) * chance
        kept = self.code <= middle
        if kept:
            self.high = middle
            self.chance[context] += 65535 - chance >> 6
        else:
            self.low = middle + 1
            self.chance[context] -= chance >> 6
        while self.low >> 24 == self.high >> 24:
            self.low = self.low << 8 & M32
            self.high = self.high << 8 & M32 | 255
            self.code = self.code << 8 & M32 | next(self.data)
        return kept


class Network:
    """Weights, and the chunks of streams that they are for."""

    def __init__(self, data, seed):
        require(len(data) >= 32 and data[:4] == b"ZENH" and u64(data, 8) == len(data)
                and xxh3(data[:16] + data[24:], seed) == u64(data, 16), "network: damaged")
        require(data[4] == 1, "network: written by a newer version of the format")
        self.times, self.least = data[5], data[6]
        require(1 <= self.times <= 2 and 1 <= self.least <= ONE and not data[7] and not u32(data, 28), "network: header")
        reader = Reader(data[32:])
        self.shifts = reader.take(4)
        biases = iter(struct.unpack("<33i", reader.take(132)))
        self.biases = [[next(biases) for _ in range(outs)] for _, outs in LAYERS]
        self.weights = [[struct.unpack(f"{9 * ins}b", reader.take(9 * ins)) for _ in range(outs)] for ins, outs in LAYERS]
        require(max(self.shifts) <= 20 and all(abs(b) <= 1 << 24 for layer in self.biases for b in layer)
                and all(abs(w) <= 64 for row in self.weights[0] for w in row), "network: numbers")
        self.streams = {}
        last = -1
        for _ in range(u32(data, 24)):
            stream, count, zero = struct.unpack("<Q2I", reader.take(16))
            require(stream > last and not zero, "network: streams")
            sizes = words_of(reader.take(4 * count), "I")
            self.streams[stream] = [reader.take(n - 1) if n else None for n in sizes]
            last = stream
        reader.done()

    def layer(self, number, planes, low, high):
        """Planes of a patch, each a list of rows, to those of the next layer."""
        height, width = len(planes[0]), len(planes[0][0])
        none = [0] * (width + 2)
        padded = [[none] + [[0] + row + [0] for row in plane] + [none] for plane in planes]
        shift, out = self.shifts[number], []
        for weights, bias in zip(self.weights[number], self.biases[number]):
            plane = [[bias] * width for _ in range(height)]
            for k, weight in enumerate(weights):
                if weight:
                    source, dy, dx = padded[k // 9], k % 9 // 3, k % 3
                    for y in range(height):
                        row = source[y + dy]
                        plane[y] = [s + weight * v for s, v in zip(plane[y], row[dx:dx + width])]
            out.append([[min(max(s >> shift, low), high) for s in row] for row in plane])
        return out

    def first(self, patch):
        """The first layer's; beside the patch its input is 128, which is as much as a bias."""
        shift, wide = self.shifts[0], len(patch[0]) + 2
        padded = [[128] * wide] + [[128] + row + [128] for row in patch] + [[128] * wide]
        return [[[min(max(sum(w[3 * dy + dx] * padded[y + dy][x + dx] for dy in range(3) for dx in range(3)) + bias >> shift,
                          0), 127) for x in range(wide - 2)] for y in range(len(patch))]
                for w, bias in zip(self.weights[0], self.biases[0])]

    def outputs(self, patch):
        """Of a patch of inputs."""
        height, width = len(patch), len(patch[0])
        shallow = self.first(patch)
        half = []
        for plane in shallow:
            rows = plane + [[0] * width] * (height % 2)
            rows = [row + [0] * (width % 2) for row in rows]
            half.append([[(a[x] + a[x + 1] + b[x] + b[x + 1] + 2) >> 2 for x in range(0, len(a), 2)]
                         for a, b in zip(rows[0::2], rows[1::2])])
        deep = [[[plane[y // 2][x // 2] for x in range(width)] for y in range(height)]
                for plane in self.layer(1, half, 0, 127)]
        return self.layer(3, self.layer(2, shallow + deep, 0, 127), -ONE, ONE)[0]

    def enhance(self, data, width, extent, eb, flags):
        """A chunk's values, but for those that flags keep."""
        code = FLOATING[width]
        values = array.array(code, words_of(data, UNSIGNED[width]).tobytes())
        cz, cy, cx = extent
        out = [0] * len(values)
        for z, (y0, y1), (x0, x1) in itertools.product(range(cz), cuts(cy), cuts(cx)):
            rows = [values[(z * cy + y) * cx + x0:(z * cy + y) * cx + x1].tolist() for y in range(y0, y1)]
            for y, row in enumerate(self.outputs(inputs(rows, 16 / eb))):
                at = (z * cy + y0 + y) * cx + x0
                out[at:at + len(row)] = row
        kept = Flags(flags)
        for i, o in enumerate(out):
            if abs(o) >= self.least and math.isfinite(values[i]) and not kept.take(abs(o) // 8):
                values[i] += o * (eb / ONE)
        return bytes_of(array.array(UNSIGNED[width], values.tobytes()))


def cuts(extent):
    each = -(-extent // -(-extent // PATCH))
    return [(at, min(at + each, extent)) for at in range(0, extent, each)]


def inputs(rows, unit):
    """Values less the mean of their neighbours, of which those at the ends are their own."""
    above, below = rows[:1] + rows[:-1], rows[1:] + rows[-1:]
    out = []
    for row, up, down in zip(rows, above, below):
        left, right = row[:1] + row[:-1], row[1:] + row[-1:]
        line = []
        for v, a, b, c, d in zip(row, left, right, up, down):
            t = (4 * v - ((a + b) + (c + d))) * unit
            t = t if t > -128 else -128
            t = t if t < 127 else 127
            line.append(int(t + 128.5))
        out.append(line)
    return out


# ---- containers (2) ----

DATA, SIZE = 1, 2
LIST = 0xFFFF
HEADER = 512
FOREIGN_HEADER_MOST = 65536
FOREIGN_JUDGED = FOREIGN_HEADER_MOST + 65536 + 4
MAX = (1 << 63) - 1


def pad8(n):
    return n + 7 & ~7


MAGIC = b"\x89ZMPI\r\n\x1a"


class Slot:
    """One of the two header slots (2.1) and what belongs to it (2.6)."""

    def __init__(self, data, tally, place=None):
        require(len(data) == 128 and data[:8] == MAGIC, "header: magic")
        require(int.from_bytes(data[8:10], "little") == 1, "header: version")
        require(xxh3(data[:120]) == u64(data, 120), "header: checksum")
        require(not any(data[10:16] + data[80:120]), "header: reserved fields")
        self.id = data[16:32]
        (self.generation, self.size, self.index, self.index_length, self.log_end,
         self.epoch) = struct.unpack("<6Q", data[32:80])
        require(place is None or place == 256 * (1 - self.generation % 2), "header: the generation of the other slot")
        known = xxh3(tally[:16]) == u64(tally, 16) and u64(tally, 0) == self.generation
        self.tally = u64(tally, 8) if known else None  # which records its index has


def has_header(data, at):
    """Does a header begin at `at` of which a slot is right?"""
    for place in (0, 256):
        try:
            Slot(data[at + place:at + place + 128], bytes(24), place)
            return at + HEADER <= len(data)
        except FormatError:
            pass
    return False


def slot_of_copy(data, at):
    """The slot of which a copy begins at `at` (2.8)."""
    copy = data[at:at + 136]
    require(len(copy) == 136 and copy[:4] == b"ZHDR" and u32(copy, 4) <= 1, "copy: magic")
    seed = u64(copy, 16) ^ u64(copy, 24) ^ at
    require(xxh3(copy[:128], seed) == u64(copy, 128), "copy: checksum")
    slot = MAGIC + copy[8:120]
    tally = copy[32:40] + copy[120:128] if u32(copy, 4) else bytes(16)
    found = Slot(slot + xxh3(slot).to_bytes(8, "little"), tally + xxh3(tally).to_bytes(8, "little"))
    require(found.log_end == at + 136, "copy: place")
    return found


def last_copy(data, wanted):
    """The last copy of a header in the file's last 20 MiB that is `wanted`; None: there is none."""
    at = len(data)
    while (at := data.rfind(b"ZHDR", max(HEADER, len(data) - (20 << 20)), at + 3)) >= 0:
        try:
            if at % 8 == 0 and wanted(found := slot_of_copy(data, at)):
                return found
        except FormatError:
            pass
    return None


def parity_parts(at, head, most):
    """Of the list of the record at `at`: (begin, size, place in its sector) of each part, as parity counts them; and the
    size of the parity."""
    extents, parts = pad8(u32(head, 48)), []
    begin, place = 0, (at + 64) % 512
    require(extents <= most, "parity: does not fit")
    for _ in range(extents // 512 + 2):
        size = min(512 - place, extents - begin)
        parts.append((begin, size, place))
        begin, place = begin + size, 0
    return parts, 72 + pad8(4 * len(parts)) + 512


class Record:
    """What 2.2 and 2.3 say of a record; `offset` is that of the record in the file."""

    def check(self):
        require(self.kind in (DATA, SIZE), "record: kind")
        require(self.levels <= 4 or self.levels == LIST, "record: levels")
        require(self.lo <= self.hi <= MAX, "record: lo and hi")
        if self.kind == SIZE:
            require(self.hi == self.lo and self.bytes == 0 and self.payload_length == 0
                    and self.extents_length == 0 and self.levels == 0, "record: size record")
        elif self.levels <= 4:
            require(self.extents_length == (8 + 16 * self.levels if self.levels else 0),
                    "record: length of the extents")

    def set_extents(self, extents):
        self.nest = []
        self.list = None
        if self.levels == 0:
            require(self.bytes == self.hi - self.lo, "record: bytes")
        elif self.levels == LIST:
            self.list = extents  # decoded when it is needed
        else:
            self.set_nest(extents)

    def set_nest(self, extents):
        self.run, *numbers = struct.unpack(f"<{1 + 2 * self.levels}Q", extents)
        self.nest = list(zip(numbers[0::2], numbers[1::2]))
        require(self.run >= 1, "record: run")
        span, count = self.run, self.run
        for n, stride in self.nest:
            require(n >= 2 and stride >= span, "record: nest")
            span += (n - 1) * stride
            count *= n
        require(count == self.bytes and self.lo + span == self.hi, "record: nest's bytes or span")

    def close(self, numbers):
        """bytes and hi from run, counts and strides."""
        run = numbers[0]
        self.bytes, span = run, run
        for count, stride in zip(numbers[1::2], numbers[2::2]):
            span += (count - 1) * stride
            self.bytes *= count
        self.hi = self.lo + span
        self.extents_length = 8 + 16 * self.levels if self.levels else 0
        self.set_extents(struct.pack(f"<{len(numbers)}Q", *numbers))

    def read_list(self):
        stream = Stream(self.list)
        require(stream.type == 4 and stream.mode == 0, "record: list is not lossless i64")
        numbers = words_of(stream.decode(), "q")
        n = len(numbers) // 2
        gaps, lengths = numbers[:n], numbers[n:]
        require(n >= 1 and len(numbers) == 2 * n, "record: list's length")
        require(gaps[0] == 0 and min(gaps) >= 0 and min(lengths) >= 1, "record: list")
        require(sum(lengths) == self.bytes and sum(gaps) + sum(lengths) == self.hi - self.lo,
                "record: list's bytes or span")
        return zip(gaps, lengths)

    def runs(self):
        """(offset, length) of all runs, in increasing order."""
        if self.levels == 0:
            yield self.lo, self.bytes
        elif self.levels == LIST:
            at = self.lo
            for gap, length in self.read_list():
                yield at + gap, length
                at += gap + length
        else:
            ways = [range(0, count * stride, stride) for count, stride in reversed(self.nest)]
            for steps in itertools.product(*ways):
                yield self.lo + sum(steps), self.run

    def payload_at(self):
        return self.offset + 64 + pad8(self.extents_length)

    def end(self):
        return self.payload_at() + pad8(self.payload_length)

    def key(self):
        return self.order, self.rank, self.offset

    def describe(self):
        order = f"{self.order >> 32}.{self.order & M32}"
        head = f"record at {self.offset}: order {order} rank {self.rank}"
        if self.kind == SIZE:
            return f"{head}: size {self.lo}"
        shape = {0: "contiguous", LIST: "list"}.get(self.levels, f"nest of {self.levels}")
        return f"{head}: {self.bytes} bytes in {self.lo}..{self.hi}, {shape}"


class Entries:
    """The entries of a segment, one after the other (2.3)."""

    def __init__(self, data):
        self.data = data
        self.at = 0
        self.form = None
        self.lo = self.step = self.epoch = self.number = self.rank = self.payload = 0
        self.offset = HEADER

    def get(self):
        value = shift = 0
        while True:
            require(self.at < len(self.data), "index: entry cut off")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        require((byte or not shift) and value <= M64, "index: number")
        return value

    def difference(self, given):
        if not given:
            return 0
        value = self.get()
        require(value, "index: difference of 0")
        return -(value + 1 >> 1) if value & 1 else value >> 1

    def get_form(self):
        form = self.get()
        require(form <= 6, "index: form")
        numbers = [self.get() for _ in range(1 + 2 * form)] if form <= 4 else []
        return form, numbers

    def next(self):
        require(self.at < len(self.data) and self.data[self.at] < 128, "index: flags")
        flags = self.data[self.at]
        self.at += 1
        if flags & 1:
            self.form = self.get_form()
        require(self.form, "index: no form")
        form, numbers = self.form
        self.step = self.step + self.difference(flags & 2) & M64
        self.lo = self.lo + self.step & M64
        epoch = self.epoch + self.difference(flags & 4)
        self.number = self.difference(flags & 8) + (self.number if epoch == self.epoch else 0)
        self.epoch = epoch
        self.rank += self.difference(flags & 16)
        offset = self.offset + 8 * self.difference(flags & 32) & M64
        self.payload = self.payload + self.difference(flags & 64) & M64
        require(all(0 <= n <= M32 for n in (epoch, self.number, self.rank)), "index: order or rank")
        r = Record()
        r.kind, r.levels = (SIZE, 0) if form == 6 else (DATA, LIST if form == 5 else form)
        r.lo, r.order, r.rank = self.lo, epoch << 32 | self.number, self.rank
        r.offset, r.payload_length = offset, self.payload
        r.hi, r.bytes, r.extents_length = r.lo, 0, 0
        if form == 5:
            r.hi, r.bytes, r.extents_length = r.lo + self.get(), self.get(), self.get()
        elif form <= 4:
            r.close(numbers)
        self.number += 1
        self.offset = r.end()
        return r


class Container:
    def __init__(self, data):
        self.data = data
        self.newer = None  # the tally of a newer slot that is damaged, -1: not known
        self.overwritten = self.copied = False
        self.slot = self.read_slots()
        words = struct.unpack("<2Q", self.slot.id)
        self.binding = words[0] ^ words[1]
        self.records = []
        indexed = self.read_index()
        if not indexed:
            self.records = []
        plain = self.overwritten and self.written_over(indexed) > FOREIGN_HEADER_MOST
        require(not plain, "a plain file: a program without zmpi wrote over a zmpi container")
        self.doubtful = self.overwritten and indexed and self.judged_by_data()
        self.indexed_to = self.slot.log_end if indexed else 0
        self.listed = len(self.records)
        self.damaged = set()  # where there is what looks like a record and is none
        self.directory = 0  # the last one that a scan passes
        self.require_alone(self.scan(self.slot.log_end if indexed else HEADER))
        self.scanned = [(r, r.offset < self.directory) for r in self.records[self.listed:]]
        self.records.sort(key=Record.key)
        self.size = self.final_size()
        self.whole = len(data) >= HEADER and not self.overwritten and self.is_complete(indexed)
        self.network = None  # applied to what is read

    def read_network(self):
        """The one that the header points to, if there is one."""
        offset, length, checksum = struct.unpack("<3Q", self.data[POINTER:POINTER + 24])
        if offset or length or checksum:
            require(xxh3(self.data[POINTER:POINTER + 16], self.seed(POINTER)) == checksum, "network: pointer")
            return Network(self.data[offset:offset + length], self.seed(offset))
        return None

    def seed(self, offset):
        return self.binding ^ offset

    def read_slots(self):
        slots, damaged = [], []
        for at, tally in ((0, 128), (256, 152)):
            try:
                slots.append(Slot(self.data[at:at + 128], self.data[tally:tally + 24], at))
            except FormatError:
                damaged.append((self.data[at:at + 128], self.tally_at(tally)))
        if not slots:
            return self.lost_slot()
        slot = max(slots, key=lambda slot: slot.generation)
        if damaged and self.is_newer(slot, *damaged[0]):
            copy = last_copy(self.data, lambda c: c.id == slot.id and c.generation > slot.generation)
            if copy:
                self.copied = True
                return copy
            generation, tally = damaged[0][1]
            self.newer = tally if generation == slot.generation + 1 and tally else -1
        return slot

    def tally_at(self, at):
        """Generation and tally, (None, None) if they are damaged."""
        bad = len(self.data) < at + 24 or xxh3(self.data[at:at + 16]) != u64(self.data, at + 16)
        return (None, None) if bad else struct.unpack("<2Q", self.data[at:at + 16])

    @staticmethod
    def is_newer(slot, damaged, tally):
        """Was that for a newer generation than `slot`, or may it have been?"""
        if not any(damaged):
            return slot.generation > 1 and tally[0] == slot.generation + 1 and tally[1] != 0
        return tally[0] is None or tally[0] != slot.generation - 1

    def lost_slot(self):
        for at in (0, 256):
            slot = self.data[at:at + 128]
            known = len(slot) < 128 or slot[:8] != MAGIC or slot[8:10] == b"\1\0" or xxh3(slot[:120]) != u64(slot, 120)
            require(known, "header: written by a newer version of the format")
        copy = last_copy(self.data, lambda c: True)
        require(copy, "not a zmpi container")
        self.copied = True
        header = self.data[:HEADER]
        self.overwritten = any(header) and MAGIC not in (header[:8], header[256:264])
        known = [self.tally_at(at)[0] for at in (128, 152)]
        if any(generation is not None and generation > copy.generation for generation in known):
            self.overwritten = True
        return copy

    def lost_records(self):
        """Those by place in front of the first one that is still there."""
        lost = []
        for r in sorted(self.records, key=lambda r: r.offset):
            try:
                self.parse_head(r.offset, self.head_in_place(r.offset))
                break
            except (FormatError, struct.error):
                lost.append(r)
        return lost

    def judged_by_data(self):
        """Do bytes in place of the last lost record tell whether it was written over as a whole (2.5)?"""
        last = self.lost_records()[-1:]
        return any(r.kind == DATA and r.lo == 0 for r in self.records) and any(
            r.kind == DATA and r.payload_length < r.bytes and r.offset + r.payload_length >= FOREIGN_JUDGED for r in last)

    def written_over(self, indexed):
        """How many of the first bytes are another program's, at least (2.5); 0 where they may be a header of these data."""
        if self.data[HEADER:HEADER + 4] == b"ZREC":
            return 0
        at = self.slot.index
        if not indexed:
            if at < HEADER or self.data[at:at + 4] != b"ZDIR":
                return at
            segment = u64(self.data, at + 24)
            return segment if segment < at and self.data[segment:segment + 4] != b"ZIDX" else 0
        last = max([r.offset for r in self.lost_records()], default=0)
        return last if any(r.kind == DATA and r.lo == 0 for r in self.records) else 0

    def final_size(self):
        size = 0
        for record in self.records:
            size = record.lo if record.kind == SIZE else max(size, record.hi)
        return size

    # ---- finding the records (2.3, 2.5) ----

    def read_index(self):
        """False if there is no index, or it is damaged."""
        at, end = self.slot.index, self.slot.index + self.slot.index_length
        if at < HEADER or end > self.slot.log_end or self.slot.log_end > len(self.data):
            return False
        try:
            require(self.frame_end(at) == end, "index: length of the directory")
            self.read_directory(at)
        except (FormatError, struct.error):
            return False
        return True

    def frame_end(self, at):
        """End of the segment or directory at `at`, whose checksum is right."""
        require(self.data[at:at + 4] in (b"ZIDX", b"ZDIR") and at % 8 == 0, "index: magic or place")
        length = u64(self.data, at + 8)
        require(at + 24 + pad8(length) <= len(self.data), "index: length")
        checked = self.data[at:at + 16] + self.data[at + 24:at + 24 + length]
        require(xxh3(checked, self.seed(at)) == u64(self.data, at + 16), "index: checksum")
        return at + 24 + pad8(length)

    def read_directory(self, at):
        count, length = struct.unpack("<IQ", self.data[at + 4:at + 16])
        require(self.data[at:at + 4] == b"ZDIR" and count >= 1 and length == 48 * count,
                "index: directory")
        least = HEADER
        for place in range(at + 24, at + 24 + length, 48):
            entry = struct.unpack("<4Q4I", self.data[place:place + 48])
            require(entry[0] >= least and entry[7] == 0, "index: place of a segment")
            least = self.read_segment(*entry[:7])

    def read_segment(self, at, lo, hi, newest, size, count, sizes):
        end = self.frame_end(at)
        require(end <= self.slot.log_end, "index: segment behind the log")
        require(struct.unpack("<4sIQ", self.data[at:at + 16]) == (b"ZIDX", count, size)
                and 1 <= count <= 4096, "index: segment")
        entries = Entries(self.data[at + 24:at + 24 + size])
        records = [entries.next() for _ in range(count)]
        require(entries.at == size, "index: entries do not fill the segment")
        los = [r.lo for r in records]
        require(los == sorted(los), "index: entries are not sorted")
        require((los[0], max(r.hi for r in records), max(r.order for r in records),
                 sum(r.kind == SIZE for r in records)) == (lo, hi, newest, sizes),
                "index: what the directory says of a segment")
        for r in records:
            require(r.offset >= HEADER and r.offset % 8 == 0 and r.end() <= self.slot.log_end,
                    "index: place of a record")
            r.check()
        self.records += records
        return end

    def parse_head(self, at, head):
        """The record at `at` by its head, of which more may be given."""
        r = Record()
        r.offset = at
        (magic, r.kind, r.levels, r.order, r.lo, r.hi, r.bytes, r.payload_length, r.extents_length,
         r.rank, checksum) = struct.unpack("<4s2H5Q2IQ", head[:64])
        require(magic == b"ZREC", "record: magic")
        require(r.end() <= len(self.data), "record: does not fit")
        extents = head[64:64 + r.extents_length]
        require(xxh3(head[:56] + extents, self.seed(at)) == checksum, "record: checksum")
        r.check()
        r.set_extents(extents)
        return r

    def head_in_place(self, at):
        return self.data[at:at + 64 + u32(self.data[at:at + 64].ljust(64, b"\0"), 48)]

    def spare_head(self, at, spare):
        """The head of the record at `at` by its copy, or parity, at `spare`."""
        head = self.head_in_place(spare)
        if head[:4] == b"ZCPY":
            return b"ZREC" + head[4:]
        parts, size = parity_parts(at, head, len(self.data))
        frame = self.data[spare:spare + size]
        require(head[:4] == b"ZPAR" and xxh3(frame[:64] + frame[72:]) == u64(frame, 64), "parity: checksum")
        extents = bytearray(self.data[at + 64:at + 64 + pad8(u32(head, 48))])
        bad = [(begin, n, place) for k, (begin, n, place) in enumerate(parts)
               if xxh3(bytes(extents[begin:begin + n])) & M32 != u32(frame, 72 + 4 * k)]
        require(len(bad) <= 1, "parity: two sectors are damaged")
        for begin, n, place in bad:
            sector = bytearray(frame[-512:])
            for other, count, where in parts:
                if other != begin:
                    for i in range(count):
                        sector[where + i] ^= extents[other + i]
            extents[begin:begin + n] = sector[place:place + n]
        return b"ZREC" + head[4:64] + bytes(extents)

    def read_record(self, at, head):
        """By its head, if its payload is right, too."""
        r = self.parse_head(at, head)
        if r.kind == DATA:
            self.stream(r).verify()
        return r

    def with_head(self, r):
        """An index must say of a record what its head does, or what mends it; a list is there alone."""
        try:
            found = self.parse_head(r.offset, self.head_in_place(r.offset))
        except (FormatError, struct.error):
            require(r.levels == LIST, "record: its head is damaged")
            found = self.parse_head(r.offset, self.spare_head(r.offset, r.end()))
        same = dict(vars(found), list=None) if r.levels == LIST else vars(found)
        require(same == dict(vars(r), **({"list": None, "nest": []} if r.levels == LIST else {})),
                "record: the index says something else of it")
        return found

    def scan(self, at):
        """Records at and behind `at` that no index lists; returns where they end."""
        at = end = pad8(at)
        while at + 8 <= len(self.data):
            magic = self.data[at:at + 4]
            try:
                if magic == b"ZREC":
                    record = self.read_record(at, self.head_in_place(at))
                    self.records.append(record)
                    at = end = record.end()
                    continue
                if magic in (b"ZCPY", b"ZPAR"):
                    at, end = self.scan_spare(at, end)
                    continue
                if magic in (b"ZIDX", b"ZDIR"):
                    place = at
                    at = end = self.frame_end(at)
                    self.directory = place if magic == b"ZDIR" else self.directory
                    continue
            except (FormatError, struct.error):
                if magic == b"ZREC":
                    self.damaged.add(at)
            at += 8
        return end

    def scan_spare(self, at, end):
        """A copy of a head, or parity, stands for it if the record, not before `end`, was not found by it."""
        head = 64 + pad8(u32(self.data, at + 48))
        place = at - pad8(u64(self.data, at + 40)) - head
        size = head if self.data[at:at + 4] == b"ZCPY" else parity_parts(place, self.data[at:at + 64], len(self.data))[1]
        if place >= end:
            record = self.read_record(place, self.spare_head(place, at))
            require(record.levels == LIST and record.end() == at, "record: copy's place")
            self.records.append(record)
            self.damaged.discard(place)
        elif end != at:
            raise FormatError("record: copy's place")
        return at + size, at + size

    def require_alone(self, end):
        """Files may be joined: then another container begins behind this one's records."""
        at = self.data.find(MAGIC, end)
        while at >= 0:
            require(not has_header(self.data, at), f"another container begins at byte {at}, as where files were joined")
            at = self.data.find(MAGIC, at + 1)

    def is_complete(self, indexed):
        if not self.copied and not self.records:
            newer, tally = self.tally_at(128 if self.slot.generation % 2 == 0 else 152)
            if newer == self.slot.generation + 1 and tally:
                return False
        if self.newer is not None:
            return self.has_newer(indexed)
        return self.has_indexed(indexed)

    def has_indexed(self, indexed):
        has_none = self.slot.index == 0 and self.slot.log_end <= HEADER
        return indexed or has_none or self.all_found()

    def has_newer(self, indexed):
        """Were the records found that the index of the damaged newer slot has?"""
        if self.newer == -1 or (indexed and self.slot.tally is None):
            return not self.damaged and self.has_indexed(indexed)
        sums = [self.slot.tally if indexed else 0] * 2
        for r, before in self.scanned:
            tally = xxh3(struct.pack("<2Q", r.offset, r.order))
            sums[0] += tally
            sums[1] += tally if before else 0
        return self.newer in [total & M64 for total in sums]

    def all_found(self):
        """What was scanned is all that the index had (2.6), as far as the header tells."""
        found = [struct.pack("<2Q", r.offset, r.order) for r in self.records
                 if r.offset < self.slot.index]
        if self.slot.tally is not None:
            return sum(map(xxh3, found)) & M64 == self.slot.tally
        return self.size >= self.slot.size and not self.damaged

    # ---- reading ----

    @contextlib.contextmanager
    def doubts(self):
        """What cannot be read may be another program's."""
        try:
            yield
        except FormatError as error:
            require(not self.doubtful, f"{error}; perhaps this is a plain file that a program without zmpi wrote over a zmpi "
                    "container (zmpi info FILE judges that by its bytes)")
            raise

    def stream(self, record):
        at = record.payload_at()
        stream = Stream(self.data[at:at + record.payload_length])
        require(stream.size == record.bytes, "record: payload of another size")
        return stream

    def read(self, offset, length):
        """Logical bytes (2.4), each from the last record that covers it."""
        out = bytearray(length)
        for record in self.records:
            if record.kind == SIZE:
                keep = min(max(record.lo - offset, 0), length)
                out[keep:] = bytes(length - keep)
            elif record.lo < offset + length and record.hi > offset:
                self.overlay(record, out, offset)
        return out

    def next_data(self, offset):
        """The first byte at or behind `offset` that a record may cover; the size if there is none."""
        first = [max(r.lo, offset) for r in self.records if r.kind == DATA and r.hi > offset]
        return min(first + [self.size])

    def overlay(self, record, out, offset):
        if record.offset < self.indexed_to:
            record = self.with_head(record)
        data = self.stream(record).decode(self.network)
        position = 0
        for at, length in record.runs():
            first = max(at, offset)
            last = min(at + length, offset + len(out))
            if first < last:
                source = position + first - at
                out[first - offset:last - offset] = data[source:source + last - first]
            position += length

    def describe(self):
        lines = [f"container {self.slot.id.hex()}, generation {self.slot.generation}, "
                 f"{self.size} logical bytes, {len(self.records)} records, {self.listed} in the "
                 f"index, {len(self.data)} bytes"]
        for record in self.records:
            lines.append(record.describe())
            if record.kind == DATA:
                lines.append("    " + self.stream(record).describe())
        return "\n".join(lines)


# ---- command line ----


def cat(path, offset=None, length=None, enhance=False):
    container = open_container(path)
    container.network = container.read_network() if enhance else None
    start = min(int(offset), container.size) if offset is not None else 0
    rest = container.size - start
    count = min(int(length), rest) if length is not None else rest
    require(start >= 0 and count >= 0, "OFFSET and LENGTH must not be negative")
    with container.doubts():
        write(container, start, start + count, sys.stdout.buffer)
    require(container.whole, MISSING)


STEP = 1 << 26        # bytes that are read at a time
ZEROS_MOST = 1 << 40  # more are not written to what cannot have holes


def write(container, at, end, out):
    """Logical bytes `at` to `end`; holes become holes where `out` is a file that can have them."""
    holes = can_have_holes(out)
    if holes:
        os.ftruncate(out.fileno(), os.lseek(out.fileno(), 0, os.SEEK_CUR) + end - at)
    while at < end:
        data = min(container.next_data(at), end)
        if holes:
            os.lseek(out.fileno(), data - at, os.SEEK_CUR)
        else:
            require(data - at <= ZEROS_MOST, f"bytes {at} to {data} have no data: so many zeros are not written")
            for part in range(at, data, STEP):
                out.write(bytes(min(STEP, data - part)))
        at = data
        out.write(container.read(at, min(STEP, end - at)))
        out.flush()
        at += min(STEP, end - at)


def can_have_holes(out):
    """Is it a file that is written from its end on? Then what is not written is zero."""
    try:
        is_file = stat.S_ISREG(os.fstat(out.fileno()).st_mode)
        is_file = is_file and not fcntl.fcntl(out, fcntl.F_GETFL) & os.O_APPEND
        return is_file and os.lseek(out.fileno(), 0, os.SEEK_CUR) == os.fstat(out.fileno()).st_size
    except OSError:
        return False


def info(path):
    container = open_container(path)
    with container.doubts():
        print(container.describe())
    require(container.whole, MISSING)


def open_container(path):
    with open(path, "rb") as file:
        return Container(file.read())


def main(arguments):
    commands = {("cat", 2): cat, ("cat", 4): cat, ("info", 2): info}
    if arguments[:1] == ["--enhance"]:
        del arguments[0]
        commands = {(name, n): functools.partial(cat, enhance=True) for name, n in commands if name == "cat"}
    command = commands.get((arguments[0] if arguments else "", len(arguments)))
    if command is None:
        sys.stderr.write(__doc__)
        return 2
    try:
        command(*arguments[1:])
    except (FormatError, OSError, ValueError) as error:
        print(f"zmpi_reader.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
