/* flare_sim.c - FLARE's driver: which models are built, books, and bytes to words and back
 * (format.md 1.6). */
#include "flare_sim.h"

#include <stdlib.h>
#include <string.h>

#include "enhance/enhance.h"
#include "flare_sim_engine.h"
#include "interp/flare/flare.h"

#define MODEL(arrays)                                                                              \
    void *flare_open_##arrays(void);                                                               \
    void flare_close_##arrays(void *at);                                                           \
    bool flare_run_##arrays(void *at, struct flare_sim_run *r);
#include "flare_models.h"
#undef MODEL

static const struct model {
    unsigned arrays;
    void *(*open)(void);
    void (*close)(void *at);
    bool (*run)(void *at, struct flare_sim_run *r);
} models[] = {
#define MODEL(arrays) {arrays, flare_open_##arrays, flare_close_##arrays, flare_run_##arrays},
#include "flare_models.h"
#undef MODEL
};

/* The engine's memories (flare_engine.sv). */
enum { SECTION = 8192, SRAM_WORDS = 1 << 18, FIFO1_CODES = 1 << 18, LONGEST = 65535, BLOCKS = 16 };

struct flare_sim {
    const struct model *model;
    void *at;
    unsigned stall;
    const struct flare_net *net;
    bool loaded;
};

struct flare_sim *flare_sim_open(unsigned arrays)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (models[i].arrays == arrays) {
            struct flare_sim *s = malloc(sizeof *s);
            if (s)
                *s = (struct flare_sim){.model = &models[i], .at = models[i].open()};
            return s;
        }
    return NULL;
}

void flare_sim_close(struct flare_sim *s)
{
    s->model->close(s->at);
    free(s);
}

void flare_sim_stall(struct flare_sim *s, unsigned stall)
{
    s->stall = stall;
}

bool flare_sim_fits(const size_t extent[3])
{
    struct zmpi_flare_codes c = {0};
    size_t even = 1;
    if (extent[0] > ZMPI_FLARE_SLICES || extent[1] > LONGEST || extent[2] > LONGEST)
        return false;
    for (int i = 0; i < 3; i++)
        even *= (extent[i] + 1) / 2;
    if (even > SRAM_WORDS)
        return false;
    zmpi_flare_plan(extent, &c);
    return c.coarse <= FIFO1_CODES;
}

/* ---- the network ---- */

void flare_sim_net(struct flare_sim *s, const struct flare_net *net)
{
    s->net = net;
    s->loaded = false;
}

bool flare_sim_net_fits(const size_t extent[3])
{
    enum { SIDE = ZMPI_FLARE_BLOCK };
    const size_t down = (extent[1] + SIDE - 1) / SIDE, across = (extent[2] + SIDE - 1) / SIDE;
    return down <= BLOCKS && across <= BLOCKS / down;
}

static void use_net(struct flare_sim *s, struct flare_sim_run *r)
{
    r->net = s->net;
    r->loads = !s->loaded;
    s->loaded = true;
    zmpi_net_patches(r->chunk->extent[1], &r->piece[0]);
    zmpi_net_patches(r->chunk->extent[2], &r->piece[1]);
}

bool flare_sim_piece(struct flare_sim *s, const unsigned char *in, unsigned char beside,
                     size_t height, size_t width, int8_t *out)
{
    struct flare_sim_chunk c = {.extent = {1, height, width}, .out = out};
    struct flare_sim_run r = {.chunk = &c, .stall = s->stall, .in = in, .beside = beside};
    if (!s->net)
        return false;
    use_net(s, &r);
    return s->model->run(s->at, &r);
}

/* ---- ways through a chunk ---- */

static void find_direction(struct flare_walk *b)
{
    while (b->axis >= 0 && b->n[b->axis] < 2)
        b->axis--;
    for (int i = 0; i < 3; i++)
        b->at[i] = i == b->axis;
}

void flare_walk_begin(struct flare_walk *b, const struct flare_sim_chunk *c, unsigned shift,
                      const size_t first[3], const int n[3])
{
    const size_t row = c->extent[2], plane = row * c->extent[1];
    size_t all = 1, known = 1;
    *b = (struct flare_walk){.first = first[0] * plane + first[1] * row + first[2],
                             .step = {plane << shift, row << shift, (size_t)1 << shift},
                             .axis = 2};
    for (int i = 0; i < 3; i++) {
        b->n[i] = n[i];
        all *= (size_t)n[i];
        known *= (size_t)(n[i] + 1) / 2;
    }
    b->left = all - known;
    find_direction(b);
}

size_t flare_walk_next(struct flare_walk *b)
{
    const size_t place = b->first + (size_t)b->at[0] * b->step[0] + (size_t)b->at[1] * b->step[1] +
                         (size_t)b->at[2] * b->step[2];
    int i = 2;
    b->left--;
    for (; i >= 0; i--) {
        b->at[i] += i <= b->axis ? 2 : 1;
        if (b->at[i] < b->n[i])
            return place;
        b->at[i] = i == b->axis;
    }
    b->axis--;
    find_direction(b);
    return place;
}

size_t flare_anchor_place(const struct flare_sim_chunk *c, size_t i)
{
    enum { EACH = ZMPI_FLARE_ANCHORS };
    const size_t ny = (c->extent[1] + EACH - 1) / EACH, nx = (c->extent[2] + EACH - 1) / EACH;
    return EACH * ((i / nx / ny * c->extent[1] + i / nx % ny) * c->extent[2] + i % nx);
}

/* ---- what a run needs ---- */

struct driver {
    struct flare_sim_run run;
    struct zmpi_book book[FLARE_BATCHES];
    unsigned number[FLARE_BATCHES];
    struct zmpi_huffman_decoder decoder;
};

/* words: of sections. */
static struct driver *driver_new(struct flare_sim *s, struct flare_sim_chunk *c, size_t escapes,
                                 size_t words, bool decode)
{
    struct driver *d = calloc(1, sizeof *d);
    struct zmpi_flare_codes plan = {0};
    if (!d)
        return NULL;
    struct flare_sim_run *r = &d->run;
    zmpi_flare_plan(c->extent, &plan);
    *r = (struct flare_sim_run){.chunk = c,
                                .decode = decode,
                                .stall = s->stall,
                                .batches = (unsigned)plan.batches,
                                .coarse = plan.coarse,
                                .anchors = zmpi_flare_anchors(c->extent),
                                .most_escapes = escapes,
                                .most_words = words,
                                .context = d};
    for (size_t b = 0; b < plan.batches; b++)
        r->total[b] = plan.end[b] - (b ? plan.end[b - 1] : 0);
    r->anchor = malloc((r->anchors + 1) * sizeof *r->anchor);
    r->escape = malloc((escapes + 1) * sizeof *r->escape);
    r->word = malloc((words + 1) * sizeof *r->word);
    return d;
}

static void driver_free(struct driver *d)
{
    if (!d)
        return;
    free(d->run.anchor);
    free(d->run.escape);
    free(d->run.word);
    free(d);
}

static bool ready(const struct driver *d)
{
    return d && d->run.anchor && d->run.escape && d->run.word;
}

static size_t section_at(const struct flare_sim_run *r, unsigned batch, size_t from)
{
    const size_t left = r->total[batch] - from;
    return left < SECTION ? left : SECTION;
}

/* ---- forth ---- */

static void make_book(void *context, unsigned batch, const uint32_t *count, uint16_t *book)
{
    struct driver *d = context;
    d->number[batch] = zmpi_flare_book(batch, count, &d->book[batch]);
    zmpi_book_codes(&d->book[batch], book);
    for (unsigned s = 0; s < FLARE_SYMBOLS; s++)
        book[s] = (uint16_t)(book[s] | d->book[batch].length[s] << 12);
}

struct out {
    unsigned char *at, *end; /* at: NULL, it did not fit */
};

static void put_bytes(struct out *o, const void *bytes, size_t n)
{
    if (!o->at || (size_t)(o->end - o->at) < n) {
        o->at = NULL;
        return;
    }
    memcpy(o->at, bytes, n);
    o->at += n;
}

static void put_escape(struct out *o, int32_t code)
{
    unsigned char byte[4];
    size_t n = 0;
    uint32_t v = code < 0 ? ~((uint32_t)code << 1) : (uint32_t)code << 1;
    for (; v >= 128; v >>= 7)
        byte[n++] = (unsigned char)(v | 128);
    byte[n++] = (unsigned char)v;
    put_bytes(o, byte, n);
}

static bool fits_anchor(int32_t code)
{
    return code > ZMPI_FLARE_ANCHOR_ESCAPE && code <= INT16_MAX;
}

static void put_anchors(struct out *o, const struct flare_sim_run *r)
{
    for (size_t i = 0; i < r->anchors; i++) {
        unsigned char two[2];
        const int32_t code = r->anchor[i];
        zmpi_store16(two, (uint16_t)(fits_anchor(code) ? code : ZMPI_FLARE_ANCHOR_ESCAPE));
        put_bytes(o, two, 2);
    }
}

/* A section without the gaps between its streams' words. */
static const uint64_t *put_section(struct out *o, const uint64_t *word)
{
    const uint64_t sizes = *word++;
    unsigned char eight[8];
    zmpi_store64(eight, sizes);
    put_bytes(o, eight, 8);
    for (unsigned k = 0; k < 4; k++)
        for (size_t left = sizes >> 16 * k & 0xFFFF; left > 0; word++) {
            const size_t n = left < 8 ? left : 8;
            zmpi_store64(eight, *word);
            put_bytes(o, eight, n);
            left -= n;
        }
    return word;
}

static size_t pack(const struct driver *d, unsigned char *dst, size_t most)
{
    const struct flare_sim_run *r = &d->run;
    struct out o = {dst, dst + most};
    unsigned char stored[1 + ZMPI_HUFFMAN_BOOK_MAX];
    const uint64_t *word = r->word;
    put_bytes(&o, (unsigned char[4]){0}, 4);
    for (size_t i = 0; i < r->anchors; i++)
        if (!fits_anchor(r->anchor[i]))
            put_escape(&o, r->anchor[i]);
    for (size_t i = 0; i < r->escapes; i++)
        put_escape(&o, r->escape[i]);
    if (o.at)
        zmpi_store32(dst, (uint32_t)(o.at - dst - 4));
    put_anchors(&o, r);
    for (unsigned b = 0; b < r->batches; b++) {
        stored[0] = (unsigned char)d->number[b];
        put_bytes(&o, stored, 1);
        if (b)
            put_bytes(&o, stored, zmpi_book_store(&d->book[b], stored));
        for (size_t from = 0; from < r->total[b]; from += section_at(r, b, from))
            word = put_section(&o, word);
    }
    return o.at && word == r->word + r->words ? (size_t)(o.at - dst) : 0;
}

size_t flare_sim_encode(struct flare_sim *s, struct flare_sim_chunk *c, unsigned char *dst,
                        size_t most)
{
    const size_t n = c->extent[0] * c->extent[1] * c->extent[2];
    size_t size = 0;
    if (!flare_sim_fits(c->extent))
        return 0;
    struct driver *d = driver_new(s, c, n, n + 64 * (n / SECTION + FLARE_BATCHES + 1), false);
    if (ready(d)) {
        d->run.ask = make_book;
        if (s->model->run(s->at, &d->run))
            size = pack(d, dst, most);
    }
    driver_free(d);
    return size;
}

/* ---- back ---- */

static void give_table(void *context, unsigned batch, const uint32_t *count, uint16_t *table)
{
    struct driver *d = context;
    (void)count;
    zmpi_huffman_decoder_set(&d->decoder, &d->book[batch]);
    for (unsigned i = 0; i < FLARE_TABLE; i++) {
        const unsigned symbol = d->decoder.symbol[i];
        table[i] = (uint16_t)(symbol | (unsigned)d->decoder.length[symbol] << 10);
    }
}

struct in {
    const unsigned char *at, *end; /* at: NULL, there was less than was asked for */
};

static const unsigned char *take_bytes(struct in *i, size_t n)
{
    const unsigned char *at = i->at;
    if (!at || (size_t)(i->end - at) < n)
        return i->at = NULL;
    i->at += n;
    return at;
}

/* To code; false: it is none. */
static bool take_escape(struct in *i, int32_t *code)
{
    uint32_t v = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
        const unsigned char *byte = take_bytes(i, 1);
        if (!byte)
            return false;
        v |= (uint32_t)(*byte & 127) << shift;
        if (*byte < 128) {
            *code = v & 1 ? (int32_t) ~(v >> 1) : (int32_t)(v >> 1);
            return true;
        }
    }
    return false;
}

static bool take_section(struct in *i, struct flare_sim_run *r)
{
    const unsigned char *at = take_bytes(i, 8);
    if (!at || r->words >= r->most_words)
        return false;
    const uint64_t sizes = zmpi_load64(at);
    r->word[r->words++] = sizes;
    for (unsigned k = 0; k < 4; k++)
        for (size_t left = sizes >> 16 * k & 0xFFFF; left > 0;) {
            const size_t n = left < 8 ? left : 8;
            unsigned char eight[8] = {0};
            if (!(at = take_bytes(i, n)) || r->words >= r->most_words)
                return false;
            memcpy(eight, at, n);
            r->word[r->words++] = zmpi_load64(eight);
            left -= n;
        }
    return true;
}

static bool take_book(struct in *i, unsigned *number, struct zmpi_book *book)
{
    const unsigned char *at = take_bytes(i, 1);
    if (!at || *at > ZMPI_HUFFMAN_OFFLINE)
        return false;
    *number = *at;
    if (*number < ZMPI_HUFFMAN_OFFLINE) {
        *book = *zmpi_book_offline(*number);
        return true;
    }
    const size_t size = zmpi_book_load(book, i->at, (size_t)(i->end - i->at));
    return size && take_bytes(i, size);
}

static bool unpack(struct driver *d, const unsigned char *src, size_t size)
{
    struct flare_sim_run *r = &d->run;
    struct in i = {src, src + size};
    const unsigned char *at = take_bytes(&i, 4);
    const size_t bytes = at ? zmpi_load32(at) : 0;
    struct in escapes = {i.at, NULL};
    if (!at || !take_bytes(&i, bytes))
        return false;
    escapes.end = i.at;
    for (size_t k = 0; k < r->anchors; k++) {
        if (!(at = take_bytes(&i, 2)))
            return false;
        r->anchor[k] = (int16_t)zmpi_load16(at);
        if (r->anchor[k] == ZMPI_FLARE_ANCHOR_ESCAPE && !take_escape(&escapes, &r->anchor[k]))
            return false;
    }
    while (escapes.at < escapes.end)
        if (!take_escape(&escapes, &r->escape[r->escapes++]))
            return false;
    for (unsigned b = 0; b < r->batches; b++) {
        if (!take_book(&i, &d->number[b], &d->book[b]))
            return false;
        for (size_t from = 0; from < r->total[b]; from += section_at(r, b, from))
            if (!take_section(&i, r))
                return false;
    }
    while (i.at < i.end)
        if (*i.at++)
            return false;
    return true;
}

bool flare_sim_decode(struct flare_sim *s, struct flare_sim_chunk *c, const unsigned char *src,
                      size_t size)
{
    bool good = false;
    if (!flare_sim_fits(c->extent) || (c->out && !(s->net && flare_sim_net_fits(c->extent))))
        return false;
    struct driver *d = driver_new(s, c, size, size, true);
    if (ready(d) && unpack(d, src, size)) {
        d->run.ask = give_table;
        if (c->out)
            use_net(s, &d->run);
        good = s->model->run(s->at, &d->run);
    }
    driver_free(d);
    return good;
}
