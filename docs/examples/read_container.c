/*
 * read_container.c FILE: what a container holds, and its first numbers.
 *
 *     cc read_container.c $(pkg-config --cflags --libs zmpi_codec) -o read_container
 */
#include <stdio.h>
#include <zmpi_reader.h>

static int fail(struct zmpi_reader_file *file, const struct zmpi_reader_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    zmpi_reader_close(file);
    return 1;
}

int main(int argc, char **argv)
{
    struct zmpi_reader_file *file = NULL;
    struct zmpi_reader_info info = {.size = sizeof info};
    struct zmpi_reader_error error;
    float first[4];
    if (argc != 2)
        return fprintf(stderr, "usage: read_container FILE\n"), 1;
    if (zmpi_reader_open(argv[1], NULL, &file, &error) || zmpi_reader_info(file, &info, &error))
        return fail(file, &error);
    if (!info.whole)
        fprintf(stderr, "%s: data may be missing\n", argv[1]);
    printf("%llu bytes, stored as %llu\n", (unsigned long long)info.logical_size,
           (unsigned long long)info.physical_size);
    for (uint64_t i = 0; i < info.records; i++) {
        struct zmpi_reader_record r = {.size = sizeof r};
        char bound[40];
        if (zmpi_reader_record(file, i, &r, &error))
            return fail(file, &error);
        if (r.status) { /* its data are damaged */
            printf("bytes %llu to %llu: %s\n", (unsigned long long)r.lo, (unsigned long long)r.hi,
                   zmpi_strerror(r.status));
            continue;
        }
        zmpi_bound_format(&r.bound, bound);
        printf("bytes %llu to %llu: %zux%zux%zu, %s\n", (unsigned long long)r.lo,
               (unsigned long long)r.hi, r.array.extent[0], r.array.extent[1], r.array.extent[2],
               bound);
    }
    if (info.logical_size >= sizeof first) {
        if (zmpi_reader_read(file, 0, first, sizeof first, &error))
            return fail(file, &error);
        printf("%g %g %g %g\n", (double)first[0], (double)first[1], (double)first[2],
               (double)first[3]);
    }
    zmpi_reader_close(file);
    return 0;
}
