/* field_io: the raw file, reached without MPI-IO so that nothing can be put in front of it. */
#include "app_common.h"
#include "field_io.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From here on a value marks "no data", in the manner of climate files. */
static const double fill_value = 1e20;

size_t field_row_start(const struct field *f, int z, int y)
{
    size_t row = (size_t)(f->start[0] + z) * (size_t)f->size[1] + (size_t)(f->start[1] + y);
    return row * (size_t)f->size[2] + (size_t)f->start[2];
}

void raw_check_size(const struct field *f, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        app_fail("%s: %s", path, strerror(errno));
    }
    if (about.st_size < 0 || (size_t)about.st_size != f->elements * f->element) {
        app_fail("%s: holds %lld bytes, but %zu elements of %zu bytes are %zu", path,
                 (long long)about.st_size, f->elements, f->element, f->elements * f->element);
    }
}

/* One piece of the file, however many system calls it takes. */
static void move_piece(int file, const char *path, char *data, size_t bytes, size_t at, bool write)
{
    while (bytes > 0) {
        ssize_t moved =
            write ? pwrite(file, data, bytes, (off_t)at) : pread(file, data, bytes, (off_t)at);
        if (moved < 0 && errno == EINTR) {
            continue;
        }
        if (moved <= 0) {
            app_fail("%s: %s", path, moved < 0 ? strerror(errno) : "file ends early");
        }
        data += moved;
        at += (size_t)moved;
        bytes -= (size_t)moved;
    }
}

static void move_block(const struct field *f, int file, const char *path, char *data, bool write)
{
    size_t row = (size_t)f->count[2] * f->element;
    size_t plane = (size_t)f->count[1] * row;
    for (int z = 0; z < f->count[0]; z++) {
        if (f->count[2] == f->size[2]) {
            /* Whole rows follow each other in the file as well. */
            move_piece(file, path, data, plane, field_row_start(f, z, 0) * f->element, write);
            data += plane;
            continue;
        }
        for (int y = 0; y < f->count[1]; y++) {
            move_piece(file, path, data, row, field_row_start(f, z, y) * f->element, write);
            data += row;
        }
    }
}

void raw_read_block(const struct field *f, const char *path, void *block)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        app_fail("%s: %s", path, strerror(errno));
    }
    move_block(f, file, path, block, false);
    close(file);
}

void raw_write_block(const struct field *f, const char *path, const void *block)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int created = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (created < 0 || ftruncate(created, (off_t)(f->elements * f->element)) != 0 ||
            close(created) != 0) {
            app_fail("%s: %s", path, strerror(errno));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);

    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        app_fail("%s: %s", path, strerror(errno));
    }
    /* The block is only read: move_piece hands it to pwrite. */
    move_block(f, file, path, (char *)block, true);
    if (close(file) != 0) {
        app_fail("%s: %s", path, strerror(errno));
    }
}

static double value_at(const struct field *f, const void *block, size_t i)
{
    return f->is_double ? ((const double *)block)[i] : (double)((const float *)block)[i];
}

/*
 * Whether |a - b| > allowed for the exact difference, which a double need not hold. Rounding to
 * nearest keeps order, so the rounded difference decides unless it equals the bound; then the sign
 * of the part that was rounded away does (Knuth's two-sum gives it exactly).
 */
static bool is_beyond(double a, double b, double allowed)
{
    double difference = a - b;
    if (fabs(difference) < allowed) {
        return false;
    }
    if (!(fabs(difference) == allowed)) {
        return true;
    }
    double b_part = difference - a;
    double a_part = difference - b_part;
    double rest = (a - a_part) - (b + b_part);
    return difference >= 0 ? rest > 0 : rest < 0;
}

struct difference compare_blocks(const struct field *f, const void *original, const void *copy,
                                 double allowed)
{
    struct difference d = {0};
    for (size_t i = 0; i < f->own; i++) {
        size_t at = i * f->element;
        if (memcmp((const char *)original + at, (const char *)copy + at, f->element) == 0) {
            continue;
        }
        d.differing++;
        double a = value_at(f, original, i);
        double b = value_at(f, copy, i);
        if (!isfinite(a) || fabs(a) >= fill_value) {
            d.special++;
            continue;
        }
        if (!isfinite(b)) {
            d.largest = INFINITY;
            d.beyond++;
            continue;
        }
        if (fabs(a - b) > d.largest) {
            d.largest = fabs(a - b);
        }
        if (is_beyond(a, b, allowed)) {
            d.beyond++;
        }
    }
    return d;
}
