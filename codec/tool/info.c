/* info.c - zmpi info: what a container holds. */
#define _GNU_SOURCE // SEEK_HOLE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout/stream.h"
#include "info_kinds.h"
#include "base/bytes.h"
#include "enhance/enhance.h"
#include "tool.h"

enum { LISTED = 20, TYPES = 6, RUNS_MOST = 1 << 22 };

/* Sums over the data records of one element type. */
struct total {
    uint64_t records, bytes, stored;
    bool same_bound; /* all records have the bound below */
    struct zmpi_bound bound;
};

/* The network that enhances values; status: what is wrong with it. */
struct network {
    bool there;
    enum zmpi_status status;
    unsigned times;
    uint64_t bytes;
    size_t on, chunks;
};

struct sums {
    struct total total[TYPES];
    struct tool_kinds kinds;
    struct network network;
    struct tool_calls calls;
};

static void describe_extent(const struct zmpi_extent *e, char text[200])
{
    if (e->levels == 0) {
        snprintf(text, 200, "bytes %llu to %llu", (unsigned long long)e->lo,
                 (unsigned long long)e->hi);
        return;
    }
    int n = snprintf(text, 200, "bytes %llu to %llu: ", (unsigned long long)e->lo,
                     (unsigned long long)e->hi);
    if (e->levels == ZMPI_EXTENT_LIST) {
        snprintf(text + n, 200 - (size_t)n, "list of runs, %llu bytes",
                 (unsigned long long)e->bytes);
        return;
    }
    for (unsigned i = e->levels; i-- > 0 && n < 190;)
        n += snprintf(text + n, 200 - (size_t)n, "%llu x ", (unsigned long long)e->count[i]);
    if (n < 190)
        snprintf(text + n, 200 - (size_t)n, "runs of %llu", (unsigned long long)e->run);
}

/* Prints how encoder 3 predicts. */
static const char *family_name(const struct zmpi_stream_info *info)
{
    static const char *const names[] = {"", "lattice", "Lorenzo", "planes", "FLARE"};
    return names[info->family];
}

static void axes_name(unsigned axes, char text[4])
{
    int n = 0;
    for (int i = 2; i >= 0; i--)
        if (axes & 1U << i)
            text[n++] = "xyz"[i];
    text[n] = 0;
}

static void print_encoder(const struct zmpi_stream_info *info)
{
    char axes[4];
    if (info->encoder == ZMPI_FLE)
        return;
    printf(", %s%s", zmpi_encoder_name(info->encoder), info->books ? ":huffman" : "");
    if (!info->family)
        return;
    axes_name(info->axes, axes);
    printf(" (%s along %s", family_name(info), axes);
    if (info->levels)
        printf(", %u levels", info->levels);
    if (info->lag)
        printf(", lag %u", info->lag);
    printf(")");
}

static void print_record(const struct zmpi_record *r, enum zmpi_status status,
                         const struct zmpi_stream_info *info)
{
    char extent[200], array[80], bound[40];
    if (r->kind == ZMPI_RECORD_SIZE) {
        printf("  %12llu  size set to %llu\n", (unsigned long long)r->offset,
               (unsigned long long)r->extent.lo);
        return;
    }
    describe_extent(&r->extent, extent);
    if (status) {
        printf("  %12llu  %s: %s\n", (unsigned long long)r->offset, extent, zmpi_strerror(status));
        return;
    }
    tool_shape_text(info->array.extent, array);
    zmpi_bound_format(&info->bound, bound);
    printf("  %12llu  rank %u, %s%s %s, %s", (unsigned long long)r->offset, r->rank,
           tool_type_name(info->array.type), info->big_endian ? " big-endian" : "", array, bound);
    if (info->bound.mode != ZMPI_LOSSLESS && isfinite(info->abs_bound))
        printf(" (abs %.6g)", info->abs_bound);
    print_encoder(info);
    printf(", ratio %.2f, %s\n", (double)r->extent.bytes / (double)zmpi_record_size(r), extent);
}

static void print_json_record(const struct zmpi_record *r, enum zmpi_status status,
                              const struct zmpi_stream_info *info)
{
    printf("{\"offset\": %llu, \"kind\": \"%s\", \"epoch\": %llu, \"rank\": %u, \"lo\": %llu, "
           "\"hi\": %llu, \"bytes\": %llu, \"stored\": %llu, \"levels\": ",
           (unsigned long long)r->offset, r->kind == ZMPI_RECORD_SIZE ? "size" : "data",
           (unsigned long long)(r->order >> 32), r->rank, (unsigned long long)r->extent.lo,
           (unsigned long long)r->extent.hi, (unsigned long long)r->extent.bytes,
           (unsigned long long)zmpi_record_size(r));
    if (r->extent.levels == ZMPI_EXTENT_LIST)
        printf("\"list\"");
    else
        printf("%u", r->extent.levels);
    if (r->kind == ZMPI_RECORD_DATA && !status) {
        char bound[40];
        zmpi_bound_format(&info->bound, bound);
        printf(", \"type\": \"%s\", \"big_endian\": %s, \"extents\": [%zu, %zu, %zu], \"bound\": "
               "\"%s\", "
               "\"abs_bound\": ",
               tool_type_name(info->array.type), info->big_endian ? "true" : "false",
               info->array.extent[0], info->array.extent[1], info->array.extent[2], bound);
        tool_json_number(info->abs_bound);
        printf(", \"encoder\": \"%s\", \"chunks\": %zu", zmpi_encoder_name(info->encoder),
               info->chunks);
        if (info->family) {
            char axes[4];
            axes_name(info->axes, axes);
            printf(", \"family\": \"%s\", \"axes\": \"%s\", \"halvings\": %u, \"lag\": %u, "
                   "\"books\": %s",
                   family_name(info), axes, info->levels, info->lag,
                   info->books ? "true" : "false");
        }
    }
    if (status)
        printf(", \"error\": \"%s\"", zmpi_strerror(status));
    printf("}");
}

static void add(struct total *t, const struct zmpi_record *r, const struct zmpi_stream_info *info)
{
    bool same = t->records == 0 ||
                (t->same_bound && t->bound.mode == info->bound.mode &&
                 memcmp(&t->bound.value, &info->bound.value, sizeof t->bound.value) == 0);
    t->bound = info->bound;
    t->same_bound = same;
    t->records++;
    t->bytes += r->extent.bytes;
    t->stored += zmpi_record_size(r);
}

static void bound_text(const struct total *t, char text[40])
{
    if (t->same_bound)
        zmpi_bound_format(&t->bound, text);
    else
        snprintf(text, 40, "several bounds");
}

static void look_at_network(struct tool_input *in, struct network *n)
{
    struct zmpi_enhancer e = {0};
    n->status = zmpi_enhancer_read(&in->container, &in->reader, &e, &n->there);
    if (!n->there)
        return;
    n->times = e.times;
    n->bytes = zmpi_load64(e.bytes + 8);
    for (size_t i = 0; i < e.count; i++) {
        n->chunks += e.of[i].chunks;
        for (size_t k = 0; k < e.of[i].chunks; k++)
            n->on += zmpi_enhanced_has(&e.of[i], k);
    }
    zmpi_enhancer_free(&e);
}

static void look_at_calls(struct tool_input *in, struct tool_calls *s)
{
    if (in->container.copied) /* another program's bytes are in the header */
        return;
    s->status = zmpi_calls_read(&in->container, &in->reader, &s->list, &s->there);
    s->bytes = s->there ? zmpi_calls_size(&s->list) : 0;
}

static void print_network(const struct network *n)
{
    if (n->status)
        printf("network        damaged: %s\n", zmpi_strerror(n->status));
    if (n->there)
        printf("network        %llu bytes, for %zu of %zu chunks; values stay within %u times the "
               "bound (zmpi decompress --enhance)\n",
               (unsigned long long)n->bytes, n->on, n->chunks, n->times);
}

/* Space of the file that no read uses; the part of it that the file system has back. */
struct space {
    uint64_t unused, holes;
};

static uint64_t holes_of(const struct tool_input *in)
{
    uint64_t holes = 0;
    off_t end = (off_t)in->physical, hole = 0, data;
    while (hole < end && (hole = lseek(in->fd, hole, SEEK_HOLE)) >= 0 && hole < end) {
        data = lseek(in->fd, hole, SEEK_DATA);
        data = data < 0 || data > end ? end : data;
        holes += (uint64_t)(data - hole);
        hole = data;
    }
    return holes;
}

static enum zmpi_status measure(struct tool_input *in, uint64_t sections, struct space *space)
{
    struct zmpi_container *c = &in->container;
    struct zmpi_compaction s;
    enum zmpi_status status = zmpi_container_plan_compaction(c, &in->reader, RUNS_MOST, &s);
    if (status)
        return status;
    const struct zmpi_header *h = &c->header;
    const bool copied =
        h->index_length && h->log_end >= h->index_offset + h->index_length + ZMPI_HEADER_COPY_BYTES;
    const uint64_t used = ZMPI_HEADER_BYTES + s.live + sections +
                          zmpi_index_segments_size(c->all.segment, c->indexed) + h->index_length +
                          (copied ? ZMPI_HEADER_COPY_BYTES : 0);
    space->holes = holes_of(in);
    space->unused = in->physical > used ? in->physical - used : 0;
    zmpi_compaction_free(&s);
    return ZMPI_OK;
}

static double ratio_of(const struct tool_input *in, const struct space *space)
{
    const uint64_t stored = in->physical - space->holes;
    return stored ? (double)in->size / (double)stored : 0;
}

static void print_head(const struct tool_input *in, const struct space *space)
{
    printf("file           %s\n", in->path);
    printf("logical size   %llu bytes\n", (unsigned long long)in->size);
    printf("on disk        %llu bytes, ratio %.2f\n",
           (unsigned long long)(in->physical - space->holes), ratio_of(in, space));
    if (space->holes || space->unused >= in->physical / 16)
        printf("unused         %llu bytes of %llu, of which %llu are holes (zmpi trim)\n",
               (unsigned long long)space->unused, (unsigned long long)in->physical,
               (unsigned long long)space->holes);
}

static void print_totals(const struct total *total)
{
    for (int t = 1; t < TYPES; t++) {
        char bound[40];
        if (!total[t].records)
            continue;
        bound_text(&total[t], bound);
        printf("%-14s %llu records, %llu bytes as %llu, ratio %.2f, %s\n",
               tool_type_name((enum zmpi_type)t), (unsigned long long)total[t].records,
               (unsigned long long)total[t].bytes, (unsigned long long)total[t].stored,
               (double)total[t].bytes / (double)total[t].stored, bound);
    }
}

/* Prints what comes before the records. */
static void print_state(const struct tool_input *in)
{
    const struct zmpi_header *h = &in->container.header;
    printf("complete       %s\n", !zmpi_container_whole(&in->container) ? "no: data may be missing"
                                  : tool_input_is_written(in)
                                      ? "so far: a program has it open for writing"
                                      : "yes (zmpi verify checks every byte)");
    printf("records        %zu%s\n", in->container.count,
           in->container.scanned ? " (not all in the index: zmpi fsck --repair)" : "");
    printf("generation     %llu, id ", (unsigned long long)h->generation);
    for (int i = 0; i < 16; i++)
        printf("%02x", h->id[i]);
    printf("\n");
}

static void print_json_totals(const struct sums *s)
{
    const struct total *total = s->total;
    const char *comma = "";
    printf("], \"types\": {");
    for (int t = 1; t < TYPES; t++) {
        char bound[40];
        if (!total[t].records)
            continue;
        bound_text(&total[t], bound);
        printf(
            "%s\"%s\": {\"records\": %llu, \"bytes\": %llu, \"stored\": %llu, \"bound\": \"%s\"}",
            comma, tool_type_name((enum zmpi_type)t), (unsigned long long)total[t].records,
            (unsigned long long)total[t].bytes, (unsigned long long)total[t].stored, bound);
        comma = ", ";
    }
    printf("}");
    const struct network *n = &s->network;
    if (n->there)
        printf(", \"network\": {\"bytes\": %llu, \"bound_times\": %u, \"chunks\": %zu, "
               "\"enhanced\": %zu}",
               (unsigned long long)n->bytes, n->times, n->chunks, n->on);
    tool_kinds_json(&s->kinds);
    tool_calls_json(&s->calls);
    printf("}\n");
}

/* Adds all records to the sums. */
static bool sum_records(struct tool_input *in, const struct zmpi_record *record, bool all,
                        struct sums *s)
{
    bool memory = true;
    for (size_t i = 0; i < in->container.count; i++) {
        const struct zmpi_record *r = &record[i];
        struct zmpi_stream_info info = {0};
        if (r->kind != ZMPI_RECORD_DATA)
            continue;
        const enum zmpi_status status = zmpi_source_stream(&in->reader, r, &info);
        memory = memory && status != ZMPI_ERR_MEMORY;
        if (status)
            continue;
        add(&s->total[info.array.type], r, &info);
        memory = !tool_kinds_add(&s->kinds, in, r, &info, all) && memory;
    }
    return memory;
}

/* Prints a line for each record, or for the first ones. False: no memory for one of them. */
static bool list_records(struct tool_input *in, const struct zmpi_record *record, bool json,
                         bool all)
{
    const size_t count = in->container.count;
    bool memory = true;
    for (size_t i = 0; i < count && (json || all || i < LISTED); i++) {
        struct zmpi_stream_info info = {0};
        const enum zmpi_status status = record[i].kind == ZMPI_RECORD_DATA
                                            ? zmpi_source_stream(&in->reader, &record[i], &info)
                                            : ZMPI_OK;
        if (json)
            printf("%s", i ? ", " : "");
        (json ? print_json_record : print_record)(&record[i], status, &info);
        memory = memory && status != ZMPI_ERR_MEMORY;
    }
    if (!json && !all && count > LISTED)
        printf("  ... %zu more (-a lists all)\n", count - LISTED);
    return memory;
}

/* Prints what comes before the records. */
static void print_json_head(const struct tool_input *in, const struct space *space)
{
    printf("{\"path\": ");
    tool_json_string(in->path);
    printf(", \"version\": 1, \"logical_size\": %llu, \"physical_size\": %llu, "
           "\"unused\": %llu, \"holes\": %llu, \"ratio\": %.6g, "
           "\"generation\": %llu, \"scanned\": %llu, \"records\": [",
           (unsigned long long)in->size, (unsigned long long)in->physical,
           (unsigned long long)space->unused, (unsigned long long)space->holes, ratio_of(in, space),
           (unsigned long long)in->container.header.generation,
           (unsigned long long)in->container.scanned);
}

/* False: no memory for one of the records. */
static bool print_json(struct tool_input *in, const struct space *space,
                       const struct zmpi_record *record, const struct sums *sums)
{
    print_json_head(in, space);
    const bool memory = list_records(in, record, true, true);
    print_json_totals(sums);
    return memory;
}

/* Prints first what people ask: how much smaller, with which bound, is it complete? False as
 * above. */
static bool print_text(struct tool_input *in, const struct space *space,
                       const struct zmpi_record *record, const struct sums *sums, bool all)
{
    print_head(in, space);
    print_totals(sums->total);
    print_state(in);
    print_network(&sums->network);
    const bool memory = list_records(in, record, false, all);
    if (all) {
        tool_kinds_print(&sums->kinds);
        tool_calls_print(&sums->calls);
    }
    return memory;
}

static int print_container(struct tool_input *in, bool json, bool all)
{
    struct sums sums = {0};
    struct space space = {0};
    struct zmpi_record *record;
    look_at_network(in, &sums.network);
    look_at_calls(in, &sums.calls);
    const uint64_t sections = zmpi_pad8(sums.network.bytes) + sums.calls.bytes;
    enum zmpi_status status = measure(in, sections, &space);
    if (status != ZMPI_ERR_MEMORY)
        status = zmpi_container_records(&in->container, &in->reader, &record);
    if (status)
        return tool_fail_status(in->path, status);
    bool memory = sum_records(in, record, all, &sums) && sums.network.status != ZMPI_ERR_MEMORY;
    if (memory)
        memory = json ? print_json(in, &space, record, &sums)
                      : print_text(in, &space, record, &sums, all);
    free(record);
    return memory ? TOOL_OK : tool_fail_status(in->path, ZMPI_ERR_MEMORY);
}

int tool_info(int argc, char **argv)
{
    struct tool_input in;
    bool json, all;
    if (!tool_listing(argc, argv, &json, &all))
        return tool_usage();
    int status = tool_input_open(&in, argv[optind]);
    if (status)
        return status;
    if (in.is_container)
        status = print_container(&in, json, all);
    else
        status = tool_fail("%s: is not a zmpi container", in.path);
    tool_input_close(&in);
    return status;
}
