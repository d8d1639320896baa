/* recover.c - zmpi recover, and decompress --keep-going: everything that can be read of a damaged
 * file, and a list of what cannot. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tool.h"

enum { LISTED = 20, KINDS = 3 };

static const char *const kind_name[KINDS] = {"lost", "doubtful", "unknown"};

struct recover {
    struct tool_input in;
    struct tool_headless *headless; /* if the header is lost */
    struct zmpi_losses found, all;  /* losses of one step; of the whole file */
    uint64_t bytes[KINDS], counted[KINDS];
    unsigned char fill[8];
    size_t fill_size; /* 0: lost bytes become zeros */
    bool json, list_all, opened;
    bool torn; /* the newer header may be lost, and with it the index */
};

static int by_offset(const void *a, const void *b)
{
    const struct zmpi_loss *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Several records may have lost the same byte; it counts once. */
static void count(struct recover *r, const struct zmpi_loss *loss)
{
    const uint64_t end = loss->offset + loss->length;
    const uint64_t begin =
        loss->offset > r->counted[loss->kind] ? loss->offset : r->counted[loss->kind];
    if (end > begin) {
        r->bytes[loss->kind] += end - begin;
        r->counted[loss->kind] = end;
    }
}

/* Fills the bytes that a step has lost, and lists them. */
static int mend(void *context, unsigned char *buffer, uint64_t at, uint64_t n)
{
    struct recover *r = context;
    enum zmpi_status status = ZMPI_OK;
    if (!buffer && r->found.holes)
        status = zmpi_losses_add(
            &r->found, &(struct zmpi_loss){at, n, 0, ZMPI_ERR_CORRUPT, ZMPI_LOSS_UNKNOWN});
    if (r->found.count)
        qsort(r->found.loss, r->found.count, sizeof *r->found.loss, by_offset);
    for (size_t i = 0; i < r->found.count && !status; i++) {
        const struct zmpi_loss *loss = &r->found.loss[i];
        for (uint64_t k = 0;
             buffer && loss->kind == ZMPI_LOSS_LOST && r->fill_size && k < loss->length; k++)
            buffer[loss->offset - at + k] = r->fill[k % r->fill_size];
        count(r, loss);
        status = zmpi_losses_add(&r->all, loss);
    }
    r->found.count = 0;
    return status ? tool_fail_status(r->in.path, status) : TOOL_OK;
}

static bool is_lossless_open(const struct recover *r)
{
    return !r->headless && !r->torn && zmpi_container_whole(&r->in.container) &&
           !r->in.container.damaged;
}

static bool is_whole(const struct recover *r)
{
    return is_lossless_open(r) && r->all.count == 0;
}

static const char *reason_of(const struct zmpi_loss *loss)
{
    return loss->kind == ZMPI_LOSS_UNKNOWN ? "no record of them was found"
                                           : zmpi_strerror(loss->why);
}

static void print_text(const struct recover *r, FILE *to)
{
    const size_t n = r->list_all || r->all.count <= LISTED ? r->all.count : LISTED;
    fprintf(to, "%s: %llu bytes, %llu of them lost", r->in.path, (unsigned long long)r->in.size,
            (unsigned long long)r->bytes[ZMPI_LOSS_LOST]);
    if (r->bytes[ZMPI_LOSS_DOUBTFUL])
        fprintf(to, ", %llu doubtful (older data where newer ones may be lost)",
                (unsigned long long)r->bytes[ZMPI_LOSS_DOUBTFUL]);
    if (r->bytes[ZMPI_LOSS_UNKNOWN])
        fprintf(to, ", %llu unknown (nothing was found of them)",
                (unsigned long long)r->bytes[ZMPI_LOSS_UNKNOWN]);
    fprintf(to, "\n");
    if (r->headless)
        fprintf(to, "  the header is lost: records were taken by their own checksums\n");
    if (!is_lossless_open(r) && !(r->headless && !r->in.container.damaged))
        fprintf(to, "  records may be missing, and older data stand in their place\n");
    for (size_t i = 0; i < n; i++) {
        const struct zmpi_loss *loss = &r->all.loss[i];
        fprintf(to, "  %-8s  bytes %llu to %llu", kind_name[loss->kind],
                (unsigned long long)loss->offset,
                (unsigned long long)(loss->offset + loss->length));
        if (loss->record)
            fprintf(to, " (record at offset %llu)", (unsigned long long)loss->record);
        fprintf(to, ": %s\n", reason_of(loss));
    }
    if (n < r->all.count)
        fprintf(to, "  ... %zu more (-a lists all)\n", r->all.count - n);
}

static void print_json(const struct recover *r, FILE *to)
{
    fprintf(to, "{\"path\": ");
    zmpi_text_json(to, r->in.path);
    fprintf(to, ", \"size\": %llu, \"whole\": %s, \"header_lost\": %s, \"records_missing\": %s",
            (unsigned long long)r->in.size, is_whole(r) ? "true" : "false",
            r->headless ? "true" : "false", is_lossless_open(r) ? "false" : "true");
    for (int k = 0; k < KINDS; k++)
        fprintf(to, ", \"%s\": %llu", kind_name[k], (unsigned long long)r->bytes[k]);
    fprintf(to, ", \"ranges\": [");
    for (size_t i = 0; i < r->all.count; i++) {
        const struct zmpi_loss *loss = &r->all.loss[i];
        fprintf(to,
                "%s{\"offset\": %llu, \"length\": %llu, \"kind\": \"%s\", \"record\": %llu, "
                "\"reason\": \"%s\"}",
                i ? ", " : "", (unsigned long long)loss->offset, (unsigned long long)loss->length,
                kind_name[loss->kind], (unsigned long long)loss->record, reason_of(loss));
    }
    fprintf(to, "]}\n");
}

static bool is_torn(const struct tool_input *in)
{
    unsigned char header[ZMPI_HEADER_BYTES];
    return in->physical < sizeof header ||
           in->reader.read(in->reader.context, 0, header, sizeof header) ||
           zmpi_header_torn(&in->container.header, header);
}

static int open_damaged(struct recover *r, const char *path)
{
    struct tool_input *in = &r->in;
    int failed = tool_input_open_raw(in, path, false);
    if (failed)
        return failed;
    r->opened = true;
    in->reader.losses = &r->found;
    enum zmpi_status status = tool_input_look(in, &in->is_container);
    if (!status) /* even if plain data overwrote its beginning, the rest is a container's */
        status = zmpi_container_open(&in->container, &in->reader);
    in->is_container = in->is_container || !status;
    if (status == ZMPI_ERR_FORMAT || status == ZMPI_ERR_CHECKSUM || status == ZMPI_ERR_CORRUPT) {
        in->is_container = true;
        r->headless = tool_headless_open(in);
        if (!r->headless)
            return tool_fail("%s: nothing can be recovered: %s, and no record is found", in->path,
                             zmpi_strerror(status));
        status = zmpi_container_open(&in->container, &in->reader);
    }
    if (status)
        return tool_fail_status(in->path, status);
    failed = tool_input_alone(in);
    if (failed)
        return failed;
    const struct zmpi_container *c = &in->container;
    r->torn = is_torn(in) && !c->copied;
    r->found.holes = !is_lossless_open(r);
    in->size = c->logical_size;
    if (!zmpi_container_whole(c) && c->header.logical_size > in->size &&
        c->header.logical_size <= ZMPI_SIZE_MAX)
        in->size = c->header.logical_size;
    return TOOL_OK;
}

static int recover(struct recover *r, const char *path, const char *to, bool is_quiet)
{
    struct tool_output out;
    int status = open_damaged(r, path);
    if (!status && !tool_input_offload(&r->in))
        status = TOOL_ERROR;
    if (!status)
        status = tool_output_open(&out, to, &r->in);
    if (status)
        return status;
    status = tool_copy(&r->in, &out, 0, r->in.size, mend, r);
    const int closed = tool_output_close(&out, status == TOOL_OK);
    status = status ? status : closed;
    if (status)
        return status;
    FILE *list = strcmp(to, "-") == 0 || is_quiet ? stderr : stdout;
    if (r->json)
        print_json(r, list);
    else if (!is_quiet || !is_whole(r))
        print_text(r, list);
    return is_whole(r) ? TOOL_OK : TOOL_DIFFERENT;
}

static void close_all(struct recover *r)
{
    zmpi_losses_free(&r->found);
    zmpi_losses_free(&r->all);
    if (r->opened)
        tool_input_close(&r->in);
    tool_headless_close(r->headless);
}

int tool_keep_going(const char *path, const char *to)
{
    struct recover r = {0};
    const int status = recover(&r, path, to, true);
    close_all(&r);
    return status;
}

/* Parses a number of the type; without a type, the value of each byte. */
static bool parse_fill(struct recover *r, const char *text, enum zmpi_type type)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || *end || (errno == ERANGE && type != ZMPI_F64))
        return false;
    const float single = (float)value;
    r->fill_size = type ? zmpi_type_size(type) : 1;
    if (type == ZMPI_F64)
        memcpy(r->fill, &value, sizeof value);
    else if (type == ZMPI_F32)
        memcpy(r->fill, &single, sizeof single);
    else if (value >= 0 && value <= 255)
        r->fill[0] = (unsigned char)value;
    else
        return false;
    return true;
}

int tool_recover(int argc, char **argv)
{
    struct recover r = {0};
    enum zmpi_type type = 0;
    const char *fill = NULL, *size = NULL;
    bool plain = false;
    static const struct option longs[] = {{"json", 0, NULL, 'j'},  {"all", 0, NULL, 'a'},
                                          {"fill", 1, NULL, 'f'},  {"type", 1, NULL, 't'},
                                          {"plain", 0, NULL, 'p'}, {"size", 1, NULL, 's'},
                                          {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "at:", longs, NULL)) != -1) {
        if (c == '?')
            return tool_usage();
        if (c == 't' && !tool_parse_type(optarg, &type))
            return tool_fail("-t %s: f32 or f64", optarg);
        fill = c == 'f' ? optarg : fill;
        size = c == 's' ? optarg : size;
        plain = plain || c == 'p';
        r.json = r.json || c == 'j';
        r.list_all = r.list_all || c == 'a';
    }
    if (argc - optind != 2 || (size && !plain) || (plain && (fill || type || r.json || r.list_all)))
        return tool_usage();
    if (plain)
        return tool_recover_plain(argv[optind], argv[optind + 1], size);
    if (fill && !parse_fill(&r, fill, type))
        return tool_fail("--fill %s: a number of -t f32 or f64, or a byte, 0 to 255", fill);
    const int status = recover(&r, argv[optind], argv[optind + 1], false);
    close_all(&r);
    return status;
}
