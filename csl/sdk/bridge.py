#!/usr/bin/env cs_python
"""The vendor's run time for csl/host/chip_sdk.c, which starts this with a socket as standard input.

Requests are lines, answered by "ok" or "error TEXT": "to NAME COLUMNS ELEMENTS" is followed by that many 32-bit words for each
processing element of the first columns, "from NAME COLUMNS ELEMENTS" is answered by "ok" and as many, and "launch FUNCTION 0 0"
calls it on all.

Written against the public documents of SdkRuntime (SDK 2.x); not yet run with the vendor's tools.
"""
import argparse
import socket
import sys

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime


def serve(runner, peer, height):
    """Answers requests until the socket is closed."""
    how = {"streaming": False, "order": MemcpyOrder.ROW_MAJOR,
           "data_type": MemcpyDataType.MEMCPY_32BIT, "nonblock": False}
    for line in iter(peer.readline, b""):
        verb, name, columns, elements = line.decode().split()
        width, elements = int(columns), int(elements)
        words = width * height * elements
        answer = b""
        if verb == "to":
            data = np.frombuffer(peer.read(4 * words), dtype=np.uint32)
            runner.memcpy_h2d(runner.get_id(name), data, 0, 0, width, height, elements, **how)
        elif verb == "from":
            data = np.zeros(words, dtype=np.uint32)
            runner.memcpy_d2h(data, runner.get_id(name), 0, 0, width, height, elements, **how)
            answer = data.tobytes()
        else:
            runner.launch(name, nonblock=False)
        peer.write(b"ok\n" + answer)
        peer.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True, help="what cslc made")
    parser.add_argument("--cmaddr", default=None, help="address of a CS system; else the vendor's simulator")
    parser.add_argument("--height", type=int, required=True)
    arguments = parser.parse_args()
    peer = socket.socket(fileno=sys.stdin.fileno()).makefile("rwb")
    try:
        runner = SdkRuntime(arguments.name, cmaddr=arguments.cmaddr)
        runner.load()
        runner.run()
        serve(runner, peer, arguments.height)
        runner.stop()
    except Exception as error:  # whatever it is, the other side must hear of it
        peer.write(("error " + " ".join(str(error).split())[:200] + "\n").encode())
        peer.flush()
        raise


if __name__ == "__main__":
    main()
