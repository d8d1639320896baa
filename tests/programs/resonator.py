#!/usr/bin/env python3
"""resonator.py PATH: a ring resonator by Meep, which writes its fields through HDF5 with MPI-IO."""
import glob
import os
import sys

import meep as mp

ring = [mp.Cylinder(radius=2, material=mp.Medium(index=3.4)), mp.Cylinder(radius=1)]
source = mp.Source(mp.GaussianSource(0.15, fwidth=0.1), component=mp.Ez, center=mp.Vector3(1.5))
sim = mp.Simulation(cell_size=mp.Vector3(10, 10, 3), geometry=ring, sources=[source], resolution=8, boundary_layers=[mp.PML(1)],
                    filename_prefix="resonator")
sim.run(until=6)
mp.output_efield(sim)
mp.all_wait()
if mp.am_master():
    os.rename(glob.glob("resonator*.h5")[0], sys.argv[1])
mp.all_wait()
