/* io.c - files of the commands. A container and a raw file are both read as an array of logical
 * bytes. A result appears complete or not at all. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/log.h"
#include "base/text.h"
#include "tool.h"

bool tool_input_is_written(const struct tool_input *in)
{
    return zmpi_source_is_written(in->fd);
}

bool tool_input_claim(const struct tool_input *in)
{
    struct flock l = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = ZMPI_LOCK_LOG, .l_len = 1};
    struct stat s;
    while (fcntl(in->fd, F_OFD_SETLKW, &l) != 0 && errno == EINTR)
        ;
    return !tool_input_is_written(in) && fstat(in->fd, &s) == 0 &&
           (uint64_t)s.st_size == in->source.base + in->physical;
}

/* Standard input may be a pipe: it is copied to a file without a name first. */
static int spool(struct tool_input *in)
{
    char buffer[65536];
    ssize_t got;
    FILE *file = tmpfile();
    if (!file)
        return tool_fail("standard input: no temporary file: %s", strerror(errno));
    int fd = dup(fileno(file));
    fclose(file);
    while ((got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        if (write(fd, buffer, (size_t)got) != got)
            return tool_fail("standard input: cannot be kept: %s", strerror(errno));
    in->fd = fd;
    return got < 0 ? tool_fail("standard input: %s", strerror(errno)) : TOOL_OK;
}

int tool_input_open_raw(struct tool_input *in, const char *path, bool writable)
{
    struct stat s;
    memset(in, 0, sizeof *in);
    in->path = path;
    zmpi_container_init(&in->container);
    if (strcmp(path, "-") == 0) {
        in->path = "standard input";
        int status = spool(in);
        if (status)
            return status;
    } else {
        in->fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
        if (in->fd < 0)
            return tool_fail("%s: %s", path, strerror(errno));
    }
    if (fstat(in->fd, &s) || !S_ISREG(s.st_mode)) {
        close(in->fd);
        return tool_fail("%s: is not a regular file", in->path);
    }
    if (s.st_size == 0 && pread(in->fd, &(char){0}, 1, 0) > 0) { /* as in /proc */
        close(in->fd);
        return tool_fail("%s: does not say how long it is: pipe it in (\"-\")", in->path);
    }
    zmpi_source_lock(in->fd);
    in->physical = in->size = (uint64_t)s.st_size;
    in->source = (struct zmpi_source){.fd = in->fd};
    in->reader = zmpi_source_reader(&in->source, in->physical, tool_threads());
    return TOOL_OK;
}

enum zmpi_status tool_input_look(struct tool_input *in, bool *is_container)
{
    enum zmpi_kind kind;
    enum zmpi_status status = zmpi_source_look(&in->reader, &kind);
    *is_container = !status && (kind == ZMPI_KIND_CONTAINER || kind == ZMPI_KIND_OVERWRITTEN);
    if (status)
        return status;
    if (kind == ZMPI_KIND_OVERWRITTEN || kind == ZMPI_KIND_DESTROYED ||
        kind == ZMPI_KIND_PLAIN_OVER)
        return tool_tell_overwritten(in, kind);
    if (kind == ZMPI_KIND_HEADLESS) {
        fprintf(stderr,
                "zmpi: %s: is a zmpi container whose first bytes never reached the disk, since the "
                "machine stopped before they were synchronised\n",
                in->path);
        return ZMPI_ERR_CORRUPT;
    }
    return ZMPI_OK;
}

static void tell_of_header(const struct tool_input *in)
{
    if (in->container.copied)
        fprintf(stderr,
                "zmpi: %s: its header is damaged, and the copy of it at the end was taken (zmpi "
                "fsck)\n",
                in->path);
}

static void tell_of_scan(const struct tool_input *in)
{
    const unsigned long long found = in->container.scanned, damaged = in->container.damaged;
    if (found || damaged)
        fprintf(stderr, "zmpi: %s: was not closed properly; %llu records found by scanning\n",
                in->path, found);
    if (damaged)
        fprintf(stderr, "zmpi: %s: %llu bytes look like records but are not: left out\n", in->path,
                damaged);
}

/* Opens the container that begins at in->base. On failure the input is closed. */
static int open_here(struct tool_input *in)
{
    enum zmpi_status read = tool_input_look(in, &in->is_container);
    if (in->is_container) {
        read = zmpi_container_open(&in->container, &in->reader);
        in->size = in->container.logical_size;
    }
    if (read) {
        tool_input_close(in);
        return tool_fail_status(in->path, read);
    }
    tell_of_header(in);
    if (!zmpi_container_whole(&in->container))
        fprintf(stderr, "zmpi: %s: damaged or cut off: data may be missing (zmpi fsck)\n",
                in->path);
    else
        tell_of_scan(in);
    return TOOL_OK;
}

int tool_input_open_first(struct tool_input *in, const char *path)
{
    int status = tool_input_open_raw(in, path, false);
    return status ? status : open_here(in);
}

int tool_input_open_next(struct tool_input *in)
{
    in->source.base += in->container.joined;
    in->physical -= in->container.joined;
    in->reader.file_size = in->physical;
    zmpi_container_free(&in->container);
    zmpi_container_init(&in->container);
    return open_here(in);
}

int tool_input_alone(const struct tool_input *in)
{
    const unsigned long long at = in->container.joined;
    if (!at)
        return TOOL_OK;
    return tool_fail(
        "%s: another container begins at byte %llu: files were joined. zmpi decompress writes all "
        "of them in a row; head -c %llu and tail -c +%llu separate them",
        in->path, at, at, at + 1);
}

int tool_input_open(struct tool_input *in, const char *path)
{
    int status = tool_input_open_first(in, path);
    if (status)
        return status;
    status = tool_input_alone(in);
    if (status)
        tool_input_close(in);
    return status;
}

bool tool_input_offload(struct tool_input *in)
{
    const char *why, *name = in->options.device;
    if (!tool_options_load(&in->options))
        return false;
    in->offload = (struct zmpi_offload){.what = in->path, .name = name};
    in->reader.offload = &in->offload;
    if (!zmpi_device_find(name, NULL, &why))
        zmpi_log(ZMPI_LOG_WARN, "ZMPI_DEVICE=%s: %s; using the CPU", name, why);
    return true;
}

void tool_input_close(struct tool_input *in)
{
    zmpi_container_free(&in->container);
    close(in->fd);
}

int tool_input_read(struct tool_input *in, uint64_t offset, void *dst, size_t size)
{
    uint64_t bad = 0;
    struct zmpi_run run = {offset, size};
    if (size == 0)
        return TOOL_OK;
    if (!in->is_container) {
        enum zmpi_status status = in->reader.read(in->reader.context, offset, dst, size);
        return status ? tool_fail_status(in->path, status) : TOOL_OK;
    }
    enum zmpi_status status = zmpi_container_read(&in->container, &in->reader, &run, 1, dst, &bad);
    if (!status)
        return TOOL_OK;
    tool_fail("%s: record at offset %llu: %s", in->path, (unsigned long long)bad,
              zmpi_strerror(status));
    return status == ZMPI_ERR_IO || status == ZMPI_ERR_MEMORY ? TOOL_ERROR : TOOL_DIFFERENT;
}

/* Gives the new file the permissions that a plain creat would give it. */
static void allow_usual(int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, 0666 & ~mask);
}

bool tool_input_is_at(const struct tool_input *in, const char *path)
{
    struct stat a, b;
    return fstat(in->fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The output file while it is incomplete. A signal that ends the process also removes it. */
static const char *volatile incomplete;

static void remove_incomplete(int number)
{
    const char *name = incomplete;
    if (name)
        unlink(name);
    signal(number, SIG_DFL);
    raise(number); /* delivered once this function has returned */
}

/* name: NULL for none. Ignored signals stay ignored. */
static void set_incomplete(const char *name)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction remove = {.sa_handler = remove_incomplete};
    struct sigaction before;
    incomplete = name;
    for (size_t i = 0; name && i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ends[i], &remove, NULL);
}

/* Opens a new file beside the one that it will replace: `path`, with links resolved. */
static int open_beside(struct tool_output *out, const char *path, bool is_there, mode_t mode)
{
    if (is_there && access(path, W_OK) != 0) /* though a rename could replace it */
        return tool_fail("%s: %s", out->path, strerror(errno));
    /* Cuts the name so that the suffix still fits. */
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    out->final = strdup(path);
    if (!out->final || asprintf(&out->temporary, "%.*s%.*s.XXXXXX", (int)(name - path), path,
                                NAME_MAX - 7, name) < 0) {
        free(out->final);
        out->temporary = NULL;
        return tool_fail("out of memory");
    }
    set_incomplete(out->temporary);
    out->fd = mkstemp(out->temporary);
    if (out->fd < 0) {
        int status = tool_fail("%s: %s", out->path, strerror(errno));
        set_incomplete(NULL);
        free(out->temporary);
        free(out->final);
        return status;
    }
    if (is_there)
        (void)!fchmod(out->fd, mode);
    else
        allow_usual(out->fd);
    return TOOL_OK;
}

int tool_output_open(struct tool_output *out, const char *path, const struct tool_input *from)
{
    struct stat s;
    *out = (struct tool_output){.path = path, .fd = STDOUT_FILENO};
    if (strcmp(path, "-") == 0) {
        out->path = "standard output";
        return TOOL_OK;
    }
    if (from && tool_input_is_at(from, path))
        return tool_fail("%s: is the input too", path);
    const bool is_there = stat(path, &s) == 0;
    const int why = errno;
    if (!is_there && lstat(path, &s) == 0)
        return tool_fail("%s: is a link to what is not there (%s)", path, strerror(why));
    if (is_there && !S_ISREG(s.st_mode)) { /* a device or a pipe cannot be replaced by a rename */
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
        return out->fd < 0 ? tool_fail("%s: %s", path, strerror(errno)) : TOOL_OK;
    }
    char *real = is_there ? realpath(path, NULL) : NULL;
    int status = open_beside(out, real ? real : path, is_there, s.st_mode & 0777);
    free(real);
    return status;
}

int tool_output_write(struct tool_output *out, const void *src, size_t size)
{
    const char *p = src;
    while (size) {
        ssize_t put = write(out->fd, p, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return tool_fail("%s: %s", out->path, strerror(errno));
        p += put;
        size -= (size_t)put;
    }
    return TOOL_OK;
}

/* The size of pieces that are examined for zeros: most file systems' blocks divide it. */
#define HOLE ((size_t)64 << 10)

static bool is_zero(const char *p, size_t n)
{
    return n != 0 && *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

int tool_output_write_sparse(struct tool_output *out, const void *src, size_t size)
{
    const char *p = src;
    if (!out->temporary)
        return tool_output_write(out, src, size);
    for (size_t done = 0, n; done < size; done += n) {
        n = size - done < HOLE ? size - done : HOLE;
        out->ends_with_hole = is_zero(p + done, n);
        if (out->ends_with_hole && lseek(out->fd, (off_t)n, SEEK_CUR) < 0)
            return tool_fail("%s: %s", out->path, strerror(errno));
        if (!out->ends_with_hole && tool_output_write(out, p + done, n))
            return TOOL_ERROR;
    }
    return TOOL_OK;
}

bool tool_output_has_holes(const struct tool_output *out)
{
    return out->temporary != NULL;
}

int tool_output_skip(struct tool_output *out, uint64_t n)
{
    static const char zeros[HOLE];
    if (tool_output_has_holes(out)) {
        out->ends_with_hole = out->ends_with_hole || n != 0;
        return lseek(out->fd, (off_t)n, SEEK_CUR) < 0
                   ? tool_fail("%s: %s", out->path, strerror(errno))
                   : TOOL_OK;
    }
    int status = TOOL_OK;
    for (size_t part; n && !status; n -= part) {
        part = n < HOLE ? (size_t)n : HOLE;
        status = tool_output_write(out, zeros, part);
    }
    return status;
}

/* A hole at the end is only a size. */
static bool end_here(const struct tool_output *out)
{
    const off_t end = lseek(out->fd, 0, SEEK_CUR);
    return end >= 0 && ftruncate(out->fd, end) == 0;
}

int tool_output_write_at(struct tool_output *out, const void *src, size_t size, uint64_t offset)
{
    const char *p = src;
    while (size) {
        ssize_t put = pwrite(out->fd, p, size, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return tool_fail("%s: %s", out->path, strerror(errno));
        p += put;
        offset += (uint64_t)put;
        size -= (size_t)put;
    }
    return TOOL_OK;
}

int tool_output_close(struct tool_output *out, bool keep)
{
    int status = TOOL_OK;
    if (out->fd == STDOUT_FILENO)
        return TOOL_OK;
    if (out->ends_with_hole && keep && !end_here(out))
        status = tool_fail("%s: %s", out->path, strerror(errno));
    if (close(out->fd) && keep && !status)
        status = tool_fail("%s: %s", out->path, strerror(errno));
    if (!out->temporary)
        return status;
    if (keep && !status && rename(out->temporary, out->final))
        status = tool_fail("%s: %s", out->path, strerror(errno));
    if (!keep || status)
        unlink(out->temporary);
    set_incomplete(NULL);
    free(out->temporary);
    free(out->final);
    return status;
}

void tool_progress(const char *what, uint64_t done, uint64_t all)
{
    if (all < (uint64_t)256 << 20 || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%s %3.0f %%%s", what, 100.0 * (double)done / (double)all,
            done >= all ? "\n" : "");
}

bool tool_options_load(struct zmpi_options *o)
{
    char message[256];
    if (zmpi_options_load(o, message) == ZMPI_OK)
        return true;
    tool_fail("%s", message);
    return false;
}

/* Commands that load all settings check ZMPI_THREADS; here a wrong value counts as none. */
int tool_threads(void)
{
    const char *text = secure_getenv("ZMPI_THREADS");
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    return n >= 1 && n <= 1024 && !*end ? (int)n : zmpi_cpus_count();
}

bool tool_parse_type(const char *text, enum zmpi_type *type)
{
    if (strcmp(text, "f32") == 0)
        *type = ZMPI_F32;
    else if (strcmp(text, "f64") == 0)
        *type = ZMPI_F64;
    else
        return false;
    return true;
}

const char *tool_type_name(enum zmpi_type type)
{
    static const char *const name[] = {"?", "f32", "f64", "i32", "i64", "bytes"};
    return name[type];
}

void tool_json_string(const char *text)
{
    zmpi_text_json(stdout, text);
}

void tool_json_number(double value)
{
    if (isfinite(value))
        printf("%.17g", value);
    else
        printf("null");
}
