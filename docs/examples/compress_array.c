/*
 * compress_array.c: an array to a stream in memory and back, by two threads and encoder interp.
 *
 *     cc compress_array.c $(pkg-config --cflags --libs zmpi_codec) -lm -o compress_array
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zmpi_codec.h>

int main(void)
{
    enum { NZ = 32, NY = 64, NX = 64, COUNT = NZ * NY * NX };
    const struct zmpi_array array = {ZMPI_F32, {NZ, NY, NX}};
    const struct zmpi_codec_options options = {
        .size = sizeof options, .encoder = ZMPI_INTERP, .threads = 2};
    struct zmpi_bound bound;
    static float value[COUNT], back[COUNT];
    for (int i = 0; i < COUNT; i++)
        value[i] = sinf((float)(i % NX) * 0.1f) + cosf((float)(i / NX) * 0.05f);

    const size_t capacity = zmpi_compress_capacity(&array);
    void *stream = malloc(capacity);
    size_t size = 0;
    enum zmpi_status status = zmpi_bound_parse("abs=1e-3", &bound);
    if (!status)
        status = zmpi_compress_with(&options, &array, &bound, NULL, stream, capacity, value, &size);
    if (!status)
        status = zmpi_decompress_with(&options, back, sizeof back, stream, size);
    free(stream);
    if (status) {
        fprintf(stderr, "%s\n", zmpi_strerror(status));
        return 1;
    }
    double error = 0;
    for (int i = 0; i < COUNT; i++)
        error = fmax(error, fabs((double)back[i] - (double)value[i]));
    printf("%zu bytes as %zu, no value further off than %.3g\n", sizeof value, size, error);
    return error <= 1e-3 ? 0 : 1;
}
