/*
 * states.c - states of the disk after a power failure (disk.h), each read as the tools read a file,
 * and compared with what the program did (model.h). Run by tests/cli/power.py.
 *
 *     states TRACE FIRST COUNT [EVERY COMMAND]...
 *
 * Of each EVERY states one is written to a file, COMMAND is run with its name, and what that left
 * is read as well. In each of the COUNT states from seed FIRST on
 *   - what was promised is read as it was written, where nothing newer was written to its place;
 *   - all else is what some operation wrote there, or zero, or cannot be read, and that is said;
 *   - the file has a size that it had;
 *   - a container is not taken for a plain file.
 * POWER_THERE: the trace is of a plain file that was there, which may become a container.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "container/container.h"
#include "disk.h"
#include "model.h"

static struct model model;
static struct zmpi_container container;

/* Of the states: how many were opened, in how many something could not be read. */
static unsigned long opened, incomplete, partly, refused, empty, plain, commands;

static _Noreturn void fail(const char *trace, const struct state *s, const char *text)
{
    printf("FAIL: %s, seed %" PRIu64 ": %s: %s\n", trace, s->seed, s->way, text);
    const char *kept = getenv("POWER_KEEP");
    FILE *f = kept ? fopen(kept, "wb") : NULL;
    if (f != NULL && fwrite(s->image.data, 1, s->image.size, f) == s->image.size && !fclose(f))
        printf("  the file is in %s\n", kept);
    exit(1);
}

static enum zmpi_status read_image(void *context, uint64_t offset, void *dst, size_t size)
{
    const struct image *i = context;
    if (offset > i->size || size > i->size - offset)
        return ZMPI_ERR_TRUNCATED;
    memcpy(dst, i->data + offset, size);
    return ZMPI_OK;
}

/* What happened before the power failed. */
static void remember(const struct disk *d, size_t steps)
{
    memset(&model, 0, sizeof model);
    for (size_t k = 0; k < steps; k++)
        if (d->step[k].entry.kind == TRACE_MARK)
            model_mark(&model, d->step[k].bytes, d->step[k].entry.bytes);
}

enum found { FOUND_NOTHING, FOUND_PLAIN, FOUND_REFUSED, FOUND_CONTAINER };

/* As tool_input_look (codec/tool/io.c) does. */
static enum found look(const struct zmpi_reader *in, const struct image *i)
{
    const size_t head = i->size < ZMPI_HEAD_BYTES ? i->size : ZMPI_HEAD_BYTES;
    const size_t tail = i->size < 4096 ? i->size : 4096;
    if (i->size == 0)
        return FOUND_NOTHING;
    if (zmpi_container_copied(i->data, head, in) || zmpi_is_container(i->data, head))
        return FOUND_CONTAINER;
    if (zmpi_was_container(i->data, head, i->data + i->size - tail, tail) ||
        zmpi_container_lost(i->data, head, in))
        return FOUND_REFUSED;
    return FOUND_PLAIN;
}

static bool is_allowed(const struct model_place *p, size_t place, uint64_t value)
{
    if (value == 0)
        return p->hole;
    for (uint64_t left = p->writers; left != 0; left &= left - 1)
        if (value == model_value((unsigned)__builtin_ctzll(left), place))
            return true;
    return false;
}

/* Places [begin, end), whose bytes are read or, where `value` is NULL, cannot be. */
static void check(const char *trace, const struct state *s, size_t begin, size_t end,
                  const uint64_t *value)
{
    char text[300];
    for (size_t p = begin; p < end; p++) {
        const struct model_place is = model_at(&model, p);
        if (value == NULL ? !is.promised : is_allowed(&is, p, value[p - begin]))
            continue;
        int n = value ? snprintf(text, sizeof text, "place %zu is %" PRIx64 ", which none of", p,
                                 value[p - begin])
                      : snprintf(text, sizeof text, "place %zu cannot be read, and is of", p);
        for (unsigned op = 0; op < OPS && n < (int)sizeof text; op++)
            if (is.writers >> op & 1)
                n += snprintf(text + n, sizeof text - (size_t)n, " %u", op);
        snprintf(text + (n < 250 ? n : 250), 50, "%s", is.hole ? " (or a hole)" : "");
        fail(trace, s, text);
    }
}

static bool read_places(const char *trace, const struct state *s, const struct zmpi_reader *in,
                        size_t begin, size_t end)
{
    static uint64_t value[PLACES];
    const struct zmpi_run run = {8 * begin, 8 * (end - begin)};
    if (zmpi_container_read(&container, in, &run, 1, value, NULL) == ZMPI_OK) {
        check(trace, s, begin, end, value);
        return true;
    }
    if (end - begin == 1) {
        check(trace, s, begin, end, NULL);
        return false;
    }
    const size_t middle = begin + (end - begin) / 2;
    const bool first = read_places(trace, s, in, begin, middle);
    return read_places(trace, s, in, middle, end) && first;
}

static void check_size(const char *trace, const struct state *s, uint64_t size)
{
    char text[200];
    uint64_t least, greatest;
    model_sizes(&model, &least, &greatest);
    snprintf(text, sizeof text, "%" PRIu64 " bytes, not %" PRIu64 " to %" PRIu64 " places", size,
             least, greatest);
    if ((size < 8 * least || size > 8 * greatest || size % 8 != 0) && size != GONE_ON)
        fail(trace, s, text);
}

/* Opens it as the tools do, as MPI does (pmpi/index/share.c), or as fsck does, which scans all. */
static enum zmpi_status open_container(uint64_t seed, const struct zmpi_reader *in)
{
    zmpi_container_init(&container);
    if (seed % 4 == 3)
        return zmpi_container_scan(&container, in);
    if (seed % 4 != 1)
        return zmpi_container_open(&container, in);
    const enum zmpi_status status = zmpi_container_open_lazily(&container, in);
    return status ? status : zmpi_container_read_index(&container, in);
}

static void check_container(const char *trace, const struct state *s, struct zmpi_reader *in)
{
    const enum zmpi_status status = open_container(s->seed, in);
    if (status != ZMPI_OK) {
        refused++;
        check(trace, s, 0, PLACES, NULL);
        return;
    }
    opened++;
    incomplete += !zmpi_container_whole(&container);
    check_size(trace, s, container.logical_size);
    partly += !read_places(trace, s, in, 0, PLACES);
    zmpi_container_free(&container);
}

/* Does the file have a complete frame by which it can be recognised: a record's head with the begin
 * of its stream, or a segment's? */
static bool has_frame(const struct disk *d, const struct state *s)
{
    for (size_t k = 0; k < s->steps; k++) {
        const struct step *step = &d->step[k];
        uint64_t n = 64, at = step->entry.offset;
        uint32_t extents;
        if (step->entry.kind != TRACE_WRITE || step->entry.bytes < n)
            continue;
        memcpy(&extents, step->bytes + 48, sizeof extents);
        if (memcmp(step->bytes, "ZREC\1", 5) == 0)
            n += zmpi_pad8(extents) + 4;
        else if (memcmp(step->bytes, "ZIDX", 4) != 0)
            continue;
        if (at + n <= s->image.size && memcmp(s->image.data + at, step->bytes, n) == 0)
            return true;
    }
    return false;
}

/* The file that was there: what is plain of it is what was written, as in any other file. */
static void check_there(const char *trace, const struct state *s)
{
    static uint64_t value[PLACES];
    memset(value, 0, sizeof value);
    memcpy(value, s->image.data, s->image.size < sizeof value ? s->image.size : sizeof value);
    check_size(trace, s, s->image.size);
    check(trace, s, 0, PLACES, value);
    plain++;
}

/* The header goes to the disk before anything else: without it there is nothing, or zeros. */
static void check_plain(const char *trace, const struct disk *d, const struct state *s)
{
    static const uint64_t zeros[PLACES];
    bool is_zero = true;
    if (has_frame(d, s))
        fail(trace, s, "a plain file with a container's frame in it");
    if (getenv("POWER_THERE") && s->inode == d->inode) {
        check_there(trace, s);
        return;
    }
    for (size_t i = 0; i < s->image.size; i++)
        is_zero = is_zero && s->image.data[i] == 0;
    if (!is_zero)
        fail(trace, s, "a plain file of a container's bytes");
    check(trace, s, 0, PLACES, zeros);
}

static void check_state(const char *trace, const struct disk *d, struct state *s)
{
    struct zmpi_reader in = {
        .read = read_image, .context = &s->image, .file_size = s->image.size, .threads = 1};
    switch (look(&in, &s->image)) {
    case FOUND_CONTAINER:
        check_container(trace, s, &in);
        break;
    case FOUND_REFUSED:
        refused++;
        check(trace, s, 0, PLACES, NULL);
        break;
    default:
        empty++;
        check_plain(trace, d, s);
    }
}

static bool write_file(const char *path, const struct image *i)
{
    FILE *f = fopen(path, "wb");
    const bool written = f != NULL && fwrite(i->data, 1, i->size, f) == i->size;
    return f != NULL && fclose(f) == 0 && written;
}

static bool read_file(const char *path, struct image *i)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return false;
    image_resize(i, 0);
    for (size_t got = 1; got > 0;) {
        const size_t size = i->size;
        image_resize(i, size + 65536);
        got = fread(i->data + size, 1, 65536, f);
        image_resize(i, size + got);
    }
    return fclose(f) == 0;
}

/* The state, and what a command that goes on with it leaves. */
static void check_command(const char *trace, const struct disk *d, struct state *s,
                          const char *command)
{
    char line[3000], path[500], way[sizeof s->way];
    snprintf(path, sizeof path, "%s.state", trace);
    snprintf(line, sizeof line, "%s %s >%s.said 2>&1", command, path, path);
    if (!write_file(path, &s->image))
        fail(trace, s, "cannot be written");
    const int status = system(line);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 2 || !read_file(path, &s->image))
        fail(trace, s, command);
    memcpy(way, s->way, sizeof way);
    snprintf(s->way, sizeof s->way, "%.60s, then %.50s", way, command);
    check_state(trace, d, s);
    commands++;
}

int main(int argc, char **argv)
{
    struct disk disk;
    struct state state = {0};
    if (argc < 4 || argc % 2 != 0) {
        fprintf(stderr, "states TRACE FIRST COUNT [EVERY COMMAND]...\n");
        return 2;
    }
    if (!disk_load(&disk, argv[1]))
        return 1;
    const uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    for (uint64_t seed = first; seed - first < count; seed++) {
        disk_state(&disk, seed, &state);
        remember(&disk, state.steps);
        check_state(argv[1], &disk, &state);
        for (int i = 4; i < argc; i += 2)
            if (seed % strtoull(argv[i], NULL, 10) == 0) {
                disk_state(&disk, seed, &state);
                check_command(argv[1], &disk, &state, argv[i + 1]);
            }
    }
    printf("%s: %" PRIu64 " states of %zu steps: %lu opened, of which %lu may lack something, and "
           "%lu can be read in part; %lu refused, %lu plain or empty, of which %lu are whole; "
           "%lu commands\n",
           argv[1], count, disk.steps, opened, incomplete, partly, refused, empty, plain, commands);
    free(state.image.data);
    disk_free(&disk);
    return 0;
}
