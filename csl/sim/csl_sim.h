/*
 * csl_sim.h - runs CSL programs on a simulated wafer.
 *
 *     struct csl_param params[] = {{"N", CSL_PARAM_INT, 32, 0}};
 *     struct csl_options options = {
 *         .arch = CSL_WSE2, .seed = 1, .params = params, .param_count = 1};
 *     struct csl_sim *s;
 *     if (csl_load(&s, "layout.csl", &options) != CSL_OK)
 *         ... csl_error(s) ...
 *     int a = csl_get_id(s, "A");
 *     csl_memcpy_h2d(s, a, data, 0, 0, width, height, 32, CSL_32BIT);
 *     csl_launch(s, "compute", NULL, 0);
 *     csl_memcpy_d2h(s, data, a, 0, 0, width, height, 32, CSL_32BIT);
 *     csl_stop(s);
 *
 * The calls have the shape of the vendor's run time (SdkRuntime), so that host code can use either.
 * All calls block: they return when the command stream of every PE is free again. They return
 * CSL_OK, or a status whose text csl_error gives: one line, "file:line:column: what is wrong", or
 * "PE(x,y): what happened (file:line:column)". After an error of a run only csl_error, the counters
 * and csl_stop may be called; other calls return the same error again.
 *
 * One thread uses a handle at a time; different handles are independent. The simulator prints
 * nothing and never exits.
 */
#ifndef CSL_SIM_H
#define CSL_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct csl_sim;

enum csl_status {
    CSL_OK = 0,
    CSL_ERR_MEMORY,   /* the host is out of memory */
    CSL_ERR_FILE,     /* a source file cannot be read */
    CSL_ERR_SOURCE,   /* the program is not in the subset, or wrong: "file:line:column: ..." */
    CSL_ERR_ARGUMENT, /* a call's argument: unknown symbol, PEs outside of the rectangle, sizes that
                         do not fit */
    CSL_ERR_TRAP,     /* a PE did what it must not: out of bounds, failed @assert, wavelet without a
                         route ... */
    CSL_ERR_DEADLOCK, /* nothing can move and the host call is not finished */
    CSL_ERR_LIMIT     /* the call took more than csl_options.max_cycles */
};

enum csl_arch { CSL_WSE2 = 2, CSL_WSE3 = 3 };

/* Which of several ready tasks runs first. Either the seed decides, or tasks take turns (local
 * tasks by their ids, data tasks by their queues, the host's call). The documents allow any order.
 */
enum csl_order { CSL_ORDER_RANDOM, CSL_ORDER_TURNS };

enum csl_param_type { CSL_PARAM_INT, CSL_PARAM_FLOAT };

/* A parameter of the layout file (cslc --params=NAME:VALUE). */
struct csl_param {
    const char *name;
    enum csl_param_type type;
    int64_t i;
    double f;
};

/* Cycles of scalar operations (costs.h): estimates, or fitted to CereSZ's sub-stages. Other
 * operations have the same cycles in both. */
struct csl_costs;
extern const struct csl_costs csl_costs_estimated, csl_costs_fitted;

struct csl_options {
    enum csl_arch arch;             /* 0 is CSL_WSE2 */
    uint64_t seed;                  /* of CSL_ORDER_RANDOM */
    enum csl_order order;           /* of tasks */
    const struct csl_costs *costs;  /* NULL is csl_costs_estimated */
    uint64_t max_cycles;            /* per call; 0 is 10^9 */
    size_t max_memory;              /* on the host; 0 is 4 GiB */
    uint64_t max_steps;             /* of comptime evaluation; 0 is 2 * 10^7 */
    const struct csl_param *params; /* of the layout file */
    size_t param_count;
    uint32_t fabric_width;  /* cslc --fabric-dims; 0, 0: as large as needed. The program's rectangle
                               needs */
    uint32_t fabric_height; /* 7 more columns and 2 more rows than it has itself. */
    /* Gives sources by name instead of from disk: the text (not copied; size in *size), or NULL if
     * there is none. Paths are relative to the importing file's folder, as in the program. If this
     * is NULL, files are read. */
    const char *(*read)(void *context, const char *path, size_t *size);
    void *read_context;
};

/* Compiles the layout file and every PE program in it. *sim is set even after an error (for
 * csl_error), unless the status is CSL_ERR_MEMORY and *sim is NULL. */
enum csl_status csl_load(struct csl_sim **sim, const char *layout_path,
                         const struct csl_options *options);

/* Frees everything that the handle holds. NULL is allowed. */
void csl_stop(struct csl_sim *sim);

const char *csl_error(const struct csl_sim *sim);

uint32_t csl_width(const struct csl_sim *sim); /* of the rectangle: @set_rectangle */
uint32_t csl_height(const struct csl_sim *sim);

/* The number of an exported variable (@export_name), or -1. */
int csl_get_id(struct csl_sim *sim, const char *name);

/* CSL_16BIT: an element is a uint32_t on the host, of which only the low half counts, as in the
 * vendor's run time. */
enum csl_data_type { CSL_32BIT, CSL_16BIT };

/*
 * Copies to or from the array that the symbol's pointer points to, in w x h PEs beginning at (x,
 * y). The host's array is row-major, [h][w][elements], of uint32_t or float. It is an error if the
 * PE's array has fewer elements.
 */
enum csl_status csl_memcpy_h2d(struct csl_sim *sim, int id, const void *src, uint32_t x, uint32_t y,
                               uint32_t w, uint32_t h, uint32_t elements, enum csl_data_type type);
enum csl_status csl_memcpy_d2h(struct csl_sim *sim, void *dst, int id, uint32_t x, uint32_t y,
                               uint32_t w, uint32_t h, uint32_t elements, enum csl_data_type type);

/*
 * Copies to or from a color that the layout has given to memcpy (MEMCPYH2D_k, MEMCPYD2H_k of
 * <memcpy/get_params>): an element is a wavelet. Returns when all wavelets have passed; what PEs do
 * with them may go on in later calls. The host's array is as above; 16-bit data are in the low
 * half.
 */
enum csl_status csl_stream_h2d(struct csl_sim *sim, uint32_t color, const void *src, uint32_t x,
                               uint32_t y, uint32_t w, uint32_t h, uint32_t elements);
enum csl_status csl_stream_d2h(struct csl_sim *sim, void *dst, uint32_t color, uint32_t x,
                               uint32_t y, uint32_t w, uint32_t h, uint32_t elements);

/* An argument of an exported function: its bits (of a float: by memcpy), as wide as the parameter.
 */
struct csl_arg {
    uint32_t bits;
};

/* Calls an exported function in all PEs and waits until each has called unblock_cmd_stream(). */
enum csl_status csl_launch(struct csl_sim *sim, const char *function, const struct csl_arg *args,
                           size_t arg_count);

/* Runs until nothing moves any more: PEs may go on after they have freed the command stream. */
enum csl_status csl_drain(struct csl_sim *sim);

/* ---- what it cost ---- */

struct csl_counters {
    uint64_t cycles;         /* of the PE's processor, in tasks: scalar code and DSD operations */
    uint64_t dsd_cycles;     /* of these: DSD operations */
    uint64_t wait_cycles;    /* in a task, waiting for a queue: not part of cycles */
    uint64_t thread_cycles;  /* moved by microthreads, beside tasks */
    uint64_t tasks;          /* how many ran */
    uint64_t instructions;   /* of the byte code */
    uint64_t wavelets_in;    /* through the ramp to the processor */
    uint64_t wavelets_out;   /* through the ramp from the processor */
    uint64_t wavelets_hops;  /* sent on by the router to a neighbour */
    uint64_t wavelets_stall; /* cycles in which a wavelet at the router could not move */
    uint32_t data_bytes;     /* of the 48 KB */
    uint32_t code_bytes;     /* of the 48 KB, estimated */
};

/* Since csl_load or csl_reset_counters. */
enum csl_status csl_pe_counters(const struct csl_sim *sim, uint32_t x, uint32_t y,
                                struct csl_counters *counters);
/* Sums over all PEs (data_bytes and code_bytes: the largest). */
void csl_total_counters(const struct csl_sim *sim, struct csl_counters *counters);
void csl_reset_counters(struct csl_sim *sim);

uint64_t csl_call_cycles(
    const struct csl_sim *sim); /* the last csl_launch or csl_drain, to the last PE's end */

/* ---- what happened ---- */

enum csl_event {
    CSL_EVENT_TASK_START, /* name: the task's */
    CSL_EVENT_TASK_END,
    CSL_EVENT_HOP, /* a wavelet leaves a router: color, value, direction 0..4 = N S E W RAMP */
    CSL_EVENT_THREAD_START, /* an async operation: name is the builtin's */
    CSL_EVENT_THREAD_END,
    CSL_EVENT_UNBLOCK_CMD, /* the PE has freed the command stream */
    CSL_EVENT_PRINT,       /* a line of <simprint>: text */
    CSL_EVENT_RECORD       /* a value of <debug>: name is the module's key; text */
};

struct csl_trace {
    enum csl_event event;
    uint64_t cycle;
    uint32_t x, y;
    const char *name; /* NULL for hops and lines */
    const char *text;
    uint32_t color, value, direction;
};

/* trace is called for every event of later calls; NULL switches it off. */
void csl_set_trace(struct csl_sim *sim, void (*trace)(void *context, const struct csl_trace *event),
                   void *context);

/* One JSON object per line: a csl_set_trace callback whose context is a FILE *. */
void csl_trace_json(void *file, const struct csl_trace *event);

/* The counters of all PEs, one JSON object per line: what scripts/bench/csl_heat.py draws. */
void csl_write_counters(const struct csl_sim *sim, FILE *file);

#endif
