/*
 * wave3d: acoustic waves in a layered earth. wave3d.c holds the physics and the time loop,
 * wave3d_grid.c the decomposition and the halo exchange, wave3d_io.c all output and restart.
 *
 * Arrays are in C order [z][y][x]; index 0 of every triple is z (depth), the slowest dimension.
 */
#ifndef WAVE3D_H
#define WAVE3D_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Ghost cells on each side: half the width of the 8th-order stencil. */
#define HALO 4

struct grid {
    MPI_Comm comm; /* Cartesian */
    int rank;
    int ranks;
    int size[3];  /* cells of the whole grid */
    int start[3]; /* first own cell, in the whole grid */
    int count[3]; /* own cells; all 0 on a rank without a block */
    bool empty;
    int neighbour[3][2];     /* rank below and above, or MPI_PROC_NULL */
    size_t stride[3];        /* of the local array with its ghost cells */
    size_t local_cells;      /* cells of the local array with its ghost cells */
    size_t own_cells;        /* cells of the own block */
    MPI_Datatype send[3][2]; /* own cells next to each face */
    MPI_Datatype recv[3][2]; /* ghost cells behind each face */
    MPI_Datatype block;      /* own cells in the local array: memory side of all file access */
    MPI_Datatype view;       /* own cells in the whole grid: file side of all file access */
};

/* Volume and time of file access, summed up over the run. */
struct io_stats {
    long long bytes;
    double seconds;
};

/* Receiver samples, kept for some steps and then gathered on rank 0. */
struct traces {
    int total;       /* receivers in the whole grid */
    int padded;      /* most receivers on any rank; MPI_Gather needs equal counts */
    int own;         /* receivers on this rank */
    size_t *cell;    /* index of each own receiver in the local array */
    int capacity;    /* steps that fit before the next gather */
    int used;        /* steps recorded since the last gather */
    float *samples;  /* [capacity][padded] */
    float *gathered; /* rank 0: [ranks][used][padded] */
    int *ids;        /* rank 0: [ranks][padded], the receiver's number or -1 for padding */
    float *row;      /* rank 0: one step of all receivers */
    FILE *file;      /* rank 0: [step][receiver] */
    const char *path;
};

/* wave3d_grid.c */
void grid_create(struct grid *g, const int size[3]);
void grid_free(struct grid *g);
void grid_exchange(const struct grid *g, float *field);
size_t grid_index(const struct grid *g, int z, int y, int x);

/* wave3d_io.c */
MPI_File snapshots_open(const struct grid *g, const char *path, bool restart, struct io_stats *io);
void snapshots_write(const struct grid *g, MPI_File file, const char *path, int number,
                     const float *field, struct io_stats *io);
void snapshots_close(MPI_File file, const char *path, struct io_stats *io);

void checkpoint_write(const struct grid *g, const char *path, int step, const float *now,
                      const float *before, struct io_stats *io);
/* Returns the step at which the checkpoint was taken. */
int checkpoint_read(const struct grid *g, const char *path, float *now, float *before,
                    struct io_stats *io);

void traces_open(struct traces *t, const struct grid *g, const char *path, int capacity,
                 int first_step);
void traces_record(struct traces *t, const float *field);
void traces_gather(struct traces *t, const struct grid *g);
void traces_close(struct traces *t, const struct grid *g);

#endif
