#!/usr/bin/env python3
"""random_programs.py ZMPI-CSL [FIRST [COUNT]]: random CSL programs give what a model in Python gives.

Each program has variables of all numeric types, branches, loops, functions, blocks with values and DSD operations; it
asserts every variable and element at its end. Parts of its expressions are known when compiling.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

INTS = {f"{s}{b}": (s, b) for s in "iu" for b in (8, 16, 32, 64)}
LAYOUT = """const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @export_name("run", fn()void);
}
"""


def wrap(t, v):
    sign, bits = INTS[t]
    v &= (1 << bits) - 1
    return v - (1 << bits) if sign == "i" and v >> (bits - 1) else v


def rounded(t, v):
    """v as a float of type t, or None where it is not finite."""
    try:
        code = "<e" if t == "f16" else "<f"
        return struct.unpack(code, struct.pack(code, v))[0]
    except (OverflowError, struct.error):
        return None


def text(t, v):
    if t == "bool":
        return "true" if v else "false"
    if t in INTS:
        return str(v)
    return repr(v) if "e" not in repr(v) else f"{v:.40f}".rstrip("0") + "0"


def truncate(a, b):
    """Division as C has it."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def half_words(op, x, y):
    """A 16-bit DSD operation."""
    sign = x - 0x10000 if x >> 15 else x
    return {"add16": x + y, "sub16": x - y, "and16": x & y, "or16": x | y, "xor16": x ^ y, "sll16": x << (y & 15),
            "slr16": x >> (y & 15), "sar16": sign >> (y & 15)}[op] & 0xffff


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.vars, self.lines, self.values = {}, [], {}
        self.functions, self.globals = [], []
        self.names = 0
        self.arrays = {}  # global: u16 and f32

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def literal(self, t):
        r = self.r
        if t == "bool":
            return r.random() < 0.5
        if t in INTS:
            sign, bits = INTS[t]
            v = r.choice([r.getrandbits(bits), r.randrange(8), (1 << bits) - 1, 1 << (bits - 1)])
            v = wrap(t, v)
            return v if -(1 << 63) < v < 1 << 63 else 5  # what a literal can be
        return rounded(t, r.choice([r.uniform(-100, 100), float(r.randrange(-8, 9)), 0.5]))

    def expr(self, t, depth):
        """Text, value, and whether it is known when compiling."""
        r = self.r
        names = [n for n, (vt, _) in self.vars.items() if vt == t]
        if depth == 0 or r.random() < 0.15:
            if names and r.random() < 0.8:
                n = r.choice(names)
                return n, self.vars[n][1], False
            v = self.literal(t)
            return (f"@as({t}, {text(t, v)})" if t != "bool" else text(t, v)), v, True
        while True:
            e = self.operation(t, depth - 1)
            if e is not None and e[1] is not None:
                return e

    def operation(self, t, depth):
        """The same; None, or a value of None, where the result is an error or not a number."""
        r = self.r
        kind = r.randrange(10)
        if kind == 0:  # another type's value
            s = r.choice(list(INTS) + ["f16", "f32", "bool"])
            a, x, known = self.expr(s, depth)
            return f"@as({t}, {a})", self.convert(s, t, x), known
        if kind == 1:
            c, y, known = self.expr("bool", depth)
            (a, x, ka), (b, z, kb) = self.expr(t, depth), self.expr(t, depth)
            return f"(if ({c}) {a} else {b})", x if y else z, known and (ka if y else kb)
        if t == "bool":
            return self.condition(depth)
        a, x, known = self.expr(t, depth)
        if kind == 2:
            return f"(-{a})", self.fit(t, -x, known) if t in INTS else -x, known
        if t in INTS and kind == 3:
            return f"(~{a})", wrap(t, ~x), known
        if t in INTS and kind == 4:
            by, op = r.randrange(INTS[t][1]), r.choice(["<<", ">>"])
            return f"({a} {op} {by})", wrap(t, x << by if op == "<<" else x >> by), known
        b, y, kb = self.expr(t, depth)
        known = known and kb
        if t in INTS:
            op = r.choice("+-*/%&|^")
            return f"({a} {op} {b})", self.integers(t, op, x, y, known), known
        op = r.choice("+-*/")
        if op == "/" and y == 0:
            return None
        v = {"+": x + y, "-": x - y, "*": x * y, "/": x / y if y else 0}[op]
        # a double's sum, product and quotient of two f32 or f16 round once more to the same
        return f"({a} {op} {b})", rounded(t, v), known

    @staticmethod
    def fit(t, v, known):
        """What is known must fit, what is not wraps."""
        return None if known and wrap(t, v) != v else wrap(t, v)

    def integers(self, t, op, x, y, known):
        if op in "/%" and (y == 0 or (y == -1 and x == -(1 << (INTS[t][1] - 1)))):
            return None
        v = {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}.get(op)
        if v is None:
            q = truncate(x, y)
            v = q if op == "/" else x - q * y
        return self.fit(t, v, known)

    def condition(self, depth):
        r = self.r
        if r.random() < 0.4:
            (a, x, ka), (b, y, kb) = self.expr("bool", depth), self.expr("bool", depth)
            op = r.choice(["and", "or", "==", "!="])
            known = ka and (kb or (op == "and" and not x) or (op == "or" and x))
            return f"({a} {op} {b})", {"and": x and y, "or": x or y, "==": x == y, "!=": x != y}[op], known
        if r.random() < 0.2:
            a, x, known = self.expr("bool", depth)
            return f"(!{a})", not x, known
        t = r.choice(list(INTS) + ["f16", "f32"])
        (a, x, ka), (b, y, kb) = self.expr(t, depth), self.expr(t, depth)
        op = r.choice(["<", "<=", ">", ">=", "==", "!="])
        value = {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[op]
        return f"({a} {op} {b})", value, ka and kb

    @staticmethod
    def convert(s, t, x):
        if t == "bool":
            return bool(x)
        if s == "bool":
            x = int(x)
        if t in INTS and s in ("f16", "f32"):
            v = int(x)
            return v if wrap(t, v) == v else None
        if t in INTS:
            return wrap(t, x)
        if isinstance(x, int) and abs(x) >= 1 << 24:
            return None  # whether it rounds once or twice
        return rounded(t, x)

    def assign(self, depth, indent):
        n = self.r.choice([n for n, (_, v) in self.vars.items() if n.startswith("v")])
        t = self.vars[n][0]
        e, v, _ = self.expr(t, depth)
        self.lines.append(f"{indent}{n} = {e};")
        self.vars[n] = (t, v)

    def view(self, array, extent):
        """A DSD of a global array, known or not, and the elements that it names."""
        r, size = self.r, len(self.arrays[array])
        stride = r.choice([s for s in (-3, -2, -1, 0, 1, 2, 3, 5) if abs(s) * (extent - 1) < size])
        span = stride * (extent - 1)
        offset = r.randrange(max(0, -span), size - max(0, span))
        kind = r.randrange(3)
        if kind == 0:
            made = f"@get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{extent}}} -> {array}[{stride} * i + {offset}] }})"
        else:  # of numbers that are known, or added to a variable
            plus = "" if kind == 1 else " + zero"
            made = (f"@get_dsd(mem1d_dsd, .{{ .base_address = &{array}, .extent = @as(u16, {extent}){plus}, "
                    f".stride = {stride}, .offset = {offset} }})")
        if r.random() < 0.3:
            made = f"@set_dsd_length({made}, {extent})"
        return made, [offset + stride * i for i in range(extent)]

    def dsd_operation(self, indent):
        r, extent = self.r, self.r.randrange(1, 7)
        words = r.random() < 0.6
        to, first, second = ("a16", "b16", "c16") if words else ("a32", "b32", "c32")
        (dt, it), (d1, i1), (d2, i2) = self.view(to, extent), self.view(first, extent), self.view(second, extent)
        op = r.choice(["add16", "sub16", "and16", "or16", "xor16"] if words else ["fadds", "fsubs", "fmuls"])
        scalar = r.random() < 0.4
        if words and r.random() < 0.3:
            op, scalar = r.choice(["sll16", "slr16", "sar16"]), True
        value = r.randrange(16) if words else rounded("f32", r.uniform(-4, 4))
        other = text("u16" if words else "f32", value) if scalar else d2
        self.lines.append(f"{indent}@{op}({dt}, {d1}, {other});")
        for k in range(extent):
            x, y = self.arrays[first][i1[k]], value if scalar else self.arrays[second][i2[k]]
            self.arrays[to][it[k]] = half_words(op, x, y) if words else rounded(
                "f32", {"fadds": x + y, "fsubs": x - y, "fmuls": x * y}[op])

    def check(self, indent, n, t, v):
        if t in ("u64", "i64"):  # more than a literal can be
            self.lines.append(f"{indent}@assert({n} >> 32 == {v >> 32} and {n} & 0xffffffff == {v & 0xffffffff});")
        else:
            self.lines.append(f"{indent}@assert({n} == {text(t, v)});")

    def branch(self, depth, indent):
        """The side that is not taken changes nothing."""
        c, taken, _ = self.expr("bool", 2)
        before, after = dict(self.vars), None
        for side in (True, False):
            self.vars = dict(before)
            self.lines.append(f"{indent}if ({c}) {{" if side else f"{indent}}} else {{")
            for _ in range(self.r.randrange(1, 4)):
                self.statement(depth - 1, indent + "  ")
            if side == bool(taken):
                after = self.vars
        self.vars = after
        self.lines.append(f"{indent}}}")

    def loop(self, indent):
        """A sum over a range or an array."""
        r, n = self.r, self.name()
        t = r.choice(["u16", "i16", "u32", "i32"])
        if r.random() < 0.5:
            start, stop, step = r.randrange(-5, 5), r.randrange(-5, 12), r.choice([-2, -1, 1, 3])
            items, over = range(start, stop, step), f"@range(i16, {start}, {stop}, {step})"
        else:
            items = [wrap("i16", r.getrandbits(16)) for _ in range(r.randrange(1, 6))]
            over = f"[{len(items)}]i16{{ {', '.join(map(str, items))} }}"
        self.lines.append(f"{indent}var {n}: {t} = 0;")
        self.lines.append(f"{indent}for ({over}) |x, i| {{ {n} = {n} * 3 + @as({t}, x) + @as({t}, i); }}")
        v = 0
        for i, x in enumerate(items):
            v = wrap(t, wrap(t, v * 3) + wrap(t, x) + i)
        self.check(indent, n, t, v)

    def block(self, indent):
        """A block with a value."""
        t, n = self.r.choice(list(INTS)), self.name()
        c, y, _ = self.expr("bool", 1)
        (a, x, _), (b, z, _) = self.expr(t, 2), self.expr(t, 2)
        self.lines.append(f"{indent}const {n} = l{n}: {{ if ({c}) {{ break :l{n} {a}; }} break :l{n} {b}; }};")
        self.check(indent, n, t, x if y else z)

    def call(self, indent):
        f, t, args = self.r.choice(self.functions)
        given = [self.expr(a, 2) for a in args]
        # the first is a variable: a sum that is known must not wrap
        given[0] = self.r.choice([(n, v) for n, (vt, v) in self.vars.items() if vt == args[0]])
        self.lines.append(f"{indent}{f}({', '.join(g[0] for g in given)});")
        self.vars["g" + f] = (t, wrap(t, sum(g[1] for g in given)))

    def statement(self, depth, indent="  "):
        kind = self.r.randrange(7)
        if kind == 0 and depth > 0:
            self.branch(depth, indent)
        elif kind == 1:
            self.loop(indent)
        elif kind == 2:
            self.block(indent)
        elif kind == 3:
            self.call(indent)
        elif kind == 4 and indent == "  ":  # not in a branch, which would not always run
            self.dsd_operation(indent)
        else:
            self.assign(3, indent)

    def make(self):
        r = self.r
        types = list(INTS) + ["f16", "f32", "bool"]
        for i in range(2):  # functions that keep what they compute in a global variable
            t, args = r.choice(list(INTS)), [r.choice(list(INTS)) for _ in range(r.randrange(1, 4))]
            f = f"f{i}"
            total = " + ".join(f"@as({t}, a{k})" for k in range(len(args)))
            inline = r.choice(["", "inline "])
            self.globals.append(f"var g{f}: {t} = 0;")
            params = ", ".join(f"a{k}: {a}" for k, a in enumerate(args))
            self.globals.append(f"{inline}fn {f}({params}) void {{ g{f} = {total}; }}")
            self.vars["g" + f] = (t, 0)
            self.functions.append((f, t, args))
        self.globals.append("var zero: u16 = 0;")
        for a in ("a", "b", "c"):
            self.arrays[a + "16"] = [r.getrandbits(16) for _ in range(12)]
            self.arrays[a + "32"] = [rounded("f32", r.uniform(-9, 9)) for _ in range(9)]
        for a, values in self.arrays.items():
            t = "u16" if a.endswith("16") else "f32"
            self.globals.append(f"var {a} = [{len(values)}]{t}{{ {', '.join(text(t, v) for v in values)} }};")
        for t in types + [r.choice(types) for _ in range(3)]:
            n, v = self.name(), self.literal(t)
            self.vars[n] = (t, v)
            where = self.globals if r.random() < 0.5 else self.lines
            where.append(f"{'' if where is self.globals else '  '}var {n}: {t} = {text(t, v)};")
        for _ in range(12):
            self.statement(2)
        for n, (t, v) in self.vars.items():
            self.check("  ", n, t, v)
        for a, values in self.arrays.items():
            for i, v in enumerate(values):
                self.check("  ", f"{a}[{i}]", "u16" if a.endswith("16") else "f32", v)
        return ("param memcpy_params;\nconst sys_mod = @import_module(\"<memcpy/memcpy>\", memcpy_params);\n" +
                "\n".join(self.globals) + "\nfn run() void {\n" + "\n".join(self.lines) +
                "\n  sys_mod.unblock_cmd_stream();\n}\ncomptime { @export_symbol(run); }\n")


def main():
    csl = sys.argv[1]
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "layout.csl"), "w", encoding="utf-8") as f:
            f.write(LAYOUT)
        for seed in range(first, first + count):
            program = Program(seed).make()
            with open(os.path.join(folder, "pe.csl"), "w", encoding="utf-8") as f:
                f.write(program)
            command = [csl, "run", os.path.join(folder, "layout.csl"), f"--arch=wse{2 + seed % 2}", "--launch=run"]
            result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
            if result.returncode != 0:
                print(program)
                sys.exit(f"program {seed}: {result.stderr}")
    print(f"{count} programs")


main()
