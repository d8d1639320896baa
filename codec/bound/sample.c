/* sample.c - some elements of an array. */
#include "bound/sample.h"

enum { LINE = 64, LINES = 4 };

void zmpi_sample_prefetch(const struct zmpi_sample *s)
{
    const size_t width = zmpi_type_size(s->type), bytes = s->row * width;
    const size_t most = bytes < (size_t)LINES * LINE ? bytes : (size_t)LINES * LINE;
    for (size_t k = 0; k < s->rows; k++)
        for (size_t i = 0; i < most; i += LINE)
            __builtin_prefetch(s->at + k * s->stride * width + i);
}

bool zmpi_sample_fetch(struct zmpi_sample *s, void *copy)
{
    const struct zmpi_device *holder = zmpi_device_holding(s->at);
    const size_t width = zmpi_type_size(s->type);
    const struct zmpi_box box = {.bytes = s->row * width,
                                 .rows = s->rows,
                                 .planes = 1,
                                 .dst_row = s->row * width,
                                 .dst_plane = s->rows * s->row * width,
                                 .src_row = s->stride * width,
                                 .src_plane = s->rows * s->stride * width};
    if (!holder) {
        zmpi_sample_prefetch(s);
        return true;
    }
    if (holder->copy(copy, s->at, &box))
        return false;
    s->at = copy;
    s->stride = s->row;
    return true;
}

size_t zmpi_sample_step(size_t count, size_t n)
{
    size_t step = n ? count / n : 0;
    while ((step > 1 && step % 2 == 0) ||
           (step > 10 && (step % 3 == 0 || step % 5 == 0 || step % 7 == 0)))
        step--;
    return step;
}

struct zmpi_sample zmpi_sample_rows(enum zmpi_type type, const void *src, size_t count, size_t rows,
                                    size_t row)
{
    if (count <= rows * row)
        return (struct zmpi_sample){type, src, 1, count, count};
    size_t step = zmpi_sample_step(count / 2, rows);
    while (step > 100 && (step % 11 == 0 || step % 13 == 0 || step % 2 == 0))
        step--;
    return (struct zmpi_sample){type, src, rows, row, 2 * step};
}

/* The longer rows of larger calls: one element for so many bytes. */
enum { BYTES_PER_ELEMENT = 512 << 10, ROW_LEAST = 8 };

/* Copies rows, whose length is a multiple of 16 bytes. */
static void copy_rows(const struct zmpi_sample *s, size_t width, unsigned char *copy)
{
    const size_t bytes = s->row * width;
    for (size_t k = 0; k < s->rows; k++) {
        const unsigned char *at = s->at + k * s->stride * width;
        for (size_t i = 0; i < bytes; i += 16, copy += 16)
            memcpy(copy, at + i, 16);
    }
}

struct zmpi_sample zmpi_sample_call(enum zmpi_type type, const void *src, size_t count)
{
    const size_t wanted = count * zmpi_type_size(type) / BYTES_PER_ELEMENT;
    const size_t row = wanted < ROW_LEAST        ? ROW_LEAST
                       : wanted > ZMPI_TAKEN_ROW ? ZMPI_TAKEN_ROW
                                                 : wanted / ROW_LEAST * ROW_LEAST;
    return zmpi_sample_rows(type, src, count, ZMPI_TAKEN_ROWS, row);
}

void zmpi_sample_take(struct zmpi_taken *t, enum zmpi_type type, const void *src, size_t count)
{
    const size_t width = zmpi_type_size(type);
    t->type = type;
    t->src = src;
    t->count = count;
    t->rows = t->row = 0;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || count == 0)
        return;
    struct zmpi_sample s = zmpi_sample_call(type, src, count);
    if (!zmpi_sample_fetch(&s, t->copy))
        return;
    t->rows = s.rows;
    t->row = s.row;
    if (s.at == (const unsigned char *)t->copy) /* a device held them */
        return;
    if (s.rows == 1)
        memcpy(t->copy, s.at, s.row * width);
    else
        copy_rows(&s, width, (unsigned char *)t->copy);
}

/* Of these rows the varied ones are taken, in an order that begins all over the array. */
enum { VARIED_ROWS = 256, VARIED_ROW = 16, VARIED_NEXT = 101 };

void zmpi_sample_varied(struct zmpi_taken *t, enum zmpi_type type, const void *src, size_t count)
{
    const size_t width = zmpi_type_size(type), bytes = VARIED_ROW * width;
    const size_t step = count / VARIED_ROWS & ~(size_t)1;
    t->type = type;
    t->src = src;
    t->count = count;
    t->rows = 0;
    t->row = VARIED_ROW;
    if (count < 2 * VARIED_ROWS * VARIED_ROW || zmpi_device_holding(src))
        return;
    for (size_t k = 0; k < VARIED_ROWS && t->rows < ZMPI_TAKEN_MOST / VARIED_ROW; k++) {
        const unsigned char *at =
            (const unsigned char *)src + k * VARIED_NEXT % VARIED_ROWS * step * width;
        if (memcmp(at, at + width, bytes - width) != 0)
            memcpy((unsigned char *)t->copy + t->rows++ * bytes, at, bytes);
    }
}
