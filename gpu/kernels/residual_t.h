/* residual_t.h - template: the differences of a chunk's integers, from shared memory to a thread's
 * parts (words_t.h). After quant_t.h. */

/* Along x only, across the ends of rows, for whole parts. */
ZD_FN void F(residuals_x)(const struct tile *c, const union F(words) *w, U r[VALUES])
{
    ZD_UNROLL
    for (uint32_t i = 0; i < PARTS; i++) {
        const uint32_t e = F(part_at)(i), at = e < c->count ? e : ORIGIN;
        const union F(part) p = F(load_part)(w, at);
        const U left = w->word[(e > 0 ? at : ORIGIN) - 1];
        ZD_UNROLL
        for (uint32_t j = 0; j < PART; j++)
            r[i * PART + j] = p.word[j] - (j > 0 ? p.word[j - 1] : left);
    }
}

/* A part, and the integer before it. */
struct F(run) {
    U left, word[PART];
};

/* The integers at `at` minus those at `other`. `left` becomes 0 if a row starts here. */
ZD_FN struct F(run) F(run_less)(const union F(words) *w, uint32_t at, uint32_t other, int starts)
{
    const union F(part) p = F(load_part)(w, at), o = F(load_part)(w, other);
    struct F(run) run;
    run.left = w->word[(starts ? ORIGIN : at) - 1] - w->word[(starts ? ORIGIN : other) - 1];
    ZD_UNROLL
    for (uint32_t j = 0; j < PART; j++)
        run.word[j] = p.word[j] - o.word[j];
    return run;
}

/* Along x and y, and along z if `along_z`, a constant, is set, for rows that are whole parts.
 * `deep`, another constant: the tile may have several planes. */
ZD_FN void F(residuals_tile)(const struct tile *c, const union F(words) *w, int along_z, int deep,
                             U r[VALUES])
{
    ZD_UNROLL
    for (uint32_t i = 0; i < PARTS; i++) {
        const uint32_t e = F(part_at)(i), row = zd_mulhi32(e, c->by_x.by);
        const int in = e < c->count, starts = row * c->x == e;
        const int has_y = in && (deep ? row != zd_mulhi32(row, c->by_y.by) * c->y : e >= c->x);
        struct F(run) run = F(run_less)(w, in ? e : ORIGIN, has_y ? e - c->x : ORIGIN, starts);
        if (along_z) {
            const int has_z = in && e >= c->plane;
            const uint32_t before = e - c->plane;
            const struct F(run) d = F(run_less)(w, has_z ? before : ORIGIN,
                                                has_z && has_y ? before - c->x : ORIGIN, starts);
            run.left -= d.left;
            ZD_UNROLL
            for (uint32_t j = 0; j < PART; j++)
                run.word[j] -= d.word[j];
        }
        ZD_UNROLL
        for (uint32_t j = 0; j < PART; j++)
            r[i * PART + j] = run.word[j] - (j > 0 ? run.word[j - 1] : run.left);
    }
}

/* Along any axes, one after the other, in shared memory: for rare sets of axes, and for rows that
 * are not whole parts. Contains barriers. */
ZD_FN void F(residuals_slowly)(const struct tile *c, U *q, U base, uint32_t axes, U r[VALUES])
{
    ZD_UNROLL
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint32_t e = F(part_at)(i / PART) + i % PART;
        r[i] = e < c->count ? q[e] - base : 0;
    }
    ONE_BY_ONE
    for (uint32_t axis = ZMPI_CUDA_X; axis <= ZMPI_CUDA_Z; axis *= 2) {
        const uint32_t back = axis == ZMPI_CUDA_X ? 1 : axis == ZMPI_CUDA_Y ? c->x : c->plane;
        if (!(axes & axis))
            continue;
        ZD_SYNC();
        ZD_UNROLL
        for (uint32_t i = 0; i < VALUES; i++)
            q[F(part_at)(i / PART) + i % PART] = r[i];
        ZD_SYNC();
        ZD_UNROLL
        for (uint32_t i = 0; i < VALUES; i++) {
            const uint32_t e = F(part_at)(i / PART) + i % PART, row = divide(e, c->by_x);
            const uint32_t at = axis == ZMPI_CUDA_X   ? (axes == axis ? e : e - row * c->x)
                                : axis == ZMPI_CUDA_Y ? row - divide(row, c->by_y) * c->y
                                                      : e >= c->plane;
            r[i] -= at > 0 && e < c->count ? q[e - back] : 0;
        }
    }
}

/* A loop for each usual set of axes. */
ZD_FN void F(residuals)(const struct tile *c, union F(words) *w, U base, uint32_t axes, U r[VALUES])
{
    const int whole = (axes == ZMPI_CUDA_X ? c->count : c->x) % PART == 0;
    if (axes == ZMPI_CUDA_X && whole)
        F(residuals_x)(c, w, r);
    else if (axes == (ZMPI_CUDA_X | ZMPI_CUDA_Y) && whole && c->z == 1)
        F(residuals_tile)(c, w, 0, 0, r);
    else if (axes == (ZMPI_CUDA_X | ZMPI_CUDA_Y) &&
             whole) /* also smooth arrays of three dimensions */
        F(residuals_tile)(c, w, 0, 1, r);
    else if (axes == (ZMPI_CUDA_X | ZMPI_CUDA_Y | ZMPI_CUDA_Z) && whole)
        F(residuals_tile)(c, w, 1, 1, r);
    else
        F(residuals_slowly)(c, w->word, base, axes, r);
}
