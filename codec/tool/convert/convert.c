/* convert.c - zmpi convert: writes the numbers of a container or raw field to a file that describes
 * itself: NumPy's .npy, VTK's image data (.vti), HDF5 (.h5). */
#include <dlfcn.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tool/tool.h"
#include "tool/convert/convert.h"
#include "tool/program/preload.h"

#define STEP ((size_t)16 << 20)
struct convert {
    enum zmpi_type type;
    size_t shape[3]; /* 0: unknown */
    uint64_t bytes;  /* bytes of all numbers */
    bool big_endian; /* the file's byte order; false: this machine's */
    struct tool_bound bound;
    struct tool_input in;
    struct tool_output out;
};

static bool ends_with(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

enum kind { NONE, NPY, VTI, HDF5 };

static enum kind kind_of(const char *path)
{
    return ends_with(path, ".npy")                              ? NPY
           : ends_with(path, ".vti")                            ? VTI
           : ends_with(path, ".h5") || ends_with(path, ".hdf5") ? HDF5
                                                                : NONE;
}

static int parse(struct convert *c, int argc, char **argv)
{
    static const struct option longs[] = {
        {"type", 1, NULL, 't'}, {"dims", 1, NULL, 'd'}, {NULL, 0, NULL, 0}};
    int o;
    while ((o = getopt_long(argc, argv, "t:d:", longs, NULL)) != -1) {
        if (o == '?')
            return tool_usage();
        if (o == 't' && !tool_parse_type(optarg, &c->type))
            return tool_fail("-t %s: f32 or f64", optarg);
        if (o == 'd' && !zmpi_shape_parse(optarg, c->shape))
            return tool_fail("-d %s: extents as NZxNYxNX, each at least 1", optarg);
    }
    if (argc - optind != 2)
        return tool_usage();
    if (kind_of(argv[optind + 1]) == NONE)
        return tool_fail("%s: a name that ends with .npy, .vti or .h5 (zmpi decompress writes raw "
                         "numbers)",
                         argv[optind + 1]);
    return TOOL_OK;
}

/* If type and shape were not given, takes them from the name, then from the container's records. */
static int find_array(struct convert *c)
{
    struct zmpi_array all = {0};
    size_t bytes;
    tool_field_name(c->in.path, &c->type, c->shape);
    enum tool_order order;
    const enum zmpi_type held = tool_container_type(&c->in, &order, &c->bound);
    if (order == TOOL_ORDER_MIXED)
        return tool_fail("%s: some numbers are big-endian, others not", c->in.path);
    c->big_endian = order == TOOL_ORDER_BIG || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    c->type = c->type ? c->type : held;
    if (!c->type)
        return tool_fail("%s: no type: give -t f32 or f64", c->in.path);
    const size_t width = zmpi_type_size(c->type);
    c->bytes = c->in.size;
    if (c->bytes == 0 || c->bytes % width)
        return tool_fail("%s: %llu bytes are no %s numbers", c->in.path,
                         (unsigned long long)c->bytes, tool_type_name(c->type));
    if (!c->shape[2] && !tool_container_shape(&c->in, c->shape)) {
        c->shape[0] = c->shape[1] = 1;
        c->shape[2] = (size_t)(c->bytes / width);
    }
    all = (struct zmpi_array){c->type, {c->shape[0], c->shape[1], c->shape[2]}};
    if (zmpi_array_bytes(&all, &bytes) || bytes != c->bytes)
        return tool_fail("%s: has %llu bytes, %zux%zux%zu %s numbers have others: -d", c->in.path,
                         (unsigned long long)c->bytes, c->shape[0], c->shape[1], c->shape[2],
                         tool_type_name(c->type));
    return TOOL_OK;
}

/* The head is padded, so that numbers begin at a multiple of 64. */
static int npy_head(struct convert *c)
{
    char head[192];
    const size_t *n = c->shape;
    int size = snprintf(head + 10, sizeof head - 10,
                        "{'descr': '%cf%zu', 'fortran_order': False, 'shape': (",
                        c->big_endian ? '>' : '<', zmpi_type_size(c->type));
    if (n[0] > 1)
        size += snprintf(head + 10 + size, sizeof head - 10 - (size_t)size, "%zu, ", n[0]);
    if (n[0] > 1 || n[1] > 1)
        size += snprintf(head + 10 + size, sizeof head - 10 - (size_t)size, "%zu, ", n[1]);
    size += snprintf(head + 10 + size, sizeof head - 10 - (size_t)size, "%zu,), }", n[2]);
    const size_t all = (10 + (size_t)size + 1 + 63) / 64 * 64;
    memset(head + 10 + size, ' ', all - 10 - (size_t)size);
    head[all - 1] = '\n';
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)((all - 10) & 0xFF);
    head[9] = (char)((all - 10) >> 8);
    return tool_output_write(&c->out, head, all);
}

static int vti_head(struct convert *c)
{
    char text[640];
    const size_t *n = c->shape;
    const int size = snprintf(
        text, sizeof text,
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%sEndian\" "
        "header_type=\"UInt64\">\n"
        "<ImageData WholeExtent=\"0 %zu 0 %zu 0 %zu\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n"
        "<Piece Extent=\"0 %zu 0 %zu 0 %zu\">\n"
        "<PointData Scalars=\"values\">\n"
        "<DataArray type=\"Float%zu\" Name=\"values\" format=\"appended\" offset=\"0\"/>\n"
        "</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_",
        c->big_endian ? "Big" : "Little", n[2] - 1, n[1] - 1, n[0] - 1, n[2] - 1, n[1] - 1,
        n[0] - 1, 8 * zmpi_type_size(c->type));
    const int status = tool_output_write(&c->out, text, (size_t)size);
    unsigned char bytes[8]; /* in the byte order of the numbers */
    zmpi_store64(bytes, c->bytes);
    for (int i = 0; i < 4 && c->big_endian; i++) {
        const unsigned char one = bytes[i];
        bytes[i] = bytes[7 - i];
        bytes[7 - i] = one;
    }
    return status ? status : tool_output_write(&c->out, bytes, sizeof bytes);
}

static int write_numbers(struct convert *c)
{
    if (c->in.is_container)
        return tool_copy(&c->in, &c->out, 0, c->bytes, NULL, NULL);
    unsigned char *buffer = malloc(STEP);
    int status = buffer ? TOOL_OK : tool_fail("out of memory");
    for (uint64_t at = 0; at < c->bytes && !status;) {
        const size_t n = c->bytes - at < STEP ? (size_t)(c->bytes - at) : STEP;
        status = tool_input_read(&c->in, at, buffer, n);
        if (!status)
            status = tool_output_write(&c->out, buffer, n);
        at += n;
    }
    free(buffer);
    return status;
}

static int write_numbers_behind(struct convert *c, int (*head)(struct convert *c))
{
    const int status = head(c);
    return status ? status : write_numbers(c);
}

/* ---- HDF5 ---- */

static convert_hdf5_call *find_hdf5(void)
{
    char path[PATH_MAX];
    convert_hdf5_call *call = NULL;
    if (!tool_library_find(CONVERT_HDF5_LIBRARY, path)) {
        tool_fail("HDF5: zmpi was built without its library (libhdf5-dev), or is installed without "
                  "the package zmpi-hdf5");
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library ? dlsym(library, CONVERT_HDF5_CALL) : NULL;
    memcpy(&call, &symbol, sizeof call);
    if (!call)
        tool_fail("HDF5: %s", dlerror());
    return call;
}

/* HDF5 has allocated the numbers' space in the file. What is not written stays a hole. */
static int write_numbers_at(struct convert *c, uint64_t offset)
{
    unsigned char *buffer = malloc(STEP);
    int status = buffer ? TOOL_OK : tool_fail("out of memory");
    for (uint64_t at = 0, next; at < c->bytes && !status;) {
        if (c->in.is_container &&
            !zmpi_container_next(&c->in.container, &c->in.reader, at, c->bytes, &next) &&
            next > at) {
            at = next;
            continue;
        }
        const size_t n = c->bytes - at < STEP ? (size_t)(c->bytes - at) : STEP;
        status = tool_input_read(&c->in, at, buffer, n);
        if (!status)
            status = tool_output_write_at(&c->out, buffer, n, offset + at);
        at += n;
    }
    free(buffer);
    return status;
}

static int write_hdf5(struct convert *c)
{
    struct convert_dataset d = {.width = zmpi_type_size(c->type),
                                .big_endian = c->big_endian,
                                .bound = *c->bound.text ? c->bound.text : NULL,
                                .most = c->bound.most,
                                .source = c->in.path};
    uint64_t offset;
    for (int i = 0; i < 3; i++)
        if (d.rank || i == 2 || c->shape[i] > 1)
            d.shape[d.rank++] = c->shape[i];
    if (!c->out.temporary)
        return tool_fail("%s: HDF5 only writes to regular files", c->out.path);
    convert_hdf5_call *const create = find_hdf5();
    const char *why = create ? create(c->out.temporary, &d, &offset) : NULL;
    if (why)
        return tool_fail("%s: %s", c->out.path, why);
    return create ? write_numbers_at(c, offset) : TOOL_ERROR;
}

static int write_file(struct convert *c, const char *path)
{
    static const char end[] = "\n</AppendedData>\n</VTKFile>\n";
    const enum kind kind = kind_of(path);
    int status = tool_output_open(&c->out, path, &c->in);
    if (status)
        return status;
    status =
        kind == HDF5 ? write_hdf5(c) : write_numbers_behind(c, kind == NPY ? npy_head : vti_head);
    if (!status && kind == VTI)
        status = tool_output_write(&c->out, end, sizeof end - 1);
    const int closed = tool_output_close(&c->out, status == TOOL_OK);
    return status ? status : closed;
}

int tool_convert(int argc, char **argv)
{
    struct convert c = {0};
    int status = parse(&c, argc, argv);
    if (!status)
        status = tool_input_open(&c.in, argv[optind]);
    if (status)
        return status;
    if (c.in.is_container && !tool_input_offload(&c.in))
        status = TOOL_ERROR;
    if (!status)
        status = find_array(&c);
    if (!status)
        status = write_file(&c, argv[optind + 1]);
    if (!status)
        printf("%s: %zux%zux%zu %s\n", argv[optind + 1], c.shape[0], c.shape[1], c.shape[2],
               tool_type_name(c.type));
    if (!status && c.in.is_container && !zmpi_container_whole(&c.in.container))
        status = TOOL_DIFFERENT;
    tool_input_close(&c.in);
    return status;
}
