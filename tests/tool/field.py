#!/usr/bin/env python3
"""Raw fields for the tool's tests, and ways to look at and damage files. Standard library only.

    field.py make f32|f64 COUNT FILE [special]   a smooth field; special: NaN, infinities, -0 and fill values in it
    field.py within f32|f64 A B ABS              is every finite element of B within ABS of A, all others bit-equal?
    field.py range f32|f64 FILE                  max - min
    field.py flip FILE OFFSET                    change the byte at OFFSET
    field.py list FILE|FOLDER NAME               give it an access control list of this name
    field.py attributes FILE                     the list and the user's attributes that it has
    field.py json FILE EXPRESSION                is FILE valid JSON, and EXPRESSION about it, called d, true?
"""
import array
import json
import math
import os
import struct
import sys

CODE = {"f32": "f", "f64": "d"}


def read(kind, path):
    values = array.array(CODE[kind])
    with open(path, "rb") as f:
        values.frombytes(f.read())
    return values


def make(kind, count, path, special=None):
    values = array.array(CODE[kind], (100 + 10 * math.sin(0.01 * i) + math.cos(0.37 * i) for i in range(count)))
    if special:
        odd = [math.nan, math.inf, -math.inf, -0.0, 1e20, 9.96921e36]
        for i in range(5, count, 97):
            values[i] = odd[i % len(odd)]
    with open(path, "wb") as f:
        f.write(values.tobytes())


def within(kind, a, b, bound):
    x, y = read(kind, a), read(kind, b)
    if len(x) != len(y):
        sys.exit(f"{len(x)} and {len(y)} elements")
    size = x.itemsize
    p, q = x.tobytes(), y.tobytes()
    for i, (u, v) in enumerate(zip(x, y)):
        same = p[size * i:size * i + size] == q[size * i:size * i + size]
        if not same and not (math.isfinite(u) and abs(u - v) <= bound):
            sys.exit(f"element {i}: {u} became {v}, bound {bound}")


def main(command, *args):
    if command == "make":
        make(args[0], int(args[1]), *args[2:])
    elif command == "within":
        within(args[0], args[1], args[2], float(args[3]))
    elif command == "range":
        values = [v for v in read(*args) if math.isfinite(v)]
        print(repr(max(values) - min(values)))
    elif command == "list":
        entries = (1, 6, -1), (2, 4, 12345), (4, 4, -1), (16, 6, -1), (32, 0, -1)  # tag, permissions, id
        os.setxattr(args[0], args[1], struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *e) for e in entries))
        if os.path.isfile(args[0]):
            os.setxattr(args[0], "user.origin", b"run 7")
    elif command == "attributes":
        print([(name, os.getxattr(args[0], name)) for name in sorted(os.listxattr(args[0]))])
    elif command == "flip":
        with open(args[0], "r+b") as f:
            f.seek(int(args[1]))
            byte = f.read(1)[0]
            f.seek(int(args[1]))
            f.write(struct.pack("B", byte ^ 0x5A))
    elif command == "json":
        with open(args[0], encoding="utf-8") as f:
            d = json.load(f)
        if not eval(args[1], {"d": d}):
            sys.exit(f"not so: {str(d)[:300]}")
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
