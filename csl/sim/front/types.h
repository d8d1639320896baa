/* types.h - types and values that are known when compiling. */
#ifndef CSL_TYPES_H
#define CSL_TYPES_H

#include "ast.h"
#include "code.h"

enum type_kind {
    T_VOID,
    T_BOOL,
    T_INT, /* bits, is_signed */
    T_F16,
    T_F32,
    T_COMPTIME_INT,
    T_COMPTIME_FLOAT,
    T_STRING,
    T_TYPE,
    T_STRUCT, /* any struct; structs exist only when compiling */
    T_ARRAY,  /* rank, dims, count, element */
    T_POINTER,
    T_FN, /* params, param_count, element: the result */
    T_MODULE,
    T_RANGE,
    T_DIRECTION,
    /* handles: 16 bits */
    T_COLOR,
    T_INPUT_QUEUE,
    T_OUTPUT_QUEUE,
    T_LOCAL_TASK,
    T_DATA_TASK,
    T_CONTROL_TASK,
    T_UT,
    T_OPCODE, /* of <control>; 32 bits */
    /* 64 bits */
    T_MEM1D,
    T_FABIN,
    T_FABOUT,
    /* known when compiling */
    T_FIFO,
    T_DSR_DEST,
    T_DSR_SRC0,
    T_DSR_SRC1
};

#define RANK_MAX 4

struct type {
    enum type_kind kind;
    uint8_t bits;
    bool is_signed;
    bool is_const, many; /* of a pointer */
    uint8_t rank;
    uint32_t dims[RANK_MAX], count;
    const struct type *element;
    const struct type **params;
    size_t param_count;
    const struct type *next;
};

struct fn;
struct module;
struct tuple;
struct range;

/* A value. If its type exists at run time, i holds it as a register would; f holds a float. */
struct value {
    const struct type *type;
    union {
        int64_t i;
        double f;
        struct str s;
        const struct type *t;
        struct tuple *fields;
        uint8_t *bytes; /* an array as in memory; NULL: all zero */
        const struct fn *fn;
        struct module *module;
        struct range *range;
    };
};

struct tuple {
    unsigned depth; /* of structs inside each other, from 1 */
    size_t count;
    struct str *names; /* NULL: a tuple */
    struct value *values;
};

struct types {
    struct arena *arena;
    const struct type *all; /* array, pointer and function types: each once */
};

extern const struct type csl_void, csl_bool, csl_i8, csl_i16, csl_i32, csl_i64, csl_u8, csl_u16,
    csl_u32, csl_u64, csl_f16, csl_f32, csl_comptime_int, csl_comptime_float, csl_string, csl_type,
    csl_struct, csl_module, csl_range, csl_direction, csl_color, csl_input_queue, csl_output_queue,
    csl_local_task, csl_data_task, csl_control_task, csl_ut, csl_opcode, csl_mem1d, csl_fabin,
    csl_fabout, csl_fifo, csl_dsr_dest, csl_dsr_src0, csl_dsr_src1,
    csl_any_fn; /* of functions whose signature depends on their arguments */

/* The type of that name, or NULL. */
const struct type *csl_named_type(struct str name);

const struct type *csl_array_type(struct types *t, const struct type *element, unsigned rank,
                                  const uint32_t *dims);
const struct type *csl_pointer_type(struct types *t, const struct type *element, bool many,
                                    bool is_const);
const struct type *csl_fn_type(struct types *t, const struct type **params, size_t count,
                               const struct type *result);

char *csl_type_name(struct arena *arena, const struct type *t);

bool csl_is_handle(const struct type *t);
bool csl_is_dsd(const struct type *t);
bool csl_is_dsr(const struct type *t);
bool csl_is_number(const struct type *t); /* comptime ones too */
/* A number of the run time of so many bits. */
bool csl_is_word(const struct type *t, unsigned bits);
bool csl_is_scalar(const struct type *t); /* fits in a register */
bool csl_is_integer(const struct type *t);
bool csl_is_float(const struct type *t);       /* f16, f32, comptime_float */
uint32_t csl_size(const struct type *t);       /* bytes in memory, of a scalar or array */
enum type_code csl_code(const struct type *t); /* of a scalar */

/* The value of i in type t (an integer type). */
int64_t csl_wrap(const struct type *t, int64_t i);
bool csl_fits(const struct type *t, int64_t i);
int64_t csl_wrap_code(enum type_code tc, int64_t i);

/* Converts a scalar between a value and its bytes in memory, or the bits in a register. */
struct value csl_load_value(const struct type *t, const uint8_t *from);
void csl_store_value(const struct value *v, uint8_t *to);
int64_t csl_register_bits(const struct value *v);

bool csl_same_value(const struct value *a, const struct value *b);
const struct value *csl_field(const struct tuple *fields, const char *name);

struct value csl_int_value(const struct type *t, int64_t i);
struct value csl_type_value(const struct type *t);

#endif
