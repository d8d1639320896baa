#!/usr/bin/env python3
"""PETSc: the vector of a 3-D grid and the matrix of a Laplacian, by its viewers.

    petsc.py hdf5 PATH               by the HDF5 viewer
    petsc.py vector|matrix PATH      by the binary viewer, with MPI-IO: big-endian, a matrix with indices before its numbers
    petsc.py DELTA PLAIN OTHER       do two binary files differ by DELTA at most, in numbers alone?
"""
import sys

import numpy as np
import petsc4py

petsc4py.init(["petsc", "-viewer_binary_mpiio"])
from petsc4py import PETSc

N = 40
MATRIX = 1211216 # what a file with one begins with


def grid():
    da = PETSc.DMDA().create([N, N, N], dof=1, stencil_width=1)
    vector = da.createGlobalVec()
    (x0, x1), (y0, y1), (z0, z1) = da.getRanges()
    x, y, z = np.meshgrid(np.arange(x0, x1), np.arange(y0, y1), np.arange(z0, z1), indexing="ij")
    array = da.getVecArray(vector)
    array[:, :, :] = 20 * np.sin(0.1 * x) * np.cos(0.07 * y) + 3 * np.sin(0.05 * z)
    return da, vector


def laplacian():
    """With a conductivity that changes from cell to cell."""
    matrix = PETSc.Mat().createAIJ([N**3, N**3], nnz=7)
    for row in range(*matrix.getOwnershipRange()):
        columns = [c for c in (row - N * N, row - N, row - 1, row, row + 1, row + N, row + N * N) if 0 <= c < N**3]
        values = [7 + np.sin(0.001 * row) if c == row else -1 - 0.1 * np.sin(0.001 * (row + c)) for c in columns]
        matrix.setValues([row], columns, values)
    matrix.assemble()
    return matrix


def compare(delta, plain, other):
    with open(plain, "rb") as file:
        is_matrix = int.from_bytes(file.read(4), "big") == MATRIX
    values = []
    for path in (plain, other):
        viewer = PETSc.Viewer().createBinary(path, "r", comm=PETSc.COMM_SELF)
        if is_matrix:
            matrix = PETSc.Mat().create(comm=PETSc.COMM_SELF)
            values.append(matrix.load(viewer).getValuesCSR())
        else:
            values.append(([], [], PETSc.Vec().load(viewer).getArray()))
    (rows, columns, first), (other_rows, other_columns, second) = values
    assert np.array_equal(rows, other_rows) and np.array_equal(columns, other_columns), "indices differ"
    largest = np.max(np.abs(first - second))
    print("largest difference", largest)
    return int(largest > delta)


def main():
    if sys.argv[1] == "hdf5":
        _, vector = grid()
        viewer = PETSc.ViewerHDF5().create(sys.argv[2], "w")
        for step in range(3):
            vector.setName(f"u{step}")
            vector.view(viewer)
            vector.scale(0.9)
    elif sys.argv[1] in ("vector", "matrix"):
        # In a file of its own: behind a vector PETSc 3.18 writes a matrix to a wrong place.
        viewer = PETSc.Viewer().createBinary(sys.argv[2], "w")
        (grid()[1] if sys.argv[1] == "vector" else laplacian()).view(viewer)
    else:
        sys.exit(compare(float(sys.argv[1]), *sys.argv[2:]))
    viewer.destroy()


main()
