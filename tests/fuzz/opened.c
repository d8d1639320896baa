/*
 * opened.c - fuzz target: any bytes as a file are opened by zmpi mount, the plain view and zmpi
 * convert, or refused, in little memory whatever they claim; and all give what zmpi_reader.h gives.
 *
 * The first byte of the input chooses: bit 0: put the checksums right, bit 1: f64, bits 2 and 3:
 * convert to .npy, .vti or .h5, or with a shape. The second one says where reads begin. The rest is
 * the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "fix_checksums.h"
#include "tool/mount/mount.h"
#include "tool/tool.h"
#include "view/view.h"
#include "zmpi_reader.h"

/* A file of this size may claim to decode to 43 MiB. */
#define FILE_MAX   ((size_t)16 << 10)
#define WRITE_MAX  ((rlim_t)8 << 20)
#define VIEW_MAX   ((uint64_t)16 << 20)
#define READ_MAX   ((size_t)128 << 10)
#define MEMORY_MAX 256L /* MiB in all; sanitizers have their own */

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No allocation is large, nor are all together. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=128:quarantine_size_mb=16:detect_leaks=1";
}

struct zmpi_view_settings zmpi_view_settings(void)
{
    return (struct zmpi_view_settings){.most = VIEW_MAX, .threads = 2};
}

/* ---- what the tool says (tool/message.c): one line, not printed ---- */

int tool_fail(const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n <= 0 || strchr(text, '\n'))
        abort();
    return TOOL_ERROR;
}

int tool_fail_status(const char *path, enum zmpi_status status)
{
    return tool_fail("%s: %s", path, zmpi_strerror(status));
}

int tool_usage(void)
{
    abort(); /* the arguments are right */
}

/* What else is said of thousands of files. Sanitizers write to descriptors. */
static void hush(bool on)
{
#ifdef __GLIBC__ /* where these are variables */
    static FILE *nowhere, *out, *err;
    if (!nowhere) {
        nowhere = fopen("/dev/null", "w");
        out = stdout;
        err = stderr;
    }
    stdout = on && nowhere ? nowhere : out;
    stderr = on && nowhere ? nowhere : err;
#else
    (void)on;
#endif
}

/* ---- each of them, beside the reader ---- */

static bool read_plainly(struct zmpi_reader_file *file, uint64_t at, size_t n, uint8_t *dst)
{
    return file && zmpi_reader_read(file, at, dst, n, NULL) == ZMPI_OK;
}

static void compare(struct zmpi_reader_file *file, struct mount_file *m, uint64_t at, size_t n)
{
    uint8_t *want = malloc(READ_MAX), *got = malloc(READ_MAX);
    const bool can = read_plainly(file, at, n, want);
    const ssize_t done = mount_file_read(m, got, n, at);
    if (can != (done >= 0) || (can && ((size_t)done != n || memcmp(want, got, n) != 0)))
        abort();
    free(want);
    free(got);
}

/* In order, by which whole blocks are kept; then some pieces in the middle and at the end. */
static void check_mount(struct zmpi_reader_file *file, int fd, uint64_t size, uint8_t from)
{
    struct mount_file *m;
    struct stat s;
    const int copy = dup(fd);
    if (mount_file_open(&m, copy, "file")) { /* which has closed the descriptor */
        if (file)
            abort();
        return;
    }
    if (!file || mount_file_stat(m, &s) || (uint64_t)s.st_size != size)
        abort();
    uint64_t at = size / 256 * from;
    for (int i = 0; i < 6 && at < size; i++, at += READ_MAX)
        compare(file, m, at, size - at < READ_MAX ? (size_t)(size - at) : READ_MAX);
    for (uint64_t k = 1; k < 4 && size > 4096; k++)
        compare(file, m, (size - 4096) / 3 * k, 4096);
    if (mount_file_read(m, &(char){0}, 1, size) != 0)
        abort();
    mount_file_close(m);
}

static void check_view(struct zmpi_reader_file *file, int fd, const struct stat *s, uint64_t size)
{
    uint8_t *want = malloc(READ_MAX), *got = malloc(READ_MAX);
    struct stat of_view;
    const int view = zmpi_view_make(fd, s);
    if (view >= 0) {
        if (!file || size > VIEW_MAX || fstat(view, &of_view) || (uint64_t)of_view.st_size != size)
            abort();
        for (uint64_t at = 0; at < size; at += READ_MAX) {
            const size_t n = size - at < READ_MAX ? (size_t)(size - at) : READ_MAX;
            if (!read_plainly(file, at, n, want) || pread(view, got, n, (off_t)at) != (ssize_t)n ||
                memcmp(want, got, n) != 0)
                abort();
        }
        close(view);
    }
    free(want);
    free(got);
}

/* Of one whose first bytes another program wrote over the tool says so, and takes it as it is. */
static bool is_destroyed(int fd)
{
    struct zmpi_source source = {.fd = fd};
    const off_t size = lseek(fd, 0, SEEK_END);
    const struct zmpi_reader in = zmpi_source_reader(&source, (uint64_t)size, 1);
    enum zmpi_kind kind;
    return zmpi_source_look(&in, &kind) == ZMPI_OK && kind == ZMPI_KIND_DESTROYED;
}

/* What it writes without its head and its end are the file's bytes, if it says that all went well.
 */
static void check_convert(struct zmpi_reader_file *file, int fd, uint64_t size, int how)
{
    static const char *const names[] = {"opened.npy", "opened.vti", "opened.h5", "opened.npy"};
    const char *name = names[how >> 2 & 3];
    char path[40], type[8] = "f32", shape[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(shape, sizeof shape, "2x%llu", (unsigned long long)(size / 8));
    snprintf(type, sizeof type, "%s", how & 2 ? "f64" : "f32");
    char convert[] = "convert", t[] = "-t", d[] = "-d", *to = strdup(name);
    const bool shaped = (how & 12) == 12 && size >= 16;
    char *arguments[8] = {convert, t, type, path, to}, **end = arguments + 5;
    if (shaped) {
        *end++ = d;
        *end++ = shape;
    }
    optind = 0; /* from the beginning */
    hush(true);
    const int status = tool_convert((int)(end - arguments), arguments);
    hush(false);
    const int out = open(name, O_RDONLY | O_CLOEXEC);
    if (status == TOOL_OK && (out < 0 || (!file && !is_destroyed(fd))))
        abort();
    if (out >= 0 && file && strcmp(name, "opened.npy") == 0) {
        const off_t all = lseek(out, 0, SEEK_END);
        uint8_t want[4096], got[4096];
        const size_t n = size < sizeof want ? (size_t)size : sizeof want;
        if (all < (off_t)size || !read_plainly(file, 0, n, want) ||
            pread(out, got, n, all - (off_t)size) != (ssize_t)n || memcmp(want, got, n) != 0)
            abort();
    }
    if (out >= 0)
        close(out);
    unlink(name);
    free(to);
}

static void check_file(int fd, int how, uint8_t from)
{
    const struct zmpi_reader_options o = {.size = sizeof o, .threads = 2};
    struct zmpi_reader_info info = {.size = sizeof info};
    struct zmpi_reader_file *file = NULL;
    struct stat s;
    if (fstat(fd, &s) || !zmpi_view_is_container(fd, &s))
        return;
    if (zmpi_reader_open_fd(fd, "file", &o, &file, NULL) != ZMPI_OK)
        file = NULL;
    if (file && zmpi_reader_info(file, &info, NULL) != ZMPI_OK)
        abort();
    check_mount(file, fd, info.logical_size, from);
    check_view(file, fd, &s, info.logical_size);
    check_convert(file, fd, info.logical_size, how);
    zmpi_reader_close(file);
}

static void prepare(void)
{
    static bool done;
    const struct rlimit limit = {WRITE_MAX, WRITE_MAX};
    if (done)
        return;
    signal(SIGXFSZ, SIG_IGN); /* a file that becomes too long is an error */
    if (setrlimit(RLIMIT_FSIZE, &limit))
        abort();
    setenv("ZMPI_LOG", "quiet", 1);
    zmpi_log_set(ZMPI_LOG_QUIET);
    done = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rusage used;
    if (size < 2 || size > FILE_MAX)
        return 0;
    prepare();
    uint8_t *file = malloc(size);
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    memcpy(file, data + 2, size - 2);
    if (data[0] & 1)
        fix_container(file, size - 2);
    if (fd < 0 || write(fd, file, size - 2) != (ssize_t)(size - 2))
        abort();
    check_file(fd, data[0], data[1]);
    close(fd);
    free(file);
    if (getrusage(RUSAGE_SELF, &used) || (!IS_SANITIZED && used.ru_maxrss > MEMORY_MAX << 10))
        abort();
    return 0;
}
