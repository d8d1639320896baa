/*
 * golden.c - the files of tests/golden: the encoder makes exactly these bytes, and the decoder
 * reads what they say.
 */
#include "../../golden/cases.h"

#include <criterion/criterion.h>

#include "base/bytes.h"
#include "base/hash.h"

static struct golden made;

/* ZMPI_GOLDEN, or the folder golden/ of the tests. */
static void golden_path(const char *name, char *path, size_t size)
{
    const char *folder = getenv("ZMPI_GOLDEN"), *slash = strrchr(__FILE__, '/');
    int length;
    if (folder != NULL)
        length = snprintf(path, size, "%s/%s.zmpi", folder, name);
    else
        length = snprintf(path, size, "%.*s/../../golden/%s.zmpi",
                          slash != NULL ? (int)(slash - __FILE__) : 1,
                          slash != NULL ? __FILE__ : ".", name);
    cr_assert(length > 0 && (size_t)length < size);
}

/* The file's bytes; free() them. */
static unsigned char *golden_load(const char *name, size_t *size)
{
    char path[1024];
    unsigned char *data = malloc(GOLDEN_MOST);
    golden_path(name, path, sizeof path);
    FILE *in = fopen(path, "rb");
    cr_assert(data != NULL && in != NULL, "cannot open %s", path);
    *size = fread(data, 1, GOLDEN_MOST, in);
    fclose(in);
    return data;
}

Test(golden, encoder_makes_the_same_bytes)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        size_t size;
        if (golden_cases[i].make == NULL)
            continue;
        unsigned char *expected = golden_load(golden_cases[i].name, &size);
        golden_cases[i].make(&made);
        cr_assert_eq(size, made.size, "%s: %zu bytes made, not %zu", golden_cases[i].name,
                     made.size, size);
        for (size_t at = 0; at < size; at++)
            cr_assert_eq(made.data[at], expected[at], "%s: byte %zu", golden_cases[i].name, at);
        golden_free(&made);
        free(expected);
    }
}

struct memory {
    const unsigned char *data;
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

/* The hash is of the bytes as little-endian machines have them. Elements have 4 or 8 bytes, but
 * where records lie over each other; there, only little-endian machines can tell. */
static bool is_hashed(const struct golden_case *g, size_t records, unsigned char *out)
{
    bool right = zmpi_hash(out, g->size, 0) == g->hash || (ZMPI_BIG_ENDIAN && records > 1);
    for (size_t width = 4; width <= 8 && ZMPI_BIG_ENDIAN && !right; width += 4) {
        zmpi_copy_elements(out, out, g->size / width * width, width);
        right = zmpi_hash(out, g->size, 0) == g->hash;
        zmpi_copy_elements(out, out, g->size / width * width, width);
    }
    return right;
}

static void check_logical_bytes(const struct golden_case *g, struct zmpi_container *c,
                                struct zmpi_reader *in)
{
    cr_assert_eq(c->logical_size, g->size, "%s", g->name);
    struct zmpi_run all = {0, g->size};
    unsigned char *out = malloc(g->size);
    cr_assert_not_null(out);
    cr_assert_eq(zmpi_container_read(c, in, &all, 1, out, NULL), ZMPI_OK, "%s", g->name);
    cr_assert(is_hashed(g, c->count, out), "%s: other bytes", g->name);
    free(out);
}

/* With the index, and without. */
static void check_decoder(const struct golden_case *g)
{
    struct memory m;
    unsigned char *data = golden_load(g->name, &m.size);
    m.data = data;
    struct zmpi_reader in = {.read = read_memory, .context = &m, .file_size = m.size};
    struct zmpi_container c;
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_open(&c, &in), ZMPI_OK, "%s", g->name);
    check_logical_bytes(g, &c, &in);
    zmpi_container_free(&c);
    zmpi_container_init(&c);
    cr_assert_eq(zmpi_container_scan(&c, &in), ZMPI_OK, "%s", g->name);
    check_logical_bytes(g, &c, &in);
    zmpi_container_free(&c);
    free(data);
}

Test(golden, decoder_reads_them)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++)
        check_decoder(&golden_cases[i]);
}
