/* engine_books.c - the registers by which books are chosen and loaded. */
#include "engine_books.h"

#include <string.h>

/* Lengths in a register. */
enum { SYMBOLS = ZMPI_HUFFMAN_SYMBOLS, GROUP = 8 };

/* The longest command, a book from unsorted counts, takes 80,000 cycles (docs/internals/rtl.md). */
enum { PATIENCE = 1 << 20 };

static bool command(struct zmpi_rtl *rtl, uint32_t what)
{
    bool busy = true;
    rtl->type->write(rtl->model, MODEL_COMMAND, what);
    for (int i = 0; i < PATIENCE && busy; i++)
        busy = rtl->type->read(rtl->model, MODEL_STATUS) & 4;
    return !busy;
}

bool zmpi_rtl_clear(struct zmpi_rtl *rtl)
{
    return command(rtl, MODEL_CLEAR);
}

bool zmpi_rtl_load_counts(struct zmpi_rtl *rtl, const uint32_t count[SYMBOLS])
{
    if (!zmpi_rtl_clear(rtl))
        return false;
    for (unsigned s = 0; s < SYMBOLS; s++)
        rtl->type->write(rtl->model, MODEL_COUNTS + 4 * s, count[s]);
    return true;
}

bool zmpi_rtl_forget(struct zmpi_rtl *rtl)
{
    rtl->type->write(rtl->model, MODEL_TAU_0, ZMPI_HUFFMAN_TAU_0);
    rtl->type->write(rtl->model, MODEL_TAU_1, ZMPI_HUFFMAN_TAU_1);
    return command(rtl, MODEL_FORGET);
}

bool zmpi_rtl_change(struct zmpi_rtl *rtl, enum zmpi_huffman_change *change, bool *any)
{
    if (!command(rtl, MODEL_CHI))
        return false;
    *change = (enum zmpi_huffman_change)rtl->type->read(rtl->model, MODEL_VERDICT);
    *any = rtl->type->read(rtl->model, MODEL_RESIDUALS) > 0;
    return true;
}

bool zmpi_rtl_take(struct zmpi_rtl *rtl)
{
    return command(rtl, MODEL_TAKE);
}

/* ---- lengths ---- */

static void read_lengths(struct zmpi_rtl *rtl, struct zmpi_book *book)
{
    for (unsigned s = 0; s < SYMBOLS; s += GROUP) {
        const uint32_t group = rtl->type->read(rtl->model, MODEL_LENGTHS + 4 * (s / GROUP));
        for (unsigned i = 0; i < GROUP && s + i < SYMBOLS; i++)
            book->length[s + i] = group >> 4 * i & 15;
    }
    rtl->lengths = *book;
    rtl->has_lengths = true;
}

static void write_lengths(struct zmpi_rtl *rtl, const struct zmpi_book *book)
{
    if (rtl->has_lengths && memcmp(&rtl->lengths, book, sizeof *book) == 0)
        return;
    for (unsigned s = 0; s < SYMBOLS; s += GROUP) {
        uint32_t group = 0;
        for (unsigned i = 0; i < GROUP && s + i < SYMBOLS; i++)
            group |= (uint32_t)book->length[s + i] << 4 * i;
        rtl->type->write(rtl->model, MODEL_LENGTHS + 4 * (s / GROUP), group);
    }
    rtl->lengths = *book;
    rtl->has_lengths = true;
}

bool zmpi_rtl_cost(struct zmpi_rtl *rtl, const struct zmpi_book *book, uint64_t *bits)
{
    write_lengths(rtl, book);
    if (!command(rtl, MODEL_COST))
        return false;
    *bits = rtl->type->read(rtl->model, MODEL_BITS);
    return true;
}

bool zmpi_rtl_load_book(struct zmpi_rtl *rtl, const struct zmpi_book *book, unsigned bank)
{
    write_lengths(rtl, book);
    return command(rtl, MODEL_ASSIGN | (bank ? MODEL_BANK : 0));
}

/* ---- building ---- */

static bool build(struct zmpi_rtl *rtl, uint32_t how, struct zmpi_book *book)
{
    if (!command(rtl, MODEL_BUILD | how))
        return false;
    read_lengths(rtl, book);
    return true;
}

bool zmpi_rtl_train(struct zmpi_rtl *rtl, unsigned run, bool sampled, bool exact,
                    struct zmpi_book *book)
{
    const uint32_t shortest = run == 2 ? 1 : run == 4 ? 2 : 3;
    return build(
        rtl, (exact ? MODEL_EXACT : 0) | MODEL_SHORTEST * shortest | (sampled ? MODEL_SAMPLED : 0),
        book);
}

bool zmpi_rtl_build(struct zmpi_rtl *rtl, const uint32_t count[SYMBOLS], bool exact,
                    struct zmpi_book *book)
{
    return zmpi_rtl_load_counts(rtl, count) && build(rtl, exact ? MODEL_EXACT : 0, book);
}
