/* dress.h - data whose datatype is not what they are: f64 as MPI_FLOAT, f32 as MPI_DOUBLE, pixels
 * and text as MPI_FLOAT; and floats that are. */
#ifndef ZMPI_TESTS_DRESS_H
#define ZMPI_TESTS_DRESS_H

#include <math.h>

#include "check.h"

enum { DRESS_N = 20000, DRESS_BYTES = DRESS_N * 4 };

enum dress { WIDE, NARROW, PIXELS, TEXT, DRESSES, FLOATS = DRESSES };

static inline MPI_Datatype dress_type(int dress)
{
    return dress == NARROW ? MPI_DOUBLE : MPI_FLOAT;
}

static inline int dress_count(int dress)
{
    return dress == NARROW ? DRESS_N / 2 : DRESS_N;
}

/* What rank `of` has. */
static inline void dress_fill(unsigned char data[DRESS_BYTES], int dress, int of)
{
    for (int i = 0; i < DRESS_N; i++) {
        const double x = sin((of * DRESS_N + i) * 1e-3) + 2;
        const float f = (float)x;
        char text[20];
        if (dress == NARROW || dress == FLOATS)
            memcpy(data + i * 4L, &f, sizeof f);
        if (dress == WIDE && i < DRESS_N / 2)
            memcpy(data + i * 8L, &x, sizeof x);
        snprintf(text, sizeof text, "%.5f ", x);
        if (dress == TEXT && i < DRESS_N / 2)
            memcpy(data + i * 8L, text, 8);
        for (int k = 0; dress == PIXELS && k < 4; k++)
            data[4 * i + k] = (unsigned char)(60 * x + k);
    }
}

#endif
