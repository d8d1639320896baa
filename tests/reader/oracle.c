/*
 * oracle.c - containers with right checksums that are otherwise damaged, as main.c makes them, and
 * what the codec reads of each, for tests/reader/oracle_test.py: another reader must read the same.
 *
 * Appended to the file that ZMPI_ORACLE names: u64 size and the bytes of the container; u64 1 if it
 * can be read, else 0; if so u64 size and the logical bytes. As in container.c the first byte of an
 * input is no part of the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/fix_checksums.h"

#define READ_MAX ((uint64_t)1 << 20)

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

static void put(FILE *out, const void *bytes, uint64_t size)
{
    if (fwrite(bytes, 1, size, out) != size)
        abort();
}

static void put_number(FILE *out, uint64_t n)
{
    uint8_t bytes[8];
    zmpi_store64(bytes, n);
    put(out, bytes, sizeof bytes);
}

/* All logical bytes, or NULL: not whole, or too many to compare. */
static uint8_t *read_all(struct zmpi_container *c, const struct zmpi_reader *in)
{
    const struct zmpi_run all = {0, c->logical_size};
    if (!zmpi_container_whole(c) || c->joined != 0 || c->logical_size > READ_MAX)
        return NULL;
    uint8_t *bytes = malloc(c->logical_size + 1);
    if (bytes == NULL)
        abort();
    if (zmpi_container_read(c, in, &all, 1, bytes, NULL) == ZMPI_OK)
        return bytes;
    free(bytes);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *out = fopen(getenv("ZMPI_ORACLE"), "ab");
    uint8_t *file = malloc(size + 1), *bytes = NULL;
    if (out == NULL || file == NULL)
        abort();
    size -= size > 0;
    memcpy(file, data + 1, size);
    fix_container(file, size);
    struct memory m = {file, size};
    const struct zmpi_reader in = {.read = read_memory, .context = &m, .file_size = size};
    struct zmpi_container c;
    zmpi_container_init(&c);
    if (zmpi_container_open(&c, &in) == ZMPI_OK)
        bytes = read_all(&c, &in);
    put_number(out, size);
    put(out, file, size);
    put_number(out, bytes != NULL);
    if (bytes != NULL) {
        put_number(out, c.logical_size);
        put(out, bytes, c.logical_size);
    }
    zmpi_container_free(&c);
    free(bytes);
    free(file);
    if (fclose(out) != 0)
        abort();
    return 0;
}
