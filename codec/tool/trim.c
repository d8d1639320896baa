/* trim.c - zmpi trim: writes the file again, without the data that newer data have overwritten. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/bytes.h"
#include "enhance/enhance.h"
#include "format/calls.h"
#include "tool.h"

/* Both header slots. The bytes behind them are not the container's (format.md 2.6). */
enum { HEADERS = 384 };

struct trim {
    struct tool_input in;
    unsigned char header[HEADERS]; /* read before anything else */
    struct zmpi_compaction compaction;
    struct zmpi_container fresh; /* the new file's records */
    struct tool_output out;
    uint64_t end; /* end of what was written so far */
};

/* Does nobody write to the file, and has nobody written since `header` was read? From then on
 * nobody can write to the file that the new one replaces: whoever opens it waits, and then finds it
 * replaced (pmpi/calls/open_container.c). */
static bool is_unchanged(struct trim *t, const char *path)
{
    unsigned char now[HEADERS];
    return tool_input_claim(&t->in) && tool_input_is_at(&t->in, path) &&
           t->in.reader.read(t->in.reader.context, 0, now, sizeof now) == ZMPI_OK &&
           memcmp(now, t->header, sizeof now) == 0;
}

/* Other names would keep the old file. */
static bool has_other_names(const struct trim *t)
{
    struct stat s;
    return fstat(t->in.fd, &s) == 0 && s.st_nlink > 1;
}

/* Only a complete file may be trimmed: the copy would hide what is missing. */
static int open_whole(struct trim *t, const char *path)
{
    bool is_container;
    int status = tool_input_open_raw(&t->in, path, false);
    if (status)
        return status;
    const enum zmpi_status looked = tool_input_look(&t->in, &is_container);
    if (looked == ZMPI_ERR_IO)
        status = tool_fail_status(path, looked);
    else if (looked || !is_container)
        status = tool_fail("%s: is not a zmpi container", path);
    else if (tool_input_is_written(&t->in))
        status = tool_fail("%s: a program has it open for writing", path);
    else if (has_other_names(t))
        status = tool_fail("%s: has other names (hard links)", path);
    else if (t->in.physical < HEADERS ||
             t->in.reader.read(t->in.reader.context, 0, t->header, HEADERS))
        status = tool_fail("%s: is damaged: see zmpi fsck", path);
    enum zmpi_status opened =
        status ? ZMPI_OK : zmpi_container_open(&t->in.container, &t->in.reader);
    const struct zmpi_container *c = &t->in.container;
    if (opened)
        status = tool_fail_status(path, opened);
    else if (!status && c->joined)
        status = tool_input_alone(&t->in);
    else if (!status && (c->index_damaged || c->damaged || !zmpi_container_whole(c)))
        status = tool_fail("%s: is damaged: see zmpi fsck", path);
    if (status)
        tool_input_close(&t->in);
    return status;
}

/* Copies a record, bound to the new file and its place there. */
static int copy_record(struct trim *t, struct zmpi_record r)
{
    unsigned char *bytes;
    size_t chunk;
    enum zmpi_status status = tool_record_read(&t->in, &r, &bytes, &chunk);
    if (status)
        return tool_fail("%s: record at offset %llu: %s", t->in.path, (unsigned long long)r.offset,
                         zmpi_strerror(status));
    const size_t size = (size_t)zmpi_record_size(&r);
    r.offset = t->end;
    zmpi_record_rebind(bytes, t->fresh.header.id, r.offset);
    int failed = tool_output_write_at(&t->out, bytes, size, r.offset);
    unsigned char *copy = malloc(zmpi_record_copy_size(&r) + 1);
    if (!failed && !copy)
        failed = tool_fail("out of memory");
    if (!failed) {
        zmpi_record_copy(&r, bytes, copy);
        failed = tool_output_write_at(&t->out, copy, zmpi_record_copy_size(&r), r.offset + size);
    }
    t->end += zmpi_record_stored(&r);
    free(copy);
    free(bytes);
    if (!failed && zmpi_container_add(&t->fresh, &r))
        failed = tool_fail("out of memory");
    return failed;
}

static int copy_records(struct trim *t)
{
    struct zmpi_record *record;
    struct zmpi_container *kept = &t->compaction.kept;
    enum zmpi_status status = zmpi_container_records(kept, &t->in.reader, &record);
    if (status)
        return tool_fail_status(t->in.path, status);
    if (kept->count)
        qsort(record, kept->count, sizeof *record, zmpi_record_by_place);
    int failed = TOOL_OK;
    for (size_t i = 0; i < kept->count && !failed; i++) {
        failed = copy_record(t, record[i]);
        tool_progress("trim", t->end, t->compaction.live);
    }
    free(record);
    return failed;
}

/* Copies the network, if the file has an intact one; *pointer: what the header says about it. */
static int copy_network(struct trim *t, unsigned char pointer[ZMPI_POINTER_BYTES])
{
    struct zmpi_enhancer e = {0};
    const unsigned char *id = t->fresh.header.id;
    bool there;
    const enum zmpi_status status = zmpi_enhancer_read(&t->in.container, &t->in.reader, &e, &there);
    if (status == ZMPI_ERR_IO || status == ZMPI_ERR_MEMORY)
        return tool_fail_status(t->in.path, status);
    if (!there)
        return TOOL_OK;
    const size_t size = (size_t)zmpi_load64(e.bytes + 8);
    zmpi_section_seal(e.bytes, size, zmpi_enhancer_seed(id, t->end));
    zmpi_enhancer_point(id, t->end, size, pointer);
    const int failed = tool_output_write_at(&t->out, e.bytes, size, t->end);
    t->end += zmpi_pad8(size);
    zmpi_enhancer_free(&e);
    return failed;
}

/* Makes room for what the write calls were, if the file has it, in front of the index. */
static int read_calls(struct trim *t, struct zmpi_calls *calls, size_t *size)
{
    bool there;
    const enum zmpi_status status = zmpi_calls_read(&t->in.container, &t->in.reader, calls, &there);
    *size = there ? zmpi_calls_size(calls) : 0;
    return status == ZMPI_ERR_IO || status == ZMPI_ERR_MEMORY ? tool_fail_status(t->in.path, status)
                                                              : TOOL_OK;
}

/* Writes it, and the pointer to it. The index is made. */
static int write_calls(struct trim *t, const struct zmpi_calls *calls, size_t size, uint64_t at,
                       unsigned char pointer[ZMPI_CALLS_POINTER])
{
    const struct zmpi_header *h = &t->fresh.header;
    unsigned char *section = malloc(size + 1);
    if (!section)
        return tool_fail("out of memory");
    zmpi_calls_encode(calls, section);
    zmpi_calls_seal(section, size, h->id, at);
    zmpi_calls_point(h->id, at, size, h->tally, pointer);
    const int failed = tool_output_write_at(&t->out, section, size, at);
    free(section);
    return failed;
}

/* Writes the index, and the header in front of everything. */
static int finish(struct trim *t)
{
    unsigned char *index, head[ZMPI_HEADER_BYTES] = {0};
    struct zmpi_calls calls;
    size_t size, section;
    int failed = copy_network(t, head + ZMPI_POINTER_AT);
    failed = failed ? failed : read_calls(t, &calls, &section);
    if (failed)
        return failed;
    const uint64_t at = t->end;
    t->end += section;
    enum zmpi_status status = zmpi_container_seal(&t->fresh, &t->in.reader);
    if (!status && t->fresh.logical_size != t->in.container.logical_size)
        status = ZMPI_ERR_CORRUPT;
    if (!status)
        status = zmpi_index_make(&t->fresh, &t->in.reader, t->end, t->fresh.header.generation,
                                 &index, &size);
    if (status)
        return tool_fail_status(t->in.path, status);
    failed = tool_output_write_at(&t->out, index, size, t->end);
    free(index);
    t->end += size;
    if (!failed && section)
        failed = write_calls(t, &calls, section, at, head + ZMPI_CALLS_AT);
    zmpi_header_put(&t->fresh.header, head);
    if (!failed)
        failed = tool_output_write_at(&t->out, head, sizeof head, 0);
    if (!failed && fsync(t->out.fd))
        failed = tool_fail("%s: %s", t->out.path, strerror(errno));
    return failed;
}

/* Gives the copy the old file's permissions. Only a privileged process can give it the old
 * owner. */
static int hand_over(const struct trim *t)
{
    struct stat s, made;
    const int in = t->in.fd, out = t->out.fd;
    if (fstat(in, &s) || fstat(out, &made))
        return tool_fail("%s: %s", t->in.path, strerror(errno));
    if (made.st_uid != s.st_uid)
        (void)!fchown(out, s.st_uid, (gid_t)-1);
    if ((made.st_gid != s.st_gid && fchown(out, (uid_t)-1, s.st_gid)) ||
        !zmpi_attributes_copy(in, out) || fchmod(out, s.st_mode & 07777))
        return tool_fail("%s: a new file cannot have its group, mode and attributes: %s",
                         t->in.path, strerror(errno));
    return TOOL_OK;
}

static int copy(struct trim *t, const char *path)
{
    int failed = tool_output_open(&t->out, path, NULL);
    if (failed)
        return failed;
    t->fresh.header = t->in.container.header;
    t->fresh.header.generation = 1;
    t->end = ZMPI_HEADER_BYTES;
    unsigned char *id = t->fresh.header.id;
    if (getrandom(id, sizeof t->fresh.header.id, 0) != (ssize_t)sizeof t->fresh.header.id)
        failed = tool_fail("no random numbers for the file's id");
    if (!failed)
        failed = copy_records(t);
    if (!failed)
        failed = finish(t);
    if (!failed)
        failed = hand_over(t);
    if (!failed && !is_unchanged(t, path))
        failed = tool_fail("%s: a program is writing to it, or has written meanwhile", path);
    const int closed = tool_output_close(&t->out, !failed);
    return failed ? failed : closed;
}

static int trim(struct trim *t)
{
    enum zmpi_status status =
        zmpi_container_plan_compaction(&t->in.container, &t->in.reader, UINT64_MAX, &t->compaction);
    if (status)
        return tool_fail_status(t->in.path, status);
    char *path = realpath(t->in.path, NULL); /* the file itself, not a link to it */
    int failed = path ? copy(t, path) : tool_fail("%s: %s", t->in.path, strerror(errno));
    free(path);
    if (!failed)
        printf("%s: %llu bytes, were %llu\n", t->in.path, (unsigned long long)t->end,
               (unsigned long long)t->in.physical);
    return failed;
}

int tool_trim(int argc, char **argv)
{
    struct trim t = {0};
    static const struct option longs[] = {{NULL, 0, NULL, 0}};
    if (getopt_long(argc, argv, "", longs, NULL) != -1 || argc - optind != 1)
        return tool_usage();
    if (strcmp(argv[optind], "-") == 0)
        return tool_fail("standard input cannot be replaced");
    zmpi_container_init(&t.fresh);
    zmpi_container_init(&t.compaction.kept);
    int status = open_whole(&t, argv[optind]);
    if (status)
        return status;
    status = trim(&t);
    zmpi_compaction_free(&t.compaction);
    zmpi_container_free(&t.fresh);
    tool_input_close(&t.in);
    return status;
}
