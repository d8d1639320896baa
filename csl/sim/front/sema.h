/*
 * sema.h - the compiler: one walk over the tree that computes what is known when compiling, and
 * emits byte code for the rest.
 *
 * In comptime mode (layout blocks, comptime blocks, initializers of globals) it executes
 * statements; otherwise it emits them. It compiles globals and functions when they are first used.
 */
#ifndef CSL_SEMA_H
#define CSL_SEMA_H

#include "dsd.h"
#include "types.h"

/* Limits of one csl_load: steps of comptime evaluation, and nesting of calls. */
#define COMPTIME_STEPS   20000000u
#define CALL_DEPTH       64u
#define STRUCT_DEPTH_MAX 32u

enum library {
    LIB_NONE, /* a file */
    LIB_GET_PARAMS,
    LIB_MEMCPY,
    LIB_TIME,
    LIB_MATH,
    LIB_LAYOUT,
    LIB_CONTROL,
    LIB_RANDOM,
    LIB_COLLECTIVE_PARAMS,
    LIB_COLLECTIVE,
    LIB_SIMPRINT,
    LIB_DEBUG,
    LIB_EMPTY
};

struct global {
    struct node *decl;
    struct module *module;
    enum { GLOBAL_UNSEEN, GLOBAL_BUSY, GLOBAL_READY } state;
    const struct type *type;
    struct value value;
    uint32_t address; /* 0: not in memory yet */
};

struct module {
    enum library library;
    const struct file *file;
    struct tuple *params; /* bound by the importer, or NULL */
    struct global *globals;
    size_t count;
};

struct fn {
    const struct node *decl; /* NULL: function `text` of a library */
    struct module *module;
    struct str text;
    struct str *taken; /* names whose address is taken in the body */
    size_t taken_count, taken_capacity;
    bool scanned, busy;
    const struct fn *next;
};

enum symbol_kind { SYMBOL_KNOWN, SYMBOL_REG, SYMBOL_MEM, SYMBOL_BOX };

struct symbol {
    struct symbol *next;
    struct str name;
    enum symbol_kind kind;
    bool is_const;
    const struct type *type;
    struct value value; /* SYMBOL_KNOWN, SYMBOL_BOX */
    uint16_t reg;
    uint32_t address;     /* SYMBOL_MEM; of a known array once it is in memory */
    unsigned conditional; /* SYMBOL_BOX: run-time control flow around the declaration */
};

struct scope {
    struct scope *up;
    struct symbol *symbols;
};

struct operand {
    struct value v; /* of type v.type; the value if known */
    bool known;
    uint16_t reg; /* else */
};

enum place_kind { PLACE_BOX, PLACE_ELEMENT, PLACE_REG, PLACE_MEM };

/* What may stand left of an assignment, or behind &. */
struct place {
    enum place_kind kind;
    const struct type *type;
    bool is_const;
    struct value *box;    /* PLACE_BOX; the array of PLACE_ELEMENT */
    uint32_t index;       /* PLACE_ELEMENT */
    uint32_t *home;       /* where the address of a box in memory is kept, or NULL */
    unsigned conditional; /* of the box */
    uint16_t reg;         /* PLACE_REG; PLACE_MEM: base address, unless fixed */
    bool fixed;
    uint32_t offset; /* PLACE_MEM: from the base, or the address */
};

struct patches {
    uint32_t *at;
    size_t count, capacity;
};

/* A loop or block that can be left. */
struct target {
    struct target *up;
    struct str label;
    bool loop, comptime;
    struct patches breaks, continues;
    unsigned conditional; /* run-time control flow around it */
    const struct type *want;
    uint16_t reg; /* of the value */
    bool has_value;
    struct operand value;
};

/* The function whose body is being walked. */
struct call {
    struct call *up;
    const struct fn *fn;
    const struct type *result;
    bool comptime, inlined, has_value;
    unsigned conditional; /* run-time control flow around an inlined call */
    struct operand value; /* of comptime and inlined calls */
    struct patches returns;
};

/* Does control reach what follows? */
enum flow { FLOW_NEXT, FLOW_JUMP, FLOW_RETURN };

enum where { WHERE_LAYOUT, WHERE_TOP, WHERE_INIT, WHERE_CODE };

/* A function compiled for given comptime arguments. */
struct instance {
    const struct fn *fn;
    struct value *args; /* types of comptime parameters; others have none */
    size_t arg_count;
    uint16_t func;
    bool busy;
    const struct type *result;
    struct instance *next;
};

struct tile {
    const struct file *file;
    struct tuple *params;
    struct program *program;
    struct route routes[COLORS];
};

struct export_name {
    struct export_name *next;
    const struct node *node;
    struct str name;
    const struct type *type;
    bool is_mutable, used; /* by an @export_symbol of a PE */
};

struct loaded_file {
    struct loaded_file *next;
    const char *path;
    struct file *file;
};

/* From STREAM_D2H on: the number of the color among those to the host. */
enum stream_kind { STREAM_NONE, STREAM_H2D, STREAM_D2H };

struct compiled {
    struct compiled *next;
    const struct file *file;
    struct tuple *params;
    struct program *program;
};

struct loader {
    struct arena *arena;
    const struct csl_options *options;
    enum csl_arch arch;
    struct types types;
    struct loaded_file *files;
    struct compiled *programs;
    struct export_name *exports;
    uint32_t width, height;
    struct tile *tiles;
    const struct node *memcpy; /* the import of <memcpy/get_params>, or NULL */
    uint32_t memcpy_width, memcpy_height;
    uint64_t steps;
    uint8_t stream[COLORS]; /* colors that memcpy has: enum stream_kind */
};

enum deferred_kind { DEFER_LOCAL, DEFER_DATA, DEFER_CONTROL, DEFER_EXPORT };

struct deferred {
    struct deferred *next;
    const struct node *node;
    const struct fn *fn;
    enum deferred_kind kind;
    size_t index, params;
};

struct sema {
    struct loader *l;
    struct arena *arena;
    struct program *program; /* NULL while the layout runs */
    struct module *module;
    struct scope *scope;
    struct func *func;
    size_t barrier; /* a jump may lead here, so earlier instructions must not change */
    uint16_t next_reg;
    enum where where;
    bool comptime;
    bool in_place; /* comptime for one value only, inside code that runs later */
    unsigned conditional, depth;
    struct target *targets, *jump; /* jump: where a comptime break or continue goes */
    bool jump_continue;
    struct call *call;
    struct instance *instances;
    const struct fn *fns;
    const struct fn *local_fn[LOCAL_TASKS]; /* tasks by the id they are bound to */
    struct deferred *deferred;
    uint32_t color_blocked;       /* WSE-2: data tasks blocked at the start, by color */
    uint32_t color_open;          /* WSE-2: colors that take control wavelets without a data task */
    uint8_t queue_open;           /* input queues: open for control wavelets */
    uint8_t queue_ready;          /* and those of @initialize_queue */
    const struct node *open_node; /* the last @unblock of a comptime block */
    const struct node *activated[LOCAL_TASKS]; /* @activate in a comptime block */
};

#define FAIL(s, node, ...) csl_fail_at((s)->arena, (node)->pos, __VA_ARGS__)
#define TYPE(s, t)         csl_type_name((s)->arena, t)

/* load.c */
void csl_load_layout(struct loader *l, const char *path);
struct file *csl_load_file(struct loader *l, const char *path, struct pos pos);
const char *csl_path_beside(struct arena *arena, const struct source *source, struct str name);
struct value csl_import(struct sema *s, const struct node *n);
struct global *csl_find_global(struct module *m, struct str name);
void csl_resolve_global(struct sema *s, struct global *g, struct pos pos);

/* emit.c */
struct insn *csl_emit(struct sema *s, const struct node *n, enum op op, enum csl_cost cost);
uint16_t csl_new_reg(struct sema *s, const struct node *n);
uint16_t csl_in_reg(struct sema *s, const struct node *n, const struct operand *o);
/* Puts o into register `to`, which no other value may still need. */
void csl_into(struct sema *s, const struct node *n, const struct operand *o, uint16_t to);
/* Emits a jump (with a condition: a register), whose target csl_patch_here sets to the next
 * instruction. */
void csl_jump(struct sema *s, const struct node *n, enum op op, uint16_t reg, struct patches *p);
void csl_jump_to(struct sema *s, const struct node *n, size_t where);
void csl_patch_here(struct sema *s, struct patches *p);
size_t csl_label(struct sema *s);
uint32_t csl_allocate(struct sema *s, const struct node *n, const struct type *t,
                      const struct value *initial, struct str name, uint32_t align);
unsigned csl_object_at(const struct program *p, uint32_t address);
struct operand csl_known(struct value v);
struct operand csl_in(const struct type *t, uint16_t reg);

/* place.c */
struct place csl_place(struct sema *s, const struct node *n);
struct operand csl_load_place(struct sema *s, const struct node *n, const struct place *p);
void csl_store_place(struct sema *s, const struct node *n, const struct place *p,
                     const struct operand *o);
struct operand csl_address(struct sema *s, const struct node *n, struct place *p);
void csl_keep_global(struct sema *s, struct global *g);
void csl_to_memory(struct sema *s, const struct node *n, struct place *p);
struct symbol *csl_declare(struct sema *s, const struct node *n, struct str name,
                           enum symbol_kind kind, const struct type *type, bool is_const);

/* expr.c */
struct operand csl_expr(struct sema *s, const struct node *n, const struct type *want);
struct operand csl_expr_as(struct sema *s, const struct node *n, const struct type *type);
struct value csl_known_expr(struct sema *s, const struct node *n, const struct type *want);
struct operand csl_coerce(struct sema *s, const struct node *n, struct operand o,
                          const struct type *type);
const struct type *csl_type_expr(struct sema *s, const struct node *n);
int64_t csl_int_expr(struct sema *s, const struct node *n, int64_t least, int64_t most,
                     const char *what);
struct operand csl_condition(struct sema *s, const struct node *n);
struct value csl_tuple_value(struct sema *s, const struct node *n, size_t count, struct str *names,
                             struct value *values);
bool csl_comptime_only(const struct type *t);
void csl_step(struct sema *s, const struct node *n);

/* ops.c */
struct operand csl_unary(struct sema *s, const struct node *n, const struct type *want);
struct operand csl_binary(struct sema *s, const struct node *n, enum token_kind op,
                          struct operand a, struct operand b);
struct operand csl_convert(struct sema *s, const struct node *n, struct operand o,
                           const struct type *to); /* @as */

/* stmt.c */
enum flow csl_statement(struct sema *s, const struct node *n);
enum flow csl_block(struct sema *s, const struct node *n);
struct operand csl_block_value(struct sema *s, const struct node *n, const struct type *want);
struct operand csl_if_value(struct sema *s, const struct node *n, const struct type *want);
struct operand csl_switch_value(struct sema *s, const struct node *n, const struct type *want);
/* loop.c */
enum flow csl_loop(struct sema *s, const struct node *n);
struct operand csl_range_value(struct sema *s, const struct node *n); /* @range */
void csl_push(struct sema *s, struct scope *scope);
void csl_pop(struct sema *s, struct scope *scope);
struct target *csl_enter_target(struct sema *s, struct target *t, const struct node *n, bool loop);
/* The place behind a block or loop, to which breaks lead. */
enum flow csl_leave_target(struct sema *s, struct target *t, enum flow flow);

/* call.c */
struct operand csl_call(struct sema *s, const struct node *n);
struct operand csl_call_fn(struct sema *s, const struct node *n, const struct fn *fn,
                           struct operand *args, size_t count);
uint16_t csl_instance(struct sema *s, const struct node *n, const struct fn *fn,
                      const struct value *args, size_t count, const struct type **result);
const struct type *csl_signature(struct sema *s, const struct fn *fn);
const struct fn *csl_fn_of(struct sema *s, struct module *m, const struct node *decl,
                           struct str text);

/* library.c */
struct operand csl_library_call(struct sema *s, const struct node *n, const struct fn *fn,
                                struct operand *args, size_t count);
struct value csl_library_member(struct sema *s, const struct node *n, struct module *m,
                                struct str name);
enum library csl_library(struct str name);
/* What a function of <math> takes by its name. */
const struct type *csl_library_type(struct str name);

/* control.c: control wavelets */
struct operand csl_control_call(struct sema *s, const struct node *n, struct str name,
                                struct operand *args, size_t count);
bool csl_control_builtin(struct sema *s, const struct node *n, struct operand *result);
struct value csl_opcode_value(struct sema *s, const struct node *n, struct str name);
/* dsr.c */
bool csl_dsr_builtin(struct sema *s, const struct node *n, struct operand *result);
int32_t csl_dsr_number(const struct operand *o); /* over all files */

/* print.c */
bool csl_is_print(const struct module *m, struct str name);
void csl_check_print(struct sema *s, const struct node *n, enum library library,
                     const struct tuple *params);
struct operand csl_print_call(struct sema *s, const struct node *n, const struct fn *fn,
                              struct operand *args, size_t count);

/* collectives.c */
struct operand csl_collective_params(struct sema *s, const struct node *n, struct operand *args);
void csl_check_collective(struct sema *s, const struct node *n, const struct tuple *params);
struct value csl_collective_place(const struct module *m);
struct operand csl_collective_call(struct sema *s, const struct node *n, const struct module *m,
                                   struct str name, struct operand *args, size_t count);

/* stream_params.c: colors that the host streams by */
struct value csl_stream_params(struct sema *s, const struct node *n, const struct module *m);
bool csl_is_stream(struct str name);
void csl_memcpy_params(struct sema *s, const struct node *n, const struct tuple *params);

/* builtin.c, builtin_layout.c, builtin_wafer.c, builtin_dsd.c, builtin_op.c */
struct operand csl_builtin(struct sema *s, const struct node *n);
bool csl_layout_builtin(struct sema *s, const struct node *n, struct operand *result);
void csl_only(struct sema *s, const struct node *n, enum where where, const char *place);
void csl_not_reserved(struct sema *s, const struct node *n, const struct type *t, int64_t id);
/* Arguments `at` and `at` + 1: a color and its configuration. */
void csl_set_route(struct sema *s, const struct node *n, size_t at, struct route *routes);
bool csl_wafer_builtin(struct sema *s, const struct node *n, struct operand *result);
bool csl_dsd_builtin(struct sema *s, const struct node *n, struct operand *result);
bool csl_dsd_operation(struct sema *s, const struct node *n);
void csl_emit_dsd(struct sema *s, const struct node *n, const struct dsd_site *site);
/* Checks a known DSD; others are checked at run time. */
void csl_not_const(struct sema *s, const struct node *n, const struct operand *o);
struct operand csl_map(struct sema *s, const struct node *n); /* map.c */
struct value csl_tensor(struct sema *s, const struct node *n);
void csl_arguments(struct sema *s, const struct node *n, size_t least, size_t most);
/* Fields of a struct expression, whose values may be known at run time only. */
struct field {
    struct str name;
    const struct node *node;
    struct operand value;
};
size_t csl_fields(struct sema *s, const struct node *n, struct field *fields, size_t most);
void csl_compile_deferred(struct sema *s);
void csl_defer(struct sema *s, const struct node *n, const struct fn *fn, enum deferred_kind kind,
               size_t index, size_t params);
const struct fn *csl_task_of(struct sema *s, const struct node *n);
/* A known handle made from an integer; at run time, from a u16. */
struct operand csl_make_handle(struct sema *s, const struct node *n, const struct type *t,
                               int64_t least, int64_t most);
/* A local task: its id, or the name of a task that is bound to an id. */
uint16_t csl_local_task_of(struct sema *s, const struct node *n, const struct operand *o);

#endif
