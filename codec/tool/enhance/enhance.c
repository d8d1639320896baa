/* enhance.c - zmpi enhance: trains the network on a file and its original, and stores it in the
 * file. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "tool/enhance/gain.h"
#include "tool/tool.h"
#include "tool/enhance/train.h"

enum { EPOCHS = 10, EPOCHS_MOST = 1000, SAMPLED = 16 };
/* The error must be less than so much of a smaller bound's, since bounds between those that are
 * tried may give up to 0.1 dB more. */
static const double LEAST_GAIN = 0.97;

struct enhance {
    const char *raw, *path, *out, *weights;
    int epochs, threads; /* epochs < 0: not given */
    unsigned times;
    bool always; /* store it even if a smaller bound would be better */
    struct tool_input in, original;
    struct piece *piece;
    size_t count;
    struct zmpi_enhancer e;
    struct curve curve;
};

static bool parse_count(const char *text, int most, int *value)
{
    char *end;
    const long v = strtol(text, &end, 10);
    *value = (int)v;
    return end != text && !*end && v >= 0 && v <= most;
}

static int parse(int argc, char **argv, struct enhance *h)
{
    static const struct option longs[] = {{"train", 1, NULL, 't'},  {"weights", 1, NULL, 'w'},
                                          {"epochs", 1, NULL, 'e'}, {"threads", 1, NULL, 'n'},
                                          {"bound", 1, NULL, 'b'},  {"output", 1, NULL, 'o'},
                                          {"always", 0, NULL, 'a'}, {NULL, 0, NULL, 0}};
    int c;
    *h = (struct enhance){.epochs = -1, .threads = tool_threads(), .times = 1};
    while ((c = getopt_long(argc, argv, "o:", longs, NULL)) != -1) {
        if (c == 't')
            h->raw = optarg;
        if (c == 'w')
            h->weights = optarg;
        h->always = h->always || c == 'a';
        if (c == 'o')
            h->out = optarg;
        if (c == 'e' && !parse_count(optarg, EPOCHS_MOST, &h->epochs))
            return tool_fail("--epochs %s: a number from 0 to %d", optarg, EPOCHS_MOST);
        if (c == 'n' && (!parse_count(optarg, 1024, &h->threads) || h->threads == 0))
            return tool_fail("--threads %s: a number from 1 to 1024", optarg);
        if (c == 'b' && strcmp(optarg, "1x") != 0 && strcmp(optarg, "2x") != 0)
            return tool_fail("--bound %s: 1x or 2x", optarg);
        if (c == 'b')
            h->times = optarg[0] == '2' ? 2 : 1;
        if (c == '?')
            return tool_usage();
    }
    if (argc - optind != 1 || !h->raw)
        return tool_usage();
    h->path = argv[optind];
    if (h->epochs < 0)
        h->epochs = h->weights ? 0 : EPOCHS;
    return TOOL_OK;
}

/* ---- streams ---- */

/* Reads the original values of a record, from where its extent says. */
static int read_original(struct enhance *h, const struct zmpi_record *r, unsigned char *dst)
{
    const struct zmpi_reader *in = &h->original.reader;
    for (uint64_t i = 0, n = zmpi_extent_runs(&r->extent), position; i < n; i++) {
        const struct zmpi_run run = zmpi_extent_run(&r->extent, i, &position);
        const enum zmpi_status status =
            in->read(in->context, run.offset, dst + position, (size_t)run.length);
        if (status)
            return tool_fail_status(h->original.path, status);
    }
    return TOOL_OK;
}

/* Records of encoder 3 become pieces; others are left as they are. */
static int add_piece(struct enhance *h, const struct zmpi_record *r)
{
    struct piece *p = &h->piece[h->count];
    size_t chunk;
    enum zmpi_status status = tool_record_read(&h->in, r, &p->record, &chunk);
    if (!status)
        status = zmpi_stream_parse(&p->s, p->record + zmpi_record_head_size(r),
                                   (size_t)r->payload_length);
    const struct zmpi_stream_info *info = &p->s.info;
    if (!status && (!zmpi_enhancer_takes(info) || info->big_endian)) {
        free(p->record);
        p->record = NULL;
        return TOOL_OK;
    }
    h->count++;
    if (!status) {
        p->original = malloc(info->decoded_bytes);
        p->decoded = malloc(info->decoded_bytes);
        p->gain = calloc(info->chunks, sizeof *p->gain);
        p->flags = calloc(info->chunks, sizeof *p->flags);
        p->on = calloc(info->chunks, sizeof *p->on);
        const bool fine = p->original && p->decoded && p->gain && p->flags && p->on;
        status =
            fine ? zmpi_stream_decode(&p->s, NULL, h->threads, p->decoded, NULL) : ZMPI_ERR_MEMORY;
    }
    const int failed =
        status ? tool_fail_status(h->path, status) : read_original(h, r, p->original);
    if (!failed)
        zmpi_range_of(info->array.type, p->original, info->decoded_bytes / p->s.width, &p->range);
    return failed;
}

static int read_pieces(struct enhance *h)
{
    struct zmpi_record *record;
    const struct zmpi_container *c = &h->in.container;
    enum zmpi_status status = zmpi_container_records(&h->in.container, &h->in.reader, &record);
    if (status)
        return tool_fail_status(h->path, status);
    h->piece = calloc(c->count + 1, sizeof *h->piece);
    int failed = h->piece ? TOOL_OK : tool_fail("out of memory");
    for (size_t i = 0; i < c->count && !failed; i++)
        if (record[i].kind == ZMPI_RECORD_DATA && record[i].extent.levels != ZMPI_EXTENT_LIST)
            failed = add_piece(h, &record[i]);
    free(record);
    if (!failed && h->count == 0)
        failed =
            tool_fail("%s: nothing in it was coded by interp within an absolute bound", h->path);
    return failed;
}

/* ---- the network ---- */

/* Cuts a stream into patches at `patch`, unless that is NULL; returns their number. */
static size_t cut(const struct piece *p, struct train_patch *patch)
{
    const struct zmpi_stream *s = &p->s;
    size_t n = 0, first[3], extent[3], high, wide;
    for (size_t k = 0; k < s->info.chunks; k++) {
        zmpi_stream_tile(s, k, first, extent);
        zmpi_net_patches(extent[1], &high);
        zmpi_net_patches(extent[2], &wide);
        for (size_t z = 0; z < extent[0]; z++)
            for (size_t y = 0; y < extent[1]; y += high)
                for (size_t x = 0; x < extent[2]; x += wide, n++) {
                    const size_t row = (first[0] + z) * s->extent[1] + first[1] + y;
                    const size_t at = (row * s->extent[2] + first[2] + x) * s->width;
                    if (!patch)
                        continue;
                    patch[n] = (struct train_patch){p->decoded + at,
                                                    p->original + at,
                                                    s->extent[2],
                                                    extent[1] - y < high ? extent[1] - y : high,
                                                    extent[2] - x < wide ? extent[2] - x : wide,
                                                    s->info.array.type,
                                                    s->info.abs_bound};
                }
    }
    return n;
}

static int take_weights(struct enhance *h, struct train_net *net)
{
    struct tool_input in;
    struct zmpi_enhancer other = {0};
    bool there = false;
    if (tool_input_open(&in, h->weights))
        return TOOL_ERROR;
    enum zmpi_status status =
        in.is_container ? zmpi_enhancer_read(&in.container, &in.reader, &other, &there) : ZMPI_OK;
    int failed = TOOL_OK;
    if (status)
        failed = tool_fail("%s: its network: %s", h->weights, zmpi_strerror(status));
    else if (!there)
        failed = tool_fail("%s: has no network (zmpi enhance --train)", h->weights);
    else
        train_from(net, &other.net);
    zmpi_enhancer_free(&other);
    tool_input_close(&in);
    return failed;
}

static int train(struct enhance *h, struct train_net *net)
{
    size_t n = 0;
    train_begin(net);
    if (h->weights && take_weights(h, net))
        return TOOL_ERROR;
    for (size_t i = 0; i < h->count; i++)
        n += cut(&h->piece[i], NULL);
    struct train_patch *patch = malloc(n * sizeof *patch);
    bool fine = patch != NULL;
    n = 0;
    for (size_t i = 0; i < h->count && fine; i++)
        n += cut(&h->piece[i], patch + n);
    fine = fine && (h->epochs == 0 || train_run(net, patch, n, h->epochs, h->threads));
    free(patch);
    return fine ? TOOL_OK : tool_fail("out of memory");
}

/* If values must keep the bound itself, smaller outputs cost fewer flags. Some chunks show which
 * choice is best. */
static int choose(struct enhance *h, const struct train_net *net)
{
    static const float scales[] = {1, 0.85F, 0.7F, 0.55F};
    static const int least[] = {2, 6, 10, 16};
    double best = INFINITY, bytes, worth = 0;
    size_t chunks = 0;
    const double third = h->curve.bytes[0] / 6;
    struct zmpi_enhancer chosen = {.times = h->times, .least = 1};
    train_quantize(net, 1, &chosen.net);
    worth = (h->curve.error[0] - gain_plain(&h->curve, h->curve.bytes[0] + third)) / third;
    for (size_t i = 0; i < h->count; i++)
        chunks += h->piece[i].s.info.chunks;
    for (int i = 0; i < 4 && h->times == 1; i++)
        for (int k = 0; k < 4; k++) {
            h->e = (struct zmpi_enhancer){.times = 1, .least = least[k]};
            train_quantize(net, scales[i], &h->e.net);
            if (gain_measure(&h->e, h->piece, h->count, (chunks + SAMPLED - 1) / SAMPLED,
                             h->threads))
                return tool_fail("out of memory");
            double cost = gain_decide(h->piece, h->count, worth, &bytes);
            cost += worth * bytes;
            if (cost < best) {
                best = cost;
                chosen = h->e;
            }
        }
    h->e = chosen;
    return gain_measure(&h->e, h->piece, h->count, 1, h->threads) ? tool_fail("out of memory")
                                                                  : TOOL_OK;
}

/* ---- the section ---- */

static int by_checksum(const void *a, const void *b)
{
    const uint64_t x = zmpi_load64(((const struct piece *)a)->s.src + 72),
                   y = zmpi_load64(((const struct piece *)b)->s.src + 72);
    return (x > y) - (x < y);
}

/* The flags of one stream cannot serve two originals. */
static void drop_ambiguous(struct enhance *h)
{
    qsort(h->piece, h->count, sizeof *h->piece, by_checksum);
    for (size_t i = 1, first = 0; i < h->count; i++) {
        struct piece *p = &h->piece[i];
        if (by_checksum(&h->piece[first], p) != 0)
            first = i;
        else if (memcmp(h->piece[first].original, p->original, p->s.info.decoded_bytes) != 0)
            memset(h->piece[first].on, 0, p->s.info.chunks * sizeof *p->on);
        if (first < i)
            memset(p->on, 0, p->s.info.chunks * sizeof *p->on);
    }
}

/* Equal streams share one entry. *size: the section's bytes; dst NULL: only computes these. */
static void make_section(struct enhance *h, unsigned char *dst, size_t *size)
{
    size_t at = ZMPI_SECTION_HEAD + 8 + ZMPI_NET_BYTES, streams = 0;
    for (size_t i = 0; i < h->count; i++) {
        const struct piece *p = &h->piece[i];
        if (i > 0 && by_checksum(&p[-1], p) == 0)
            continue;
        const size_t chunks = p->s.info.chunks;
        streams++;
        if (dst) {
            memcpy(dst + at, p->s.src + 72, 8);
            zmpi_store32(dst + at + 8, (uint32_t)chunks);
            zmpi_store32(dst + at + 12, 0);
        }
        size_t flags = at + ZMPI_ENHANCED_HEAD + 4 * chunks;
        for (size_t k = 0; k < chunks; k++) {
            const size_t n = p->on[k] ? p->gain[k].flags : 0;
            if (dst) {
                zmpi_store32(dst + at + ZMPI_ENHANCED_HEAD + 4 * k, p->on[k] ? (uint32_t)n + 1 : 0);
                memcpy(dst + flags, p->flags[k], n);
            }
            flags += n;
        }
        at = flags;
    }
    *size = at;
    if (!dst)
        return;
    dst[5] = (unsigned char)h->times;
    dst[6] = (unsigned char)h->e.least;
    zmpi_store32(dst + ZMPI_SECTION_HEAD, (uint32_t)streams);
    zmpi_net_save(&h->e.net, dst + ZMPI_SECTION_HEAD + 8);
}

/* Writes the section behind everything else; then an index, and the header that points to both. */
static int write_section(struct enhance *h)
{
    size_t size;
    make_section(h, NULL, &size);
    struct tool_input *in = &h->in;
    unsigned char *section = calloc(1, size), pointer[ZMPI_POINTER_BYTES];
    const unsigned char *id = in->container.header.id;
    const uint64_t at = zmpi_pad8(in->physical);
    if (!section)
        return tool_fail("out of memory");
    make_section(h, section, &size);
    zmpi_section_seal(section, size, zmpi_enhancer_seed(id, at));
    zmpi_enhancer_point(id, at, size, pointer);
    int failed =
        tool_input_claim(in)
            ? tool_input_write(in, section, size, at)
            : tool_fail("%s: a program is writing to it, or has written meanwhile", h->path);
    free(section);
    if (!failed)
        failed = tool_input_write(in, pointer, sizeof pointer, ZMPI_POINTER_AT);
    return failed ? failed : tool_input_reindex(in, &in->container, zmpi_pad8(at + size));
}

/* The sum of the squared ranges, in units of the bound. Records with the same bound count as one
 * variable. */
static double peak_of(const struct enhance *h)
{
    double sum = 0;
    for (size_t i = 0; i < h->count; i++) {
        const struct zmpi_stream_info *info = &h->piece[i].s.info;
        struct zmpi_range range = h->piece[i].range;
        for (size_t k = 0; k < h->count; k++)
            if (memcmp(&h->piece[k].s.info.abs_bound, &info->abs_bound, sizeof info->abs_bound) ==
                0)
                zmpi_range_merge(&range, &h->piece[k].range);
        const double wide = (range.max - range.min) / info->abs_bound;
        sum += (double)(info->decoded_bytes / h->piece[i].s.width) * wide * wide;
    }
    return sum;
}

/* The bytes of the index that follows the section. */
static enum zmpi_status index_bytes(struct enhance *h, size_t *size)
{
    unsigned char *index = NULL;
    struct zmpi_header *header = &h->in.container.header;
    const struct zmpi_header before = *header;
    const enum zmpi_status status =
        zmpi_index_make(&h->in.container, &h->in.reader, zmpi_pad8(h->in.physical),
                        before.generation + 1, &index, size);
    *header = before;
    if (!status)
        free(index);
    return status;
}

/* Switches chunks on. *grows: the bytes that the file has more then. Returns the error, or a
 * negative number if there is no memory. */
static double choose_chunks(struct enhance *h, size_t *grows)
{
    size_t section, index;
    double bytes, worth = 0, error = 0;
    const double was = h->curve.error[0], has = h->curve.bytes[0];
    if (index_bytes(h, &index))
        return -1;
    for (int turn = 0; turn < 3; turn++) { /* a byte's worth depends on the number of bytes */
        error = gain_decide(h->piece, h->count, worth, &bytes);
        drop_ambiguous(h);
        make_section(h, NULL, &section);
        *grows = (size_t)zmpi_pad8(section) + index;
        const double more = (double)*grows;
        if (turn == 1 && !h->always &&
            gain_refine(h->piece, h->count, h->threads, has + more, &h->curve))
            return -1;
        worth = h->always ? 0 : (was - gain_plain(&h->curve, has + more)) / more;
    }
    return error;
}

static int decide(struct enhance *h)
{
    size_t grows, on = 0, chunks = 0;
    const double was = h->curve.error[0], has = h->curve.bytes[0], peak = peak_of(h);
    const double error = choose_chunks(h, &grows);
    if (error < 0)
        return tool_fail("out of memory");
    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0; k < h->piece[i].s.info.chunks; k++, chunks++)
            on += h->piece[i].on[k];
    const double plain = gain_plain(&h->curve, has + (double)grows);
    printf("%s: PSNR %.2f dB, was %.2f; %zu bytes more (%.1f %%), %zu of %zu chunks; a smaller "
           "bound gives %.2f dB for as many\n",
           h->path, 10 * log10(peak / error), 10 * log10(peak / was), grows,
           100 * (double)grows / has, on, chunks, 10 * log10(peak / plain));
    if (error < LEAST_GAIN * plain || h->always)
        return write_section(h);
    printf("%s: a smaller bound gains more than the network: nothing was written\n", h->path);
    return TOOL_OK;
}

/* ---- the command ---- */

static int copy_file(struct enhance *h)
{
    struct tool_input in;
    struct tool_output out;
    static unsigned char buffer[1 << 20];
    if (tool_input_open_raw(&in, h->path, false))
        return TOOL_ERROR;
    int failed = tool_output_open(&out, h->out, &in);
    if (!failed) {
        for (uint64_t at = 0, n; at < in.physical && !failed; at += n) {
            n = in.physical - at < sizeof buffer ? in.physical - at : sizeof buffer;
            const enum zmpi_status status = in.reader.read(in.reader.context, at, buffer, n);
            failed = status ? tool_fail_status(h->path, status)
                            : tool_output_write(&out, buffer, (size_t)n);
        }
        const int closed = tool_output_close(&out, !failed);
        failed = failed ? failed : closed;
    }
    tool_input_close(&in);
    h->path = h->out;
    return failed;
}

/* Opens a file for writing, which must be complete. */
static int open_container(struct tool_input *in, const char *path)
{
    const struct zmpi_container *c = &in->container;
    bool is_container;
    int failed = tool_input_open_raw(in, path, true);
    if (failed)
        return failed;
    enum zmpi_status status = tool_input_look(in, &is_container);
    if (!status && is_container)
        status = zmpi_container_open(&in->container, &in->reader);
    in->size = in->container.logical_size;
    if (status)
        failed = tool_fail_status(path, status);
    else if (!is_container)
        failed = tool_fail("%s: is not a zmpi container", path);
    else if (c->joined)
        failed = tool_input_alone(in);
    else if (c->index_damaged || c->damaged || c->copied || c->torn || !zmpi_container_whole(c))
        failed = tool_fail("%s: is damaged: see zmpi fsck", path);
    if (failed)
        tool_input_close(in);
    return failed;
}

static int open_files(struct enhance *h)
{
    int failed = open_container(&h->in, h->path);
    if (failed)
        return failed;
    failed = tool_input_open_raw(&h->original, h->raw, false);
    if (failed) {
        tool_input_close(&h->in);
        return failed;
    }
    if (h->original.physical == h->in.size)
        return TOOL_OK;
    failed = tool_fail("%s has %llu bytes, %s %llu: it is not its original", h->raw,
                       (unsigned long long)h->original.physical, h->path,
                       (unsigned long long)h->in.size);
    tool_input_close(&h->original);
    tool_input_close(&h->in);
    return failed;
}

int tool_enhance(int argc, char **argv)
{
    struct enhance h;
    struct train_net net;
    int failed = parse(argc, argv, &h);
    if (failed)
        return failed;
    if (h.out && copy_file(&h))
        return TOOL_ERROR;
    if (open_files(&h))
        return TOOL_ERROR;
    failed = read_pieces(&h);
    if (!failed && gain_curve(h.piece, h.count, h.threads, &h.curve))
        failed = tool_fail("out of memory");
    if (!failed)
        failed = train(&h, &net);
    if (!failed)
        failed = choose(&h, &net);
    if (!failed)
        failed = decide(&h);
    if (h.piece)
        gain_free(h.piece, h.count);
    tool_input_close(&h.original);
    tool_input_close(&h.in);
    return failed;
}
