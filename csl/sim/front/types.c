/* types.c - types and values that are known when compiling. */
#include <string.h>

#include "types.h"

#define PLAIN(kind_)                                                                               \
    {                                                                                              \
        .kind = kind_                                                                              \
    }
#define INTEGER(bits_, signed_)                                                                    \
    {                                                                                              \
        .kind = T_INT, .bits = bits_, .is_signed = signed_                                         \
    }

const struct type csl_void = PLAIN(T_VOID), csl_bool = PLAIN(T_BOOL), csl_i8 = INTEGER(8, true),
                  csl_i16 = INTEGER(16, true), csl_i32 = INTEGER(32, true),
                  csl_i64 = INTEGER(64, true), csl_u8 = INTEGER(8, false),
                  csl_u16 = INTEGER(16, false), csl_u32 = INTEGER(32, false),
                  csl_u64 = INTEGER(64, false), csl_f16 = PLAIN(T_F16), csl_f32 = PLAIN(T_F32),
                  csl_comptime_int = PLAIN(T_COMPTIME_INT),
                  csl_comptime_float = PLAIN(T_COMPTIME_FLOAT), csl_string = PLAIN(T_STRING),
                  csl_type = PLAIN(T_TYPE), csl_struct = PLAIN(T_STRUCT),
                  csl_module = PLAIN(T_MODULE), csl_range = PLAIN(T_RANGE),
                  csl_direction = PLAIN(T_DIRECTION), csl_color = PLAIN(T_COLOR),
                  csl_input_queue = PLAIN(T_INPUT_QUEUE), csl_output_queue = PLAIN(T_OUTPUT_QUEUE),
                  csl_local_task = PLAIN(T_LOCAL_TASK), csl_data_task = PLAIN(T_DATA_TASK),
                  csl_control_task = PLAIN(T_CONTROL_TASK), csl_ut = PLAIN(T_UT),
                  csl_opcode = PLAIN(T_OPCODE), csl_mem1d = PLAIN(T_MEM1D),
                  csl_fabin = PLAIN(T_FABIN), csl_fabout = PLAIN(T_FABOUT),
                  csl_fifo = PLAIN(T_FIFO), csl_dsr_dest = PLAIN(T_DSR_DEST),
                  csl_dsr_src0 = PLAIN(T_DSR_SRC0), csl_dsr_src1 = PLAIN(T_DSR_SRC1),
                  csl_any_fn = {.kind = T_FN, .element = &csl_void};

const uint8_t csl_code_bytes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4};

static const struct {
    const char *name;
    const struct type *type;
} names[] = {
    {"void", &csl_void},
    {"bool", &csl_bool},
    {"i8", &csl_i8},
    {"i16", &csl_i16},
    {"i32", &csl_i32},
    {"i64", &csl_i64},
    {"u8", &csl_u8},
    {"u16", &csl_u16},
    {"u32", &csl_u32},
    {"u64", &csl_u64},
    {"f16", &csl_f16},
    {"f32", &csl_f32},
    {"comptime_int", &csl_comptime_int},
    {"comptime_float", &csl_comptime_float},
    {"comptime_string", &csl_string},
    {"comptime_struct", &csl_struct},
    {"type", &csl_type},
    {"imported_module", &csl_module},
    {"direction", &csl_direction},
    {"color", &csl_color},
    {"input_queue", &csl_input_queue},
    {"output_queue", &csl_output_queue},
    {"local_task_id", &csl_local_task},
    {"data_task_id", &csl_data_task},
    {"control_task_id", &csl_control_task},
    {"ut_id", &csl_ut},
    {"mem1d_dsd", &csl_mem1d},
    {"fabin_dsd", &csl_fabin},
    {"fabout_dsd", &csl_fabout},
    {"dsr_dest", &csl_dsr_dest},
    {"dsr_src0", &csl_dsr_src0},
    {"dsr_src1", &csl_dsr_src1},
};

const struct type *csl_named_type(struct str name)
{
    for (size_t i = 0; i < COUNT(names); i++)
        if (csl_str_is(name, names[i].name))
            return names[i].type;
    return NULL;
}

static bool same_type(const struct type *a, const struct type *b)
{
    if (a->kind != b->kind || a->element != b->element || a->is_const != b->is_const ||
        a->many != b->many || a->rank != b->rank || a->param_count != b->param_count)
        return false;
    for (unsigned i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    for (size_t i = 0; i < a->param_count; i++)
        if (a->params[i] != b->params[i])
            return false;
    return true;
}

/* The one type object that equals t. */
static const struct type *unique(struct types *types, const struct type *t)
{
    for (const struct type *have = types->all; have != NULL; have = have->next)
        if (same_type(have, t))
            return have;
    struct type *fresh = csl_alloc(types->arena, sizeof *fresh);
    *fresh = *t;
    fresh->next = types->all;
    types->all = fresh;
    return fresh;
}

const struct type *csl_array_type(struct types *types, const struct type *element, unsigned rank,
                                  const uint32_t *dims)
{
    struct type t = {.kind = T_ARRAY, .element = element, .rank = (uint8_t)rank, .count = 1};
    for (unsigned i = 0; i < rank; i++) {
        t.dims[i] = dims[i];
        t.count *= dims[i]; /* the caller has checked that the memory is not exceeded */
    }
    return unique(types, &t);
}

const struct type *csl_pointer_type(struct types *types, const struct type *element, bool many,
                                    bool is_const)
{
    return unique(
        types,
        &(struct type){.kind = T_POINTER, .element = element, .many = many, .is_const = is_const});
}

const struct type *csl_fn_type(struct types *types, const struct type **params, size_t count,
                               const struct type *result)
{
    return unique(
        types,
        &(struct type){.kind = T_FN, .element = result, .params = params, .param_count = count});
}

char *csl_type_name(struct arena *arena, const struct type *t)
{
    char dims[64] = "";
    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].type == t)
            return csl_format(arena, "%s", names[i].name);
    switch (t->kind) {
    case T_ARRAY:
        for (unsigned i = 0, n = 0; i < t->rank && n < sizeof dims - 12; i++)
            n = (unsigned)strlen(
                strcat(dims, csl_format(arena, "%s%u", i ? ", " : "", t->dims[i])));
        return csl_format(arena, "[%s]%s", dims, csl_type_name(arena, t->element));
    case T_POINTER:
        return csl_format(arena, "%s%s%s", t->many ? "[*]" : "*", t->is_const ? "const " : "",
                          csl_type_name(arena, t->element));
    case T_FN:
        return csl_format(arena, "fn of %zu parameters", t->param_count);
    case T_RANGE:
        return csl_format(arena, "range");
    case T_OPCODE:
        return csl_format(arena, "opcode");
    case T_FIFO:
        return csl_format(arena, "fifo");
    default:
        return csl_format(arena, "?");
    }
}

bool csl_is_handle(const struct type *t)
{
    return t->kind >= T_COLOR && t->kind <= T_UT;
}

bool csl_is_dsd(const struct type *t)
{
    return t->kind >= T_MEM1D && t->kind <= T_FABOUT;
}

bool csl_is_dsr(const struct type *t)
{
    return t->kind >= T_DSR_DEST && t->kind <= T_DSR_SRC1;
}

bool csl_is_float(const struct type *t)
{
    return t->kind == T_F16 || t->kind == T_F32 || t->kind == T_COMPTIME_FLOAT;
}

bool csl_is_integer(const struct type *t)
{
    return t->kind == T_INT || t->kind == T_COMPTIME_INT;
}

bool csl_is_number(const struct type *t)
{
    return csl_is_integer(t) || csl_is_float(t);
}

bool csl_is_word(const struct type *t, unsigned bits)
{
    return csl_is_scalar(t) && csl_is_number(t) && csl_size(t) * 8 == bits;
}

bool csl_is_scalar(const struct type *t)
{
    return t->kind == T_INT || t->kind == T_F16 || t->kind == T_F32 || t->kind == T_BOOL ||
           t->kind == T_POINTER || t->kind == T_OPCODE || csl_is_handle(t) || csl_is_dsd(t);
}

enum type_code csl_code(const struct type *t)
{
    if (t->kind == T_F16 || t->kind == T_F32)
        return t->kind == T_F16 ? TC_F16 : TC_F32;
    if (t->kind == T_OPCODE)
        return TC_U32;
    if (csl_is_dsd(t))
        return TC_U64;
    if (t->kind != T_INT)
        return TC_U16;
    switch (t->bits) {
    case 8:
        return t->is_signed ? TC_I8 : TC_U8;
    case 16:
        return t->is_signed ? TC_I16 : TC_U16;
    case 32:
        return t->is_signed ? TC_I32 : TC_U32;
    default:
        return t->is_signed ? TC_I64 : TC_U64;
    }
}

uint32_t csl_size(const struct type *t)
{
    return t->kind == T_ARRAY ? t->count * csl_size(t->element) : csl_code_bytes[csl_code(t)];
}

int64_t csl_wrap_code(enum type_code tc, int64_t i)
{
    switch (tc) {
    case TC_I8:
        return (int8_t)i;
    case TC_I16:
        return (int16_t)i;
    case TC_I32:
        return (int32_t)i;
    case TC_U8:
        return (uint8_t)i;
    case TC_U16:
    case TC_F16:
        return (uint16_t)i;
    case TC_U32:
    case TC_F32:
        return (uint32_t)i;
    default:
        return i;
    }
}

int64_t csl_wrap(const struct type *t, int64_t i)
{
    return t->kind == T_INT ? csl_wrap_code(csl_code(t), i) : i;
}

bool csl_fits(const struct type *t, int64_t i)
{
    if (t->kind == T_INT && !t->is_signed && i < 0)
        return false;
    return csl_wrap(t, i) == i;
}

int64_t csl_register_bits(const struct value *v)
{
    if (v->type->kind == T_F16)
        return csl_half_of(v->f);
    if (v->type->kind != T_F32)
        return v->i;
    float f = (float)v->f;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

struct value csl_load_value(const struct type *t, const uint8_t *from)
{
    uint64_t bits = 0;
    memcpy(&bits, from, csl_size(t)); /* little-endian, as all of the simulator's memory */
    struct value v = {.type = t};
    if (t->kind == T_F16) {
        v.f = csl_float_of((uint16_t)bits);
        return v;
    }
    if (t->kind == T_F32) {
        float f;
        memcpy(&f, from, sizeof f);
        v.f = f;
        return v;
    }
    v.i = csl_wrap_code(csl_code(t), (int64_t)bits);
    return v;
}

void csl_store_value(const struct value *v, uint8_t *to)
{
    int64_t bits = csl_register_bits(v);
    memcpy(to, &bits, csl_size(v->type));
}

bool csl_same_value(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type->kind) {
    case T_VOID:
        return true;
    case T_F16:
    case T_F32:
    case T_COMPTIME_FLOAT:
        return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case T_STRING:
        return csl_str_same(a->s, b->s);
    case T_TYPE:
        return a->t == b->t;
    case T_ARRAY:
        return a->bytes == b->bytes || (a->bytes != NULL && b->bytes != NULL &&
                                        memcmp(a->bytes, b->bytes, csl_size(a->type)) == 0);
    case T_STRUCT:
        if (a->fields->count != b->fields->count ||
            (a->fields->names == NULL) != (b->fields->names == NULL))
            return false;
        for (size_t i = 0; i < a->fields->count; i++)
            if ((a->fields->names != NULL &&
                 !csl_str_same(a->fields->names[i], b->fields->names[i])) ||
                !csl_same_value(&a->fields->values[i], &b->fields->values[i]))
                return false;
        return true;
    case T_FN:
        return a->fn == b->fn;
    case T_MODULE:
        return a->module == b->module;
    case T_RANGE:
        return a->range == b->range;
    default:
        return a->i == b->i;
    }
}

const struct value *csl_field(const struct tuple *fields, const char *name)
{
    for (size_t i = 0; fields->names != NULL && i < fields->count; i++)
        if (csl_str_is(fields->names[i], name))
            return &fields->values[i];
    return NULL;
}

struct value csl_int_value(const struct type *t, int64_t i)
{
    return (struct value){.type = t, .i = i};
}

struct value csl_type_value(const struct type *t)
{
    return (struct value){.type = &csl_type, .t = t};
}
