/*
 * coll_layouts.h - random datatypes for coll_random.c: units of elements, layouts that hold the
 * same units in any order and with gaps, and what is in them.
 */
#ifndef COLL_LAYOUTS_H
#define COLL_LAYOUTS_H

#include "check.h"

#include <math.h>
#include <pthread.h>

enum { BASICS = 7, UNIT = 4, RANKS = 4, COMMS = 5, THREADS = 4 };

/* One thread's way through random numbers; the same on all ranks. */
struct walk {
    uint64_t seed, i;
    MPI_Comm all[COMMS], comm;
    int rank, ranks;
    pthread_t thread;
    uint64_t first, count;
};

static int below(struct walk *w, int n)
{
    return (int)((check_mix(w->seed, w->i++) >> 20) % (uint64_t)n);
}

/* ---- datatypes ---- */

/* The elements of which all blocks of a call are made, again and again. */
struct unit {
    int n;
    MPI_Datatype basic[UNIT], packed; /* one behind the other */
    size_t bytes;
};

/* Some of them, as they lie in a buffer. */
struct layout {
    MPI_Datatype type;
    int units;
    MPI_Aint low, high, extent; /* true bounds */
};

static void replace(MPI_Datatype *t, MPI_Datatype by)
{
    MPI_Type_free(t);
    *t = by;
}

static void make_unit(struct walk *w, struct unit *u)
{
    const MPI_Datatype basic[BASICS] = {MPI_FLOAT,           MPI_DOUBLE, MPI_INT,      MPI_BYTE,
                                        MPI_C_FLOAT_COMPLEX, MPI_SHORT,  MPI_LONG_LONG};
    const int same = below(w, 3) ? below(w, 2) : -1; /* mostly one sort of floats */
    int length[UNIT];
    MPI_Aint place[UNIT];
    u->n = 1 + below(w, UNIT);
    u->bytes = 0;
    for (int i = 0; i < u->n; i++) {
        int size;
        u->basic[i] = basic[same >= 0 ? same : below(w, BASICS)];
        MPI_Type_size(u->basic[i], &size);
        length[i] = 1;
        place[i] = (MPI_Aint)u->bytes;
        u->bytes += (size_t)size;
    }
    MPI_Type_create_struct(u->n, length, place, u->basic, &u->packed);
    MPI_Datatype t;
    MPI_Type_create_resized(u->packed, 0, (MPI_Aint)u->bytes, &t); /* without alignment */
    replace(&u->packed, t);
    MPI_Type_commit(&u->packed);
}

/* The elements of a unit in any order, with gaps. */
static MPI_Datatype scattered(struct walk *w, const struct unit *u)
{
    MPI_Datatype t, wider;
    int length[UNIT], order[UNIT], size;
    MPI_Aint place[UNIT], at = 0, align = 16 * below(w, 2);
    for (int i = 0; i < u->n; i++) {
        int k = below(w, i + 1);
        order[i] = order[k];
        order[k] = i;
        length[i] = 1;
    }
    for (int i = 0; i < u->n; i++) {
        MPI_Type_size(u->basic[order[i]], &size);
        place[order[i]] = at;
        at += align ? align : size + below(w, 2) * 4;
    }
    MPI_Type_create_struct(u->n, length, place, (MPI_Datatype *)u->basic, &t);
    MPI_Type_create_resized(t, -8 * below(w, 2), at + 8 * below(w, 3), &wider);
    replace(&t, wider);
    return t;
}

/* n children with or without gaps between them. */
static void repeat(struct walk *w, MPI_Datatype *t, int n)
{
    MPI_Datatype more;
    MPI_Aint lb, extent, place[64];
    int length[64];
    MPI_Type_get_extent(*t, &lb, &extent);
    switch (n > 64 ? below(w, 3) : below(w, 5)) {
    case 0:
        MPI_Type_contiguous(n, *t, &more);
        break;
    case 1:
        MPI_Type_vector(n, 1, 1 + below(w, 3), *t, &more);
        break;
    case 2:
        MPI_Type_create_hvector(n, 1, extent + 4 * below(w, 5), *t, &more);
        break;
    case 3: /* backwards */
        for (int i = 0; i < n; i++) {
            length[i] = 1;
            place[i] = (n - 1 - i) * extent;
        }
        MPI_Type_create_hindexed(n, length, place, *t, &more);
        break;
    default:
        MPI_Type_create_subarray(2, (int[]){2, n}, (int[]){1, n}, (int[]){1, 0}, MPI_ORDER_C, *t,
                                 &more);
    }
    replace(t, more);
}

static void make_layout(struct walk *w, struct layout *l, const struct unit *u, int units)
{
    MPI_Aint lb;
    if (below(w, 3))
        MPI_Type_dup(u->packed, &l->type);
    else
        l->type = scattered(w, u);
    l->units = units;
    for (int inner = 2 + below(w, 6); units > 1;) {
        int n = units % inner == 0 ? inner : units;
        repeat(w, &l->type, n);
        units /= n;
    }
    MPI_Type_commit(&l->type);
    MPI_Type_get_true_extent(l->type, &l->low, &l->high);
    l->high += l->low;
    MPI_Type_get_extent(l->type, &lb, &l->extent);
}

/* ---- data ---- */

static double number(uint64_t seed, uint64_t i)
{
    static const double special[] = {NAN, INFINITY, -0.0, 1e20};
    const uint64_t r = check_mix(seed, i);
    if (seed % 5 == 0 && r % 50 == 0)
        return special[(r >> 8) % 4];
    return 0.25 * (double)(seed % 3 ? i % 1000 + (r >> 20) % 4 : (r >> 20) % 20000);
}

/* What `from` sends to `to`, without gaps. */
static unsigned char *content(const struct unit *u, int units, uint64_t seed, int from, int to)
{
    unsigned char *data = check_alloc((size_t)units * u->bytes), *p = data;
    seed = check_mix(seed, (uint64_t)(from * 16 + to)) >> 8;
    for (uint64_t k = 0; k < (uint64_t)(units * u->n); k++) {
        int size;
        const MPI_Datatype t = u->basic[k % (uint64_t)u->n];
        const double d = number(seed, k);
        const float f[2] = {(float)d, (float)number(seed + 5, k)};
        const uint64_t r = check_mix(seed, k);
        MPI_Type_size(t, &size);
        const void *from_here = t == MPI_DOUBLE                              ? (const void *)&d
                                : t == MPI_FLOAT || t == MPI_C_FLOAT_COMPLEX ? (const void *)f
                                                                             : (const void *)&r;
        memcpy(p, from_here, (size_t)size);
        p += size;
    }
    return data;
}

#endif
