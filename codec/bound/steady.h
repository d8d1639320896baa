/*
 * steady.h - bounds that follow the range of the data, but do not change when decoded data are
 * coded again, although decoding has changed the range (format.md 4.1).
 */
#ifndef ZMPI_STEADY_H
#define ZMPI_STEADY_H

#include "device.h"

/* Bounds lie on a grid: 32 of them for each power of two. */
enum { ZMPI_GRID_OCTAVE = 32 };

/* Bound `place` of the grid: exact in f32 as long as that has normal numbers. */
double zmpi_grid_at(int place);
/* The place of the largest bound of the grid that is not above x, which is finite and > 0. */
int zmpi_grid_below(double x);

/*
 * A bound of the grid, at most `part` times max - min, for data of this range. Where it is given,
 * streams may be coded by the bound times each of `scale` as well, all of them at most 1. 0: there
 * is none, since all elements are alike.
 */
double zmpi_steady_bound(enum zmpi_type type, double part, const double *scale, int scales,
                         const struct zmpi_range *range);

/*
 * psnr, of data in the host's or a device's memory: if they are multiples of the steps of a finer
 * bound that the job has, that one becomes the job's, and what is coarser is not tried.
 */
void zmpi_steady_finer(struct zmpi_job *job, const void *src);

/*
 * ratio: of samples of an array, how many tell anything, and, added to multiples[k], how many of
 * them are multiples of
 * - primes: the k-th prime of the grid;
 * - octaves: the first steps of the bound at `place - 32 k`;
 * - places: any steps of the bound at `place - k`.
 */
enum { ZMPI_STEADY_SUMS = 128 };
void zmpi_steady_primes(const struct zmpi_array *array, const void *src, double keep,
                        uint64_t *samples, uint64_t multiples[ZMPI_STEADY_SUMS]);
void zmpi_steady_octaves(const struct zmpi_array *array, const void *src, double keep, int place,
                         uint64_t *samples, uint64_t multiples[ZMPI_STEADY_SUMS]);
void zmpi_steady_places(const struct zmpi_array *array, const void *src, double keep, int place,
                        uint64_t *samples, uint64_t multiples[ZMPI_STEADY_SUMS]);
/* Of so many samples, are these all, but for what may have been kept exactly? */
bool zmpi_steady_all(uint64_t samples, uint64_t multiples);

#endif
