"""A run time whose wafer is our simulator: zmpi-csl does what was asked since load(), again for each array that is fetched."""
import os
import subprocess

ZMPI_CSL = os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi-csl")


class MemcpyDataType:
    MEMCPY_32BIT = "32"


class MemcpyOrder:
    ROW_MAJOR = "row"


class SdkRuntime:
    def __init__(self, name, cmaddr=None):
        assert cmaddr == (os.environ.get("ZMPI_WSE_ADDRESS") or None)
        self.folder = name
        with open(os.path.join(name, "program")) as file:
            self.program = file.read().split("\n")[:-1]
        self.asked = None

    def load(self):
        print("said on standard output")
        self.asked = []

    def run(self):
        assert self.asked == []

    def stop(self):
        self.asked = None

    def get_id(self, name):
        return name

    def transfer(self, verb, name, x, y, width, height, elements, streaming, order, data_type, nonblock):
        assert (x, y, height, order, data_type) == (0, 0, 3, "row", "32") and 1 <= width <= 4 and not streaming and not nonblock
        path = os.path.join(self.folder, f"{len(self.asked)}.words")
        return path, f"--{verb}={name}:{x},{y},{width},{height}:{elements}:{path}"

    def memcpy_h2d(self, dst, src, x, y, width, height, elements, *, streaming, order, data_type, nonblock):
        path, option = self.transfer("h2d", dst, x, y, width, height, elements, streaming, order, data_type, nonblock)
        assert len(src) == 4 * width * height * elements
        with open(path, "wb") as file:
            file.write(src)
        self.asked.append(option)

    def memcpy_d2h(self, dst, src, x, y, width, height, elements, *, streaming, order, data_type, nonblock):
        path, option = self.transfer("d2h", src, x, y, width, height, elements, streaming, order, data_type, nonblock)
        assert len(dst) == 4 * width * height * elements
        subprocess.run([ZMPI_CSL, "run", *self.program, *self.asked, option], check=True)
        with open(path, "rb") as file:
            dst[:] = file.read()
        assert len(dst) == 4 * width * height * elements

    def launch(self, name, nonblock):
        assert name in ("compress", "decompress", "run") and not nonblock
        if os.environ.get("ZMPI_TEST_SDK") == "fail":
            raise RuntimeError("the wafer is\non fire")
        self.asked.append(f"--launch={name}")
