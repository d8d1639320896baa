/* sim.h - the wafer while it runs: PEs, their queues and threads, routers. */
#ifndef CSL_SIM_PRIVATE_H
#define CSL_SIM_PRIVATE_H

#include "code.h"
#include "dsd.h"
#include "sema.h"

#define QUEUE_MAX 8
#define NEVER     UINT64_MAX
#define FRAMES    72u /* more than CALL_DEPTH */

struct wavelet {
    uint64_t ready; /* the cycle from which on it can move */
    uint32_t value;
    uint8_t color;
    bool control;
};

struct queue {
    struct wavelet items[QUEUE_MAX];
    uint8_t head, count, depth;
};

/* A DSD operation under way. */
struct thread {
    bool busy;
    const struct dsd_site *site;
    struct dsd to, from[3];
    int64_t scalar[3];
    uint32_t address; /* of OPERAND_POINTER */
    uint32_t at, count;
    uint32_t carry;
    uint32_t index; /* of outgoing wavelets, in their upper half */
};

struct frame {
    const struct func *func;
    uint32_t pc, base;
    uint16_t result; /* register of the caller, or NO_ID */
};

enum main_state {
    MAIN_IDLE,
    MAIN_RUN,   /* goes on at wake */
    MAIN_FABRIC /* in a synchronous DSD operation */
};

struct router_color {
    struct route route;
    uint8_t head, count;
    uint8_t last_from;
    uint64_t last_cycle;
    struct wavelet items[ROUTER_DEPTH];
};

/* A call of <collectives_2d> on an axis. */
struct collective {
    bool ready; /* init() */
    enum collective_op op;
    uint16_t root, count, callback;
    uint32_t send, recv;
    uint64_t called, done; /* cycles; 0: not called; NEVER: some PEs have not called yet */
    struct pos pos;        /* of the call */
};

struct pe {
    struct csl_sim *sim;
    const struct program *program;
    uint32_t x, y;
    uint8_t *memory;
    int64_t *regs;
    uint32_t reg_count;
    /* tasks */
    uint32_t active, blocked;
    uint8_t queue_blocked, last_task;
    uint8_t lost_task; /* the last task that was activated again before it ran, if lost_pos has a
                        * source */
    struct pos lost_pos;
    bool cmd_busy, call_pending;
    const struct export *call;
    uint32_t args[15];
    uint64_t call_cycle;
    /* the processor */
    enum main_state state;
    uint64_t wake; /* of MAIN_RUN */
    const char *task_name;
    struct frame frames[FRAMES];
    unsigned depth;
    struct {
        uint16_t head, count;
    } fifo[FIFOS_MAX];
    struct {
        uint64_t dsd;
        bool moves;
    } dsr[3 * DSRS];
    struct thread main, threads[QUEUES];
    unsigned busy_threads, next_thread;
    unsigned users;        /* users of memory beside tasks: busy threads, collectives */
    uint64_t thread_cycle; /* the cycle in which a thread moved last */
    uint64_t wait_since;
    /* the fabric */
    struct queue in[QUEUES], out[QUEUES];
    unsigned out_count;
    int8_t queue_of[COLORS]; /* the input queue of a color, or -1 */
    struct router_color *router;
    struct queue sink[STREAMS]; /* on the way to the host, by the number of the color */
    uint32_t streamed;          /* elements of the host's copy that have passed */
    unsigned routed;            /* wavelets in the router */
    uint32_t colors;            /* a bit for each color that has any */
    uint8_t next_color, next_queue;
    uint64_t link_cycle[DIR_COUNT];
    char line[200]; /* of <simprint> */
    uint16_t line_used;
    struct collective collective[2];
    /* the rest */
    struct csl_counters counters;
    uint64_t timer_start;
    bool timer_on;
    uint32_t random;
};

/* A copy between the host and a color, under way. */
struct stream {
    bool to_device;
    uint8_t color;
    uint32_t x, y, w, h, elements;
    uint32_t *host;
    uint64_t left; /* elements, of all PEs */
};

struct csl_sim {
    struct arena arena; /* first: the handle of csl_error */
    struct csl_options options;
    struct loader loader;
    struct pe *pes;
    uint32_t width, height;
    uint64_t *due; /* for each PE the cycle before which it does nothing unless a wavelet comes */
    uint64_t now, call_start, call_cycles, last_unblock, random;
    bool loaded;
    uint32_t cmd_busy; /* PEs whose command stream is blocked */
    struct stream stream;
    const struct export_name **ids;
    size_t id_count;
    void (*trace)(void *context, const struct csl_trace *event);
    void *trace_context;
};

/* pe.c */
_Noreturn void csl_trap(struct pe *pe, struct pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void csl_emit_event(struct pe *pe, enum csl_event event, const char *name, uint32_t color,
                    uint32_t value, uint32_t direction);
uint64_t csl_random(struct csl_sim *sim);
struct pos csl_main_pos(const struct pe *pe);
void csl_set_blocked(struct pe *pe, enum id_kind kind, uint32_t id, bool block, struct pos pos);
void csl_activate_task(struct pe *pe, uint32_t id, struct pos pos);

/* alu.c */
int64_t csl_alu(struct pe *pe, const struct insn *i, int64_t a, int64_t b);
int64_t csl_alu_convert(struct pe *pe, const struct insn *i, int64_t v);
int64_t csl_alu_math(const struct insn *i, int64_t a, int64_t b);
/* A random number from lower on, less than upper, by 16 random bits. */
int64_t csl_alu_between(const struct insn *i, int64_t lower, int64_t upper, uint16_t bits);

/* vm.c: runs until the task ends, waits, or reaches a time that the fabric has not reached */
void csl_run_main(struct pe *pe);
void csl_call_func(struct pe *pe, uint16_t func, const char *name);

/* tasks.c */
bool csl_pick_task(struct pe *pe);

/* dsd_math.c */
const char *csl_dsd_name(enum csl_dsd_op op);
unsigned csl_dsd_bytes(enum csl_dsd_op op);                     /* of an element */
unsigned csl_dsd_width(enum csl_dsd_op op, enum csl_arch arch); /* elements a cycle */
/* Of the sources' bits; carry is the operation's. */
uint32_t csl_dsd_compute(enum csl_dsd_op op, const uint32_t *v, uint32_t *carry);

/* thread.c */
/* false: the task is ahead of the wafer's clock, and the operation begins at start */
bool csl_start_dsd(struct pe *pe, const struct dsd_site *site, const int64_t *regs, uint64_t start);
bool csl_step_threads(struct pe *pe);
void csl_check_writable(struct pe *pe, struct pos pos, unsigned object); /* not const */
int64_t csl_dsd_element(struct pe *pe, struct pos pos, const struct dsd *d, uint32_t i,
                        enum type_code tc);
void csl_dsd_put(struct pe *pe, struct pos pos, const struct dsd *d, uint32_t i, enum type_code tc,
                 int64_t value);

/* race.c: traps if an unfinished operation uses the memory; t is the operation about to begin */
void csl_check_race(struct pe *pe, struct pos pos, uint32_t address, uint32_t bytes, bool write);
void csl_check_thread_race(struct pe *pe, const struct thread *t);

/* fabric.c */
bool csl_queue_push(struct queue *q, const struct wavelet *w);
void csl_queue_pop(struct queue *q);
bool csl_step_router(struct pe *pe);

/* switch.c: what control wavelets and filters do at a router */
uint8_t csl_ways_out(const struct route *r, const struct wavelet *w);
void csl_pass(struct pe *pe, struct route *r, struct wavelet *w); /* w has left by r */

/* print_run.c */
void csl_print(struct pe *pe, const struct insn *i, const int64_t *r);

/* collective_run.c */
void csl_collective(struct pe *pe, const struct insn *i, const int64_t *r);
bool csl_step_collectives(struct pe *pe);

/* collective_memory.c: up to two spans that the call on this axis uses in its PE; returns how many
 */
struct span {
    uint32_t address, bytes;
    bool write;
};
unsigned csl_collective_spans(const struct pe *pe, unsigned axis, struct span span[2]);
uint32_t csl_line_size(const struct pe *pe, unsigned axis);
const char *csl_collective_name(enum collective_op op);
/* Is the call on this axis unfinished, and does it have a byte of [low, high) that must not be
 * read, or written? */
bool csl_collective_uses(const struct pe *pe, unsigned axis, int64_t low, int64_t high, bool write);

/* stream.c */
bool csl_step_stream(struct pe *pe);
bool csl_stream_waits(const struct pe *pe);

/* run.c */
void csl_run(struct csl_sim *sim, bool drain);

#endif
