/*
 * engine_books.h - books by the simulated engine: what it counts, computes and builds
 * (docs/internals/rtl.md). A function that returns false got no answer from the engine.
 */
#ifndef ZMPI_RTL_ENGINE_BOOKS_H
#define ZMPI_RTL_ENGINE_BOOKS_H

#include "engine_sim.h"
#include "model.h"

struct zmpi_rtl {
    const struct model_type *type;
    struct model *model;
    unsigned stall_in, stall_out, seed;
    bool has_lengths; /* the engine has these `lengths` */
    struct zmpi_book lengths;
};

/* Clear the counts; load these counts; forget the present book. */
bool zmpi_rtl_clear(struct zmpi_rtl *rtl);
bool zmpi_rtl_load_counts(struct zmpi_rtl *rtl, const uint32_t count[ZMPI_HUFFMAN_SYMBOLS]);
bool zmpi_rtl_forget(struct zmpi_rtl *rtl);
/* What the counted symbols say about the present book. *any: some were counted. */
bool zmpi_rtl_change(struct zmpi_rtl *rtl, enum zmpi_huffman_change *change, bool *any);
/* A book was chosen for these counts. */
bool zmpi_rtl_take(struct zmpi_rtl *rtl);
bool zmpi_rtl_cost(struct zmpi_rtl *rtl, const struct zmpi_book *book, uint64_t *bits);
/* A book for the counts, after zmpi_rtl_change; run: 2, 4 or 16. */
bool zmpi_rtl_train(struct zmpi_rtl *rtl, unsigned run, bool sampled, bool exact,
                    struct zmpi_book *book);
/* Loads a book for the chunks that name this bank. */
bool zmpi_rtl_load_book(struct zmpi_rtl *rtl, const struct zmpi_book *book, unsigned bank);

#endif
