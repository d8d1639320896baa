/*
 * container.c - fuzz target: any bytes open as a container or are refused, and reads of it agree
 * with each other.
 *
 * The first byte of the input chooses: bit 0: put the checksums right, bit 1: scan instead of using
 * the index, bit 2: read the index when it is needed. The rest is the file.
 */
#include <stdlib.h>
#include <string.h>

#include "fix_checksums.h"
#include "format/calls.h"

/* A file of this size may claim to decode to 170 MiB. */
#define FILE_MAX ((size_t)64 << 10)
#define READ_MAX ((size_t)20000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
    const uint8_t *data;
    size_t size;
};

static enum zmpi_status read_memory(void *context, uint64_t offset, void *dst, size_t size)
{
    const struct memory *m = context;
    if (offset > m->size || size > m->size - offset)
        return ZMPI_ERR_TRUNCATED;
    memcpy(dst, m->data + offset, size);
    return ZMPI_OK;
}

/* If the whole can be read, so can parts of it, and they are the same. */
static void check_reads(struct zmpi_container *c, const struct zmpi_reader *in, uint64_t lo)
{
    uint8_t *whole = malloc(READ_MAX), *part = malloc(READ_MAX);
    uint64_t bad;
    struct zmpi_run all = {lo, READ_MAX};
    struct zmpi_run some[] = {{lo + 3, 1}, {lo + 64, 500}, {lo + 7001, 9000}};
    if (whole != NULL && part != NULL &&
        zmpi_container_read(c, in, &all, 1, whole, &bad) == ZMPI_OK) {
        if (zmpi_container_read(c, in, some, 3, part, &bad) != ZMPI_OK ||
            memcmp(part, whole + 3, 1) != 0 || memcmp(part + 1, whole + 64, 500) != 0 ||
            memcmp(part + 501, whole + 7001, 9000) != 0)
            abort();
        for (uint64_t at = c->logical_size > lo ? c->logical_size - lo : 0; at < READ_MAX; at++)
            if (whole[at] != 0)
                abort();
    }
    free(whole);
    free(part);
}

/* What an index would hold are the same records. */
static void check_collected(struct zmpi_container *c, const struct zmpi_reader *in,
                            const struct zmpi_record *record)
{
    struct zmpi_segments s;
    size_t before = c->count, found = 0;
    if (zmpi_index_collect(c, in, true, NULL, NULL, &s) != ZMPI_OK)
        return;
    for (size_t k = 0; k < s.count; k++)
        found += s.segment[k].count;
    for (size_t k = 0; k < c->indexed; k++)
        found += c->all.segment[k].count;
    struct zmpi_record *again;
    if (found != before || zmpi_container_records(c, in, &again) != ZMPI_OK)
        abort();
    for (size_t i = 0; i < before; i++)
        if (again[i].offset != record[i].offset || again[i].order != record[i].order)
            abort();
    free(again);
    zmpi_segments_free(&s);
}

static enum zmpi_status open_file(struct zmpi_container *c, const struct zmpi_reader *in, int how)
{
    if (how & 2)
        return zmpi_container_scan(c, in);
    return how & 4 ? zmpi_container_open_lazily(c, in) : zmpi_container_open(c, in);
}

/* A list of calls that is taken is one that a writer makes: its bytes are the same again. */
static void check_calls(const struct zmpi_container *c, const struct zmpi_reader *in,
                        const struct memory *m)
{
    static struct zmpi_calls calls;
    static unsigned char again[ZMPI_CALLS_LONGEST];
    static char text[1 << 20];
    bool there;
    if (zmpi_calls_read(c, in, &calls, &there) != ZMPI_OK || !there)
        return;
    const size_t size = zmpi_calls_size(&calls);
    const uint8_t *section = m->data + zmpi_load64(m->data + ZMPI_CALLS_AT);
    if (size > sizeof again || size != zmpi_load64(section + 8))
        abort();
    zmpi_calls_encode(&calls, again);
    if (memcmp(again, section, 16) != 0 || memcmp(again + 24, section + 24, size - 24) != 0)
        abort();
    FILE *out = fmemopen(text, sizeof text, "w");
    for (unsigned i = 0; out != NULL && i < calls.count; i++)
        zmpi_call_json(out, &calls.call[i]);
    if (out != NULL)
        fclose(out);
}

static void check_file(struct memory *m, int how)
{
    struct zmpi_reader in = {.read = read_memory, .context = m, .file_size = m->size};
    struct zmpi_container c;
    zmpi_container_init(&c);
    enum zmpi_status status = open_file(&c, &in, how);
    if (status != ZMPI_OK && c.count != 0)
        abort();
    if (status == ZMPI_OK) {
        check_calls(&c, &in, m);
        check_reads(&c, &in, 0);
        uint64_t size = c.logical_size;
        check_reads(&c, &in, size > READ_MAX ? size - READ_MAX / 2 : size / 2);
        struct zmpi_record *record;
        if (zmpi_container_records(&c, &in, &record) == ZMPI_OK) {
            if (c.count > 0 && record[c.count / 2].extent.lo < ZMPI_SIZE_MAX - READ_MAX)
                check_reads(&c, &in, record[c.count / 2].extent.lo);
            check_collected(&c, &in, record);
            free(record);
        }
    }
    zmpi_container_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > FILE_MAX)
        return 0;
    uint8_t *file = malloc(size > 1 ? size - 1 : 1);
    if (file == NULL)
        return 0;
    memcpy(file, data + 1, size - 1);
    if (data[0] & 1)
        fix_container(file, size - 1);
    struct memory m = {file, size - 1};
    check_file(&m, data[0]);
    free(file);
    return 0;
}
