/*
 * container.c - fuzz target: any bytes open as a container or are refused, and reads of it agree
 * with each other.
 *
 * The first byte of the input chooses: bit 0: put the checksums right, bit 1: scan instead of using
 * the index. The rest is the file.
 */
#include <stdlib.h>
#include <string.h>

#include "fix_checksums.h"

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

static void check_file(struct memory *m, int scan)
{
    struct zmpi_reader in = {.read = read_memory, .context = m, .file_size = m->size};
    struct zmpi_container c;
    zmpi_container_init(&c);
    enum zmpi_status status = scan ? zmpi_container_scan(&c, &in) : zmpi_container_open(&c, &in);
    if (status != ZMPI_OK && c.count != 0)
        abort();
    if (status == ZMPI_OK) {
        check_reads(&c, &in, 0);
        uint64_t size = c.logical_size;
        check_reads(&c, &in, size > READ_MAX ? size - READ_MAX / 2 : size / 2);
        if (c.count > 0 && c.record[c.count / 2].extent.lo < ZMPI_SIZE_MAX - READ_MAX)
            check_reads(&c, &in, c.record[c.count / 2].extent.lo);
        zmpi_container_end(&c);
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
    check_file(&m, data[0] & 2);
    free(file);
    return 0;
}
