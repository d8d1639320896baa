/* wave3d: who owns which cells, and the exchange of ghost cells. */
#include "app_common.h"
#include "wave3d.h"

size_t grid_index(const struct grid *g, int z, int y, int x)
{
    return (size_t)(z + HALO) * g->stride[0] + (size_t)(y + HALO) * g->stride[1] +
           (size_t)(x + HALO);
}

/*
 * A block thinner than the halo would need data from its neighbour's neighbour. So a dimension is
 * cut into at most size / HALO blocks; the ranks beyond own nothing and only join collective calls.
 */
static int parts_of(int size, int ranks)
{
    int most = size / HALO > 0 ? size / HALO : 1;
    return ranks < most ? ranks : most;
}

static void place_block(struct grid *g, const int cut[3], const int coordinate[3])
{
    g->empty = false;
    for (int d = 0; d < 3; d++) {
        int parts = parts_of(g->size[d], cut[d]);
        if (coordinate[d] >= parts) {
            g->empty = true;
            continue;
        }
        struct app_range own = app_split(g->size[d], parts, coordinate[d]);
        g->start[d] = own.start;
        g->count[d] = own.count;
        MPI_Cart_shift(g->comm, d, 1, &g->neighbour[d][0], &g->neighbour[d][1]);
        if (coordinate[d] + 1 >= parts) {
            g->neighbour[d][1] = MPI_PROC_NULL;
        }
    }
    if (g->empty) {
        for (int d = 0; d < 3; d++) {
            g->start[d] = g->count[d] = 0;
        }
    }
}

static void create_types(struct grid *g)
{
    if (g->empty) {
        /* A subarray may not be empty; these are used with count 0. */
        MPI_Type_dup(MPI_FLOAT, &g->block);
        MPI_Type_dup(MPI_FLOAT, &g->view);
        return;
    }
    int local[3];
    for (int d = 0; d < 3; d++) {
        local[d] = g->count[d] + 2 * HALO;
    }
    int inner[3] = {HALO, HALO, HALO};
    g->block = app_subarray(3, local, g->count, inner, MPI_FLOAT);
    g->view = app_subarray(3, g->size, g->count, g->start, MPI_FLOAT);

    for (int d = 0; d < 3; d++) {
        int face[3] = {g->count[0], g->count[1], g->count[2]};
        face[d] = HALO;
        /* Along d: lower ghosts, lowest own cells, highest own cells, upper ghosts. */
        int first[4] = {0, HALO, g->count[d], g->count[d] + HALO};
        MPI_Datatype type[4];
        for (int i = 0; i < 4; i++) {
            int start[3] = {HALO, HALO, HALO};
            start[d] = first[i];
            type[i] = app_subarray(3, local, face, start, MPI_FLOAT);
        }
        g->recv[d][0] = type[0];
        g->send[d][0] = type[1];
        g->send[d][1] = type[2];
        g->recv[d][1] = type[3];
    }
}

void grid_create(struct grid *g, const int size[3])
{
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int cut[3] = {0, 0, 0};
    int periodic[3] = {0, 0, 0};
    int coordinate[3] = {0, 0, 0};
    MPI_Dims_create(ranks, 3, cut);

    *g = (struct grid){.ranks = ranks};
    MPI_Cart_create(MPI_COMM_WORLD, 3, cut, periodic, 1, &g->comm);
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Cart_coords(g->comm, g->rank, 3, coordinate);
    for (int d = 0; d < 3; d++) {
        g->size[d] = size[d];
    }
    place_block(g, cut, coordinate);

    size_t local[3];
    for (int d = 0; d < 3; d++) {
        local[d] = (size_t)g->count[d] + 2 * HALO;
    }
    g->stride[2] = 1;
    g->stride[1] = local[2];
    g->stride[0] = app_multiply(local[1], local[2]);
    g->local_cells = app_multiply(local[0], g->stride[0]);
    g->own_cells = (size_t)g->count[0] * (size_t)g->count[1] * (size_t)g->count[2];
    create_types(g);
}

void grid_free(struct grid *g)
{
    MPI_Type_free(&g->block);
    MPI_Type_free(&g->view);
    for (int d = 0; d < 3 && !g->empty; d++) {
        for (int side = 0; side < 2; side++) {
            MPI_Type_free(&g->send[d][side]);
            MPI_Type_free(&g->recv[d][side]);
        }
    }
    MPI_Comm_free(&g->comm);
}

/* The stencil is a star, so faces are enough: no edges, no corners. */
void grid_exchange(const struct grid *g, float *field)
{
    if (g->empty) {
        return;
    }
    for (int d = 0; d < 3; d++) {
        for (int side = 0; side < 2; side++) {
            /* What leaves through one face arrives as ghost cells behind the opposite one. */
            MPI_Sendrecv(field, 1, g->send[d][side], g->neighbour[d][side], 2 * d + side, field, 1,
                         g->recv[d][1 - side], g->neighbour[d][1 - side], 2 * d + side, g->comm,
                         MPI_STATUS_IGNORE);
        }
    }
}
