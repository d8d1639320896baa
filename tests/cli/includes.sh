#!/bin/sh
# includes.sh: the folders of codec/, pmpi/ and smartnic/ include only what stands below them, and all hold few enough files; files
# do not call each other in circles.
set -e
python3 "$ZMPI_TEST_SOURCE/scripts/check_includes.py" "$ZMPI_TEST_SOURCE"
exec python3 "$ZMPI_TEST_SOURCE/scripts/check_circles.py" "$(dirname "$ZMPI_TEST_BIN")"
