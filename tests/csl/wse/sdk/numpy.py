"""As much of numpy as csl/sdk/bridge.py uses."""
uint32 = "uint32"


class Array(bytearray):
    def tobytes(self):
        return bytes(self)


def frombuffer(data, dtype):
    assert dtype == uint32
    return Array(data)


def zeros(count, dtype):
    assert dtype == uint32
    return Array(4 * count)
