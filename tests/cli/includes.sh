#!/bin/sh
# includes.sh: the folders of codec/ and pmpi/ include only what stands below them, and hold few enough files.
exec python3 "$ZMPI_TEST_SOURCE/scripts/check_includes.py" "$ZMPI_TEST_SOURCE"
