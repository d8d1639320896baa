#!/bin/sh
# includes.sh: the folders of codec/, pmpi/ and smartnic/ include only what stands below them, and all hold few enough files.
exec python3 "$ZMPI_TEST_SOURCE/scripts/check_includes.py" "$ZMPI_TEST_SOURCE"
