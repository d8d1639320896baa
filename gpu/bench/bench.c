/* bench.c - bench_gpu: the CUDA device against the CPU, and how fast it is. See
 * scripts/bench/bench_gpu.sh. */
#include "bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const usage =
    "usage: bench_gpu [--check] [--measure] [--reset] [--quick] [--least MB] [--most MB] "
    "[--seconds S]\n"
    "                 [--json FILE] [--folder FOLDER] [FIELD.f32:NZxNYxNX...]\n"
    "  --check     compare with the CPU: every bound, from and to memory of all kinds, damage, "
    "parts\n"
    "  --measure   rates, from --least (1) to --most (8192) MB, S seconds each (0.2)\n"
    "  --reset     reset the device, and try to use it again\n"
    "  --quick     few and small fields\n"
    "  --folder    where to write the files that are timed (.)\n";

static double number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (*end || !(value > 0))
        die("%s: a number > 0 is wanted", text);
    return value;
}

static void parse(int argc, char **argv, struct settings *s)
{
    static const struct option longs[] = {{"check", 0, NULL, 'c'},   {"measure", 0, NULL, 'm'},
                                          {"quick", 0, NULL, 'q'},   {"least", 1, NULL, 'l'},
                                          {"most", 1, NULL, 'M'},    {"reset", 0, NULL, 'r'},
                                          {"seconds", 1, NULL, 's'}, {"json", 1, NULL, 'j'},
                                          {"folder", 1, NULL, 'f'},  {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        s->check |= c == 'c';
        s->measure |= c == 'm';
        s->reset |= c == 'r';
        s->quick |= c == 'q';
        if (c == 'l')
            s->least = (size_t)(number(optarg) * 1048576);
        if (c == 'M')
            s->most = (size_t)(number(optarg) * 1048576);
        if (c == 's')
            s->seconds = number(optarg);
        if (c == 'j')
            s->json = optarg;
        if (c == 'f')
            s->folder = optarg;
        if (c == '?')
            die("%s", usage);
    }
    s->file = allocate((size_t)(argc - optind) * sizeof *s->file);
    for (int i = optind; i < argc; i++)
        s->file[s->files++] = field_read(argv[i]);
}

static void about(FILE *json)
{
    struct cudaDeviceProp p;
    int device, driver = 0, runtime = 0;
    char date[32];
    time_t t = time(NULL);
    if (!GPU_OK(cudaGetDevice(&device)) || !GPU_OK(cudaGetDeviceProperties(&p, device)) ||
        !GPU_OK(cudaDriverGetVersion(&driver)) || !GPU_OK(cudaRuntimeGetVersion(&runtime)))
        die("%s", gpu_problem());
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&t));
    printf("%s, compute capability %d.%d, %d multiprocessors, %.1f GB; driver CUDA %d.%d, runtime "
           "%d.%d; %s\n",
           p.name, p.major, p.minor, p.multiProcessorCount, 1e-9 * (double)p.totalGlobalMem,
           driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, date);
    if (json)
        fprintf(json,
                "{\n  \"gpu\": \"%s\", \"capability\": \"%d.%d\", \"memory\": %zu, \"driver\": %d, "
                "\"date\": \"%s\"",
                p.name, p.major, p.minor, p.totalGlobalMem, driver, date);
}

int main(int argc, char **argv)
{
    struct settings s = {
        .least = (size_t)1 << 20, .most = (size_t)8 << 30, .seconds = 0.2, .folder = "."};
    FILE *json = NULL;
    say_when_stopped();
    const double start = now();
    const char *missing = zmpi_device_plugin()->probe();
    const double started = now();
    parse(argc, argv, &s);
    if (missing)
        die("%s", missing);
    if (!GPU_OK(cudaFree(NULL)))
        die("%s", gpu_problem());
    const double context = now();
    if (s.json && !(json = fopen(s.json, "w")))
        die("%s: cannot be written", s.json);
    about(json);
    printf("to start the driver %.3f s, to make a context %.3f s\n", started - start,
           context - started);
    if (s.check) {
        const size_t fields = check_all(&s), cases = check_cases(&s), slices = check_slices(&s);
        printf("%zu cases: the same bytes and values as on the CPU\n", fields + cases + slices);
    }
    if (s.measure) {
        measure_all(&s, json);
        measure_slices(&s, json);
    }
    if (s.reset)
        check_resets();
    if (json && (fputs("\n}\n", json) < 0 || fclose(json)))
        die("%s: cannot be written", s.json);
    for (size_t i = 0; i < s.files; i++)
        free(s.file[i].data);
    free(s.file);
    return EXIT_SUCCESS;
}
