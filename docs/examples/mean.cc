/*
 * mean.cc FILE: the mean of a container of f32, a piece at a time, from C++.
 *
 *     c++ mean.cc $(pkg-config --cflags --libs zmpi_codec) -o mean
 */
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>
#include <zmpi_reader.h>

struct Close {
    void operator()(zmpi_reader_file *file) const
    {
        zmpi_reader_close(file);
    }
};

/* An error becomes an exception with the library's message. */
static void check(zmpi_status status, const zmpi_reader_error &error)
{
    if (status != ZMPI_OK)
        throw std::runtime_error(error.text);
}

static double mean(const char *path)
{
    zmpi_reader_file *opened = nullptr;
    zmpi_reader_error error;
    check(zmpi_reader_open(path, nullptr, &opened, &error), error);
    std::unique_ptr<zmpi_reader_file, Close> file(opened);
    struct zmpi_reader_info info = {}; /* a function has the same name */
    info.size = sizeof info;
    check(zmpi_reader_info(file.get(), &info, &error), error);
    const uint64_t count = info.logical_size / sizeof(float);
    std::vector<float> piece(1 << 20);
    double sum = 0;
    for (uint64_t at = 0; at < count; at += piece.size()) {
        const size_t n = std::min<uint64_t>(piece.size(), count - at);
        check(zmpi_reader_read(file.get(), at * sizeof(float), piece.data(), n * sizeof(float),
                               &error),
              error);
        for (size_t i = 0; i < n; i++)
            sum += piece[i];
    }
    return count ? sum / double(count) : 0;
}

int main(int argc, char **argv)
{
    try {
        for (int i = 1; i < argc; i++)
            std::printf("%s %.6f\n", argv[i], mean(argv[i]));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
