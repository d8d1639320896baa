/*
 * csl.c - fuzz target: any text compiles and runs as CSL, or is refused with a message.
 *
 * The first byte of the input chooses: bit 0: the rest is the layout file, else a PE's program; bit
 * 1: WSE-3; bit 2: the program exports A; bit 3: tasks by turns.
 */
#include <stdlib.h>
#include <string.h>

#include "csl_sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The layout of programs, but for its end. */
#define LAYOUT                                                                                     \
    "const memcpy = @import_module(\"<memcpy/get_params>\", .{ .width = 2, .height = 1, "          \
    ".MEMCPYH2D_1 = @get_color(4), .MEMCPYD2H_1 = @get_color(5) });\n"                             \
    "layout {\n"                                                                                   \
    "  @set_rectangle(2, 1);\n"                                                                    \
    "  for (@range(i16, 2)) |x| {\n"                                                               \
    "    @set_tile_code(x, 0, \"pe.csl\", .{ .memcpy_params = memcpy.get_params(x) });\n"          \
    "    @set_color_config(x, 0, @get_color(0), .{ .routes = .{ .rx = .{ if (x == 0) RAMP else "   \
    "WEST },"                                                                                      \
    " .tx = .{ if (x == 0) EAST else RAMP } } });\n"                                               \
    "  }\n"                                                                                        \
    "  @export_name(\"run\", fn()void);\n"
static const char layout[] = LAYOUT "}\n";
static const char layout_with_a[] = LAYOUT "  @export_name(\"A\", [*]f32, true);\n}\n";
static const char program[] =
    "param memcpy_params;\n"
    "const sys_mod = @import_module(\"<memcpy/memcpy>\", memcpy_params);\n"
    "fn run() void { sys_mod.unblock_cmd_stream(); }\n"
    "comptime { @export_symbol(run); }\n";

struct input {
    const char *text;
    size_t size;
    bool is_layout, exports_a;
};

static const char *read_input(void *context, const char *path, size_t *size)
{
    const struct input *in = context;
    bool wants_layout = strcmp(path, "layout.csl") == 0;
    if (!wants_layout && strcmp(path, "pe.csl") != 0)
        return NULL;
    const char *fixed = !wants_layout ? program : in->exports_a ? layout_with_a : layout;
    *size = wants_layout == in->is_layout ? in->size : strlen(fixed);
    return wants_layout == in->is_layout ? in->text : fixed;
}

static void run(struct csl_sim *sim)
{
    float values[4] = {1, 2, 3, 4};
    int id = csl_get_id(sim, "A");
    if (id >= 0 && csl_memcpy_h2d(sim, id, values, 0, 0, 1, 1, 4, CSL_32BIT) != CSL_OK &&
        csl_error(sim)[0] == '\0')
        abort();
    enum csl_status status = csl_launch(sim, "run", NULL, 0);
    if (status == CSL_OK || status == CSL_ERR_ARGUMENT)
        status = csl_stream_h2d(sim, 4, values, 0, 0, 2, 1, 2);
    if (status == CSL_OK)
        status = csl_stream_d2h(sim, values, 5, 0, 0, 1, 1, 4);
    if (status == CSL_ERR_ARGUMENT)
        status = CSL_OK;
    if (status == CSL_OK)
        status = csl_drain(sim);
    if (status != CSL_OK && csl_error(sim)[0] == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 20000)
        return 0;
    /* A copy of its own, so that reading beyond the end is seen. */
    char *text = malloc(size);
    if (text == NULL)
        return 0;
    memcpy(text, data + 1, size - 1);
    struct input in = {text, size - 1, (data[0] & 1) != 0, (data[0] & 4) != 0};
    struct csl_options options = {.arch = data[0] & 2 ? CSL_WSE3 : CSL_WSE2,
                                  .order = data[0] & 8 ? CSL_ORDER_TURNS : CSL_ORDER_RANDOM,
                                  .max_cycles = 20000,
                                  .max_memory = (size_t)64 << 20,
                                  .max_steps = 50000,
                                  .read = read_input,
                                  .read_context = &in};
    struct csl_sim *sim;
    if (csl_load(&sim, "layout.csl", &options) == CSL_OK)
        run(sim);
    else if (sim != NULL && csl_error(sim)[0] == '\0')
        abort();
    csl_stop(sim);
    free(text);
    return 0;
}
