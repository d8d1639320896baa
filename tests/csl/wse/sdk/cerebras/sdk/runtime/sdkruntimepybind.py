"""A run time that keeps arrays, and whose processing elements leave every chunk to the host."""
import os

LEFT_TO_HOST = (1).to_bytes(4, "little")
SPECIAL = (0x80).to_bytes(4, "little")  # of rows: the length of a block whose chunk is the host's


class MemcpyDataType:
    MEMCPY_32BIT = "32"


class MemcpyOrder:
    ROW_MAJOR = "row"


class SdkRuntime:
    def __init__(self, name, cmaddr=None):
        assert os.path.isdir(name) and cmaddr == (os.environ.get("ZMPI_WSE_ADDRESS") or None)
        self.arrays = {}

    def load(self):
        print("said on standard output")

    def run(self):
        pass

    def stop(self):
        pass

    def get_id(self, name):
        return name

    def memcpy_h2d(self, dst, src, x, y, width, height, elements, *, streaming, order, data_type, nonblock):
        assert (x, y, width, height, order, data_type) == (0, 0, 4, 3, "row", "32") and not streaming and not nonblock
        assert len(src) == 4 * width * height * elements
        self.arrays[dst] = bytes(src)

    def memcpy_d2h(self, dst, src, x, y, width, height, elements, *, streaming, order, data_type, nonblock):
        assert (x, y, width, height, order, data_type) == (0, 0, 4, 3, "row", "32") and not streaming and not nonblock
        dst[:] = self.arrays[src]
        assert len(dst) == 4 * width * height * elements

    def launch(self, name, nonblock):
        assert name in ("compress", "run") and not nonblock and "job" in self.arrays and "data" in self.arrays
        if os.environ.get("ZMPI_TEST_SDK") == "fail":
            raise RuntimeError("the wafer is\non fire")
        self.arrays["answer"] = 12 * (LEFT_TO_HOST + bytes(28))
        if name == "run":
            self.arrays["data"] = len(self.arrays["data"]) // 4 * SPECIAL
