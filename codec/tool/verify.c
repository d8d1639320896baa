/* verify.c - zmpi verify (is every byte right?) and zmpi fsck (is every record there, and in the
 * index?). */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enhance/enhance.h"
#include "format/calls.h"
#include "layout/stream.h"
#include "tool.h"

static enum zmpi_status check_stream(const unsigned char *src, size_t size, int threads,
                                     size_t *chunk)
{
    struct zmpi_stream s;
    enum zmpi_status status = zmpi_stream_parse(&s, src, size);
    return status ? status : zmpi_stream_decode(&s, NULL, threads, NULL, chunk);
}

enum zmpi_status tool_record_read(struct tool_input *in, const struct zmpi_record *r,
                                  unsigned char **copy, size_t *chunk)
{
    uint64_t size = zmpi_record_size(r);
    struct zmpi_record found;
    *chunk = 0;
    if (r->offset > in->physical || size > in->physical - r->offset)
        return ZMPI_ERR_TRUNCATED;
    unsigned char *bytes = malloc((size_t)size);
    if (!bytes)
        return ZMPI_ERR_MEMORY;
    enum zmpi_status status = in->reader.read(in->reader.context, r->offset, bytes, (size_t)size);
    if (!status)
        status =
            zmpi_record_decode(&found, in->container.header.id, r->offset, bytes, (size_t)size);
    if (!status && found.payload_length != r->payload_length)
        status = ZMPI_ERR_CORRUPT;
    if (!status && r->kind == ZMPI_RECORD_DATA)
        status = check_stream(bytes + zmpi_record_head_size(r), (size_t)r->payload_length,
                              in->reader.threads, chunk);
    if (status)
        free(bytes);
    else
        *copy = bytes;
    return status;
}

/* A record's head and payload; *chunk is the damaged one if there is one. */
static enum zmpi_status check_record(struct tool_input *in, const struct zmpi_record *r,
                                     size_t *chunk)
{
    unsigned char *bytes;
    enum zmpi_status status = tool_record_read(in, r, &bytes, chunk);
    if (!status)
        free(bytes);
    return status;
}

static int open_container(struct tool_input *in, const char *path, bool writable)
{
    int status = tool_input_open_raw(in, path, writable);
    if (status)
        return status;
    const enum zmpi_status looked = tool_input_look(in, &in->is_container);
    if (looked || !in->is_container) {
        tool_input_close(in);
        return looked == ZMPI_ERR_IO ? tool_fail_status(in->path, looked)
                                     : tool_fail("%s: is not a zmpi container", in->path);
    }
    return TOOL_OK;
}

/* Checks all records of the container; *bad is the number of damaged ones. */
static enum zmpi_status check_all(struct tool_input *in, size_t *bad)
{
    size_t chunk;
    struct zmpi_record *record;
    enum zmpi_status listed = zmpi_container_records(&in->container, &in->reader, &record);
    *bad = 0;
    if (listed)
        return listed;
    for (size_t i = 0; i < in->container.count; i++) {
        const struct zmpi_record *r = &record[i];
        enum zmpi_status status = check_record(in, r, &chunk);
        if (status == ZMPI_ERR_MEMORY) { /* not the file's fault; nothing is printed */
            free(record);
            return status;
        }
        if (status) {
            ++*bad;
            printf("%s: record at offset %llu, chunk %zu (logical bytes %llu to %llu): %s\n",
                   in->path, (unsigned long long)r->offset, chunk, (unsigned long long)r->extent.lo,
                   (unsigned long long)r->extent.hi, zmpi_strerror(status));
        }
        tool_progress("verify", r->offset + zmpi_record_size(r), in->physical);
    }
    free(record);
    return ZMPI_OK;
}

/* Is the network intact, if the file has one? */
static bool network_is_right(const struct tool_input *in)
{
    struct zmpi_enhancer e = {0};
    bool there;
    const enum zmpi_status status = zmpi_enhancer_read(&in->container, &in->reader, &e, &there);
    zmpi_enhancer_free(&e);
    if (status)
        printf("%s: the network that enhances its values is damaged: %s\n", in->path,
               zmpi_strerror(status));
    return !status;
}

/* The same of what the write calls were. */
static bool calls_are_right(const struct tool_input *in)
{
    struct zmpi_calls calls;
    bool there;
    const enum zmpi_status status = zmpi_calls_read(&in->container, &in->reader, &calls, &there);
    if (status)
        printf("%s: the list of its write calls is damaged, its data are not; zmpi trim leaves the "
               "list out\n",
               in->path);
    return !status;
}

/* Prints the result of verify. The `bad` records were printed before. */
static int tell(const struct tool_input *in, size_t bad)
{
    const struct zmpi_container *c = &in->container;
    const uint64_t end = c->header.log_end;
    if (c->index_damaged)
        printf("%s: the index is damaged; zmpi fsck --repair writes a new one\n", in->path);
    if (c->copied)
        printf("%s: its header is damaged, and the copy of it at the end was taken; zmpi %s\n",
               in->path, c->overwritten ? "recover saves the rest" : "fsck --repair mends it");
    if (!zmpi_container_whole(c))
        printf("%s: data may be missing\n", in->path);
    if (c->damaged)
        printf("%s: %llu bytes look like records but are not\n", in->path,
               (unsigned long long)c->damaged);
    if (c->indexed && !c->scanned && in->physical > end)
        printf(
            "%s: %llu bytes behind the end, at byte %llu: appended by other means than MPI-IO, or "
            "never finished; nobody reads them\n",
            in->path, (unsigned long long)(in->physical - end), (unsigned long long)end);
    const bool network = c->copied || network_is_right(in);
    const bool calls = c->copied || calls_are_right(in);
    if (bad || !network || !calls || c->copied || c->damaged || c->index_damaged ||
        !zmpi_container_whole(c))
        return TOOL_DIFFERENT;
    printf("%s: %zu records, all right\n", in->path, c->count);
    return TOOL_OK;
}

int tool_verify(int argc, char **argv)
{
    struct tool_input in;
    static const struct option longs[] = {{NULL, 0, NULL, 0}};
    if (getopt_long(argc, argv, "", longs, NULL) != -1 || argc - optind != 1)
        return tool_usage();
    int status = open_container(&in, argv[optind], false);
    if (status)
        return status;
    size_t bad = 0;
    enum zmpi_status opened = zmpi_container_open(&in.container, &in.reader);
    status = opened ? TOOL_OK : tool_input_alone(&in);
    if (status) {
        tool_input_close(&in);
        return status;
    }
    if (!opened)
        opened = check_all(&in, &bad);
    if (opened == ZMPI_ERR_MEMORY) {
        status = tool_fail_status(in.path, opened);
    } else if (opened) {
        printf("%s: %s\n", in.path, zmpi_strerror(opened));
        status = TOOL_DIFFERENT;
    } else {
        status = tell(&in, bad);
    }
    tool_input_close(&in);
    return status;
}

int tool_input_write(struct tool_input *in, const void *bytes, size_t size, uint64_t offset)
{
    const unsigned char *src = bytes;
    while (size) {
        ssize_t put = pwrite(in->fd, src, size, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return tool_fail("%s: %s", in->path, strerror(errno));
        src += put;
        offset += (uint64_t)put;
        size -= (size_t)put;
    }
    return TOOL_OK;
}

static int sync_file(struct tool_input *in)
{
    return fsync(in->fd) ? tool_fail("%s: %s", in->path, strerror(errno)) : TOOL_OK;
}

/* Writes the header to the older slot, or to both if neither is valid. */
static int write_header(struct tool_input *in, struct zmpi_container *c)
{
    struct zmpi_header *h = &c->header;
    int failed = TOOL_OK;
    for (int slots = c->header_lost ? 2 : 1; slots > 0 && !failed; slots--) {
        struct zmpi_header_part part[2];
        h->generation++;
        zmpi_header_parts(h, part);
        for (int i = 0; i < 2 && !failed; i++)
            failed = tool_input_write(in, part[i].bytes, part[i].size, part[i].offset);
    }
    return failed ? failed : sync_file(in);
}

int tool_input_reindex(struct tool_input *in, struct zmpi_container *c, uint64_t end)
{
    unsigned char *index = NULL;
    size_t size = 0;
    enum zmpi_status status =
        zmpi_index_make(c, &in->reader, end, c->header.generation + 1, &index, &size);
    if (status)
        return tool_fail_status(in->path, status);
    int failed = tool_input_write(in, index, size, end);
    free(index);
    if (!failed)
        failed = sync_file(in);
    return failed ? failed : write_header(in, c);
}

/* Is one of the two header slots damaged and the other one right? */
static bool is_torn(struct tool_input *in, const struct zmpi_header *h)
{
    unsigned char head[ZMPI_HEADER_BYTES] = {0};
    size_t size = in->physical < sizeof head ? (size_t)in->physical : sizeof head;
    return in->reader.read(in->reader.context, 0, head, size) == ZMPI_OK &&
           zmpi_header_torn(h, head);
}

/* Counts the records of a that b lacks, by place. */
static enum zmpi_status count_missing(struct zmpi_container *a, struct zmpi_container *b,
                                      const struct zmpi_reader *in, size_t *missing)
{
    struct zmpi_record *x = NULL, *y = NULL;
    enum zmpi_status status = zmpi_container_records(a, in, &x);
    if (!status)
        status = zmpi_container_records(b, in, &y);
    *missing = 0;
    if (!status)
        qsort(y, b->count, sizeof *y, zmpi_record_by_place);
    for (size_t i = 0; !status && i < a->count; i++)
        *missing += bsearch(&x[i], y, b->count, sizeof *y, zmpi_record_by_place) == NULL;
    free(x);
    free(y);
    return status;
}

/* Restores damaged heads of records from their copies. */
static int write_heads(struct tool_input *in)
{
    struct zmpi_record *record;
    const struct zmpi_container *c = &in->container;
    int failed = TOOL_OK;
    if (c->mended == 0)
        return TOOL_OK;
    enum zmpi_status status = zmpi_container_records(&in->container, &in->reader, &record);
    if (status)
        return tool_fail_status(in->path, status);
    for (size_t i = 0; i < c->count && !failed; i++) {
        unsigned char *head;
        status = zmpi_record_mend(&record[i], c->header.id, &in->reader, &head);
        if (status)
            failed = tool_fail_status(in->path, status);
        else if (head)
            failed =
                tool_input_write(in, head, zmpi_record_head_size(&record[i]), record[i].offset);
        free(head);
    }
    free(record);
    return failed ? failed : sync_file(in);
}

/* What fsck has found. */
struct findings {
    size_t lost;    /* records of the index that are not in the file */
    size_t dropped; /* records in the file that were overwritten and have left the index */
    bool torn;
};

static int report(const struct tool_input *in, const struct zmpi_container *indexed,
                  const struct findings *found)
{
    const struct zmpi_container *scanned = &in->container;
    const size_t lost = found->lost;
    bool clean =
        !lost && !indexed->scanned && !indexed->index_damaged && !found->torn && !scanned->mended;
    printf("%s: %zu records found, logical size %llu\n", in->path, scanned->count,
           (unsigned long long)scanned->logical_size);
    if (indexed->index_damaged)
        printf("  the index is damaged or cut off; the header says %llu bytes\n",
               (unsigned long long)scanned->header.logical_size);
    else if (indexed->scanned)
        printf("  %llu records are not in the index\n", (unsigned long long)indexed->scanned);
    if (found->dropped && !indexed->index_damaged)
        printf("  %zu of them are overwritten and no longer in the index (zmpi trim)\n",
               found->dropped);
    if (scanned->mended)
        printf("  %llu records are found by the copies of their heads, which are damaged\n",
               (unsigned long long)scanned->mended);
    if (indexed->header_lost)
        printf("  the header is damaged: its copy behind the index was taken\n");
    else if (found->torn)
        printf("  one of the two headers is damaged%s\n",
               indexed->copied ? ": its copy behind the index was taken" : "");
    if (lost)
        printf("  %zu records of the index are damaged or gone: reading their bytes will fail\n",
               lost);
    if (clean)
        printf("  index and log agree\n");
    return clean ? TOOL_OK : TOOL_DIFFERENT;
}

/* The header promises data, and neither the index nor a scan knows of any. */
static bool has_nothing(const struct tool_input *in, const struct zmpi_container *indexed)
{
    return indexed->index_damaged && in->container.count == 0 && indexed->header.logical_size != 0;
}

/*
 * Compares the file as its index describes it with the file as a scan finds it. Records that the
 * index promises but that are lost stay in a repaired index, so that a read of them fails and does
 * not give zeros. If the index itself is lost, nobody can tell what only it knew.
 */
static int examine(struct tool_input *in, bool mend)
{
    const uint64_t end =
        zmpi_pad8(in->physical > ZMPI_HEADER_BYTES ? in->physical : ZMPI_HEADER_BYTES);
    struct zmpi_container indexed;
    struct findings found = {0};
    zmpi_container_init(&indexed);
    enum zmpi_status status = zmpi_container_open(&indexed, &in->reader);
    if (!status)
        status = zmpi_container_scan(&in->container, &in->reader);
    if (!status)
        status = count_missing(&indexed, &in->container, &in->reader, &found.lost);
    if (!status)
        status = count_missing(&in->container, &indexed, &in->reader, &found.dropped);
    if (status) {
        zmpi_container_free(&indexed);
        return tool_fail("%s: cannot be recovered: %s", in->path, zmpi_strerror(status));
    }
    if (in->container.joined) {
        zmpi_container_free(&indexed);
        return tool_input_alone(in);
    }
    if (mend && indexed.overwritten) {
        zmpi_container_free(&indexed);
        return tool_fail("%s: its first bytes may be another program's data: zmpi recover saves "
                         "what can be read of the rest",
                         in->path);
    }
    found.torn = is_torn(in, &indexed.header) || indexed.header_lost;
    int result = report(in, &indexed, &found);
    bool index_wrong = indexed.index_damaged || indexed.scanned;
    if (has_nothing(in, &indexed)) {
        printf("  no record of them is found%s: an index would make this an empty file\n",
               mend ? ", nothing is written" : "");
        mend = false;
    } else if (indexed.overwritten)
        printf("  zmpi recover saves what can be read\n");
    else if (index_wrong && !mend)
        printf("  zmpi fsck --repair writes an index of what was found\n");
    else if ((found.torn || in->container.mended) && !mend)
        printf("  zmpi fsck --repair writes what is damaged anew\n");
    if ((index_wrong || found.torn || in->container.mended) && mend) {
        const bool whole = !found.lost && zmpi_container_whole(&indexed);
        int failed = write_heads(in);
        if (!failed && (index_wrong || found.torn))
            failed =
                index_wrong ? tool_input_reindex(in, &indexed, end) : write_header(in, &indexed);
        if (!failed)
            printf("  repaired%s\n", whole        ? ""
                                     : found.lost ? ", but data are lost"
                                                  : ", but data may be lost");
        result = failed ? failed : whole ? TOOL_OK : TOOL_DIFFERENT;
    }
    zmpi_container_free(&indexed);
    return result;
}

int tool_fsck(int argc, char **argv)
{
    struct tool_input in;
    bool mend = false;
    static const struct option longs[] = {{"repair", 0, NULL, 'r'}, {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (c == '?')
            return tool_usage();
        mend = true;
    }
    if (argc - optind != 1)
        return tool_usage();
    int status = open_container(&in, argv[optind], mend);
    if (status)
        return status;
    /* fsck would write where a program puts its next records. */
    if (mend && !tool_input_claim(&in))
        status = tool_fail("%s: a program is writing to it", in.path);
    else
        status = examine(&in, mend);
    tool_input_close(&in);
    return status;
}
