/*
 * make.c - writes the golden files: golden_make FOLDER. Prints what belongs into the table of
 * cases.h.
 */
#include "base/hash.h"
#include "cases.h"

static enum zmpi_status read_memory(void *context, uint64_t offset, void *dst, size_t size)
{
    const struct golden *g = context;
    if (offset > g->size || size > g->size - offset)
        return ZMPI_ERR_TRUNCATED;
    memcpy(dst, g->data + offset, size);
    return ZMPI_OK;
}

static void print_row(const char *name, struct golden *g)
{
    struct zmpi_reader in = {.read = read_memory, .context = g, .file_size = g->size};
    struct zmpi_container c;
    zmpi_container_init(&c);
    golden_must(zmpi_container_open(&c, &in) == ZMPI_OK, "open");
    struct zmpi_run all = {0, c.logical_size};
    unsigned char *out = malloc(c.logical_size);
    golden_must(out != NULL && zmpi_container_read(&c, &in, &all, 1, out, NULL) == ZMPI_OK, "read");
    printf("    {\"%s\", golden_%s, %llu, UINT64_C(0x%016llX)},\n", name, name,
           (unsigned long long)c.logical_size,
           (unsigned long long)zmpi_hash(out, c.logical_size, 0));
    free(out);
    zmpi_container_free(&c);
}

static void write_file(const char *folder, const char *name, const struct golden *g)
{
    char path[1024];
    int length = snprintf(path, sizeof path, "%s/%s.zmpi", folder, name);
    golden_must(length > 0 && (size_t)length < sizeof path, "path");
    FILE *out = fopen(path, "wb");
    golden_must(out != NULL, path);
    golden_must(fwrite(g->data, 1, g->size, out) == g->size, "write");
    golden_must(fclose(out) == 0, "close");
}

int main(int argc, char **argv)
{
    static struct golden g;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        if (golden_cases[i].make == NULL)
            continue;
        golden_cases[i].make(&g);
        write_file(argv[1], golden_cases[i].name, &g);
        print_row(golden_cases[i].name, &g);
        golden_free(&g);
    }
    return 0;
}
