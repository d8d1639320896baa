/* builtin_dsd.c - making and changing DSDs. */
#include <string.h>

#include "sema.h"

/* ---- fields of a struct expression ---- */

size_t csl_fields(struct sema *s, const struct node *n, struct field *fields, size_t most)
{
    if (n->kind == N_IF) {
        struct operand condition = csl_condition(s, n->kid[0]);
        if (!condition.known || n->kid[2] == NULL)
            FAIL(s, n, "which properties apply must be known when compiling");
        return csl_fields(s, n->kid[condition.v.i ? 1 : 2], fields, most);
    }
    if (n->kind != N_STRUCT) {
        struct value v = csl_known_expr(s, n, &csl_struct);
        if (v.fields->count > most || (v.fields->names == NULL && v.fields->count > 0))
            FAIL(s, n, "expected named properties");
        for (size_t i = 0; i < v.fields->count; i++)
            fields[i] = (struct field){v.fields->names[i], n, csl_known(v.fields->values[i])};
        return v.fields->count;
    }
    if (n->count > most || (n->names == NULL && n->count > 0))
        FAIL(s, n, "expected named properties, up to %zu", most);
    for (size_t i = 0; i < n->count; i++)
        fields[i] = (struct field){n->names[i], n->kid[i], csl_expr(s, n->kid[i], NULL)};
    return n->count;
}

static const struct field *get_field(const struct field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (csl_str_is(fields[i].name, name))
            return &fields[i];
    return NULL;
}

static void known_names(struct sema *s, const struct field *fields, size_t count,
                        const char *const *names)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (names[k] != NULL && !csl_str_is(fields[i].name, names[k]))
            k++;
        if (names[k] == NULL)
            FAIL(s, fields[i].node, "the property '%.*s' is not in the subset here",
                 STR_ARG(fields[i].name));
    }
}

/* ---- tensor access ---- */

/* The flat element number for a value of the induction variable. */
static int64_t flat_at(struct sema *s, const struct node *n, const struct type *array, int64_t i)
{
    struct scope scope;
    int64_t flat = 0;
    csl_push(s, &scope);
    csl_declare(s, n, n->names[0], SYMBOL_KNOWN, &csl_comptime_int, true)->value =
        csl_int_value(&csl_comptime_int, i);
    for (unsigned d = 0; d < array->rank; d++) {
        struct value v = csl_known_expr(s, n->kid[2 + d], NULL);
        if (!csl_is_integer(v.type) || v.i < -65536 || v.i > 65536)
            FAIL(s, n->kid[2 + d], "an index must be an integer of 16 bits");
        flat = flat * array->dims[d] + v.i;
        if (flat < -(1 << 24) || flat > 1 << 24)
            FAIL(s, n, "the access is outside of a PE's memory");
    }
    csl_pop(s, &scope);
    return flat;
}

struct value csl_tensor(struct sema *s, const struct node *n)
{
    static const char *const names[] = {"base_address", "offset", "stride", "extent"};
    if (n->name_count != 1)
        FAIL(s, n, "mem4d accesses are not in the subset: one induction variable");
    struct place p = csl_place(s, n->kid[1]);
    if (p.type->kind == T_POINTER &&
        p.type->element->kind == T_ARRAY) { /* a known pointer to an array */
        struct value pointer = csl_known_expr(s, n->kid[1], NULL);
        p = (struct place){.kind = PLACE_MEM,
                           .type = p.type->element,
                           .is_const = p.type->is_const,
                           .fixed = true,
                           .offset = (uint32_t)pointer.i};
    }
    if (p.type->kind != T_ARRAY || n->count != 2 + (size_t)p.type->rank)
        FAIL(s, n, "a tensor access needs an array, with one index for each dimension");
    int64_t extent = csl_int_expr(s, n->kid[0], 0, UINT16_MAX, "the length");
    int64_t offset = flat_at(s, n, p.type, 0), stride = flat_at(s, n, p.type, 1) - offset;
    if (flat_at(s, n, p.type, 2) != offset + 2 * stride ||
        (extent > 3 && flat_at(s, n, p.type, extent - 1) != offset + (extent - 1) * stride))
        FAIL(s, n, "the indices must be affine in '%.*s'", STR_ARG(n->names[0]));
    struct operand base = csl_address(s, n, &p);
    if (!base.known)
        FAIL(s, n, "the array of a tensor access must be known when compiling");
    struct str *fields = csl_alloc_array(s->arena, 4, sizeof *fields);
    struct value *values = csl_alloc_array(s->arena, 4, sizeof *values);
    for (unsigned i = 0; i < 4; i++) {
        fields[i] = csl_str(names[i]);
        values[i] = csl_int_value(&csl_comptime_int, i == 1 ? offset : i == 2 ? stride : extent);
    }
    values[0] = base.v;
    return csl_tuple_value(s, n, 4, fields, values);
}

/* ---- @get_dsd ---- */

static const struct type *element_of_pointer(struct sema *s, const struct node *n,
                                             const struct type *t)
{
    if (t->kind != T_POINTER)
        FAIL(s, n, "a base address is a pointer, not %s", TYPE(s, t));
    const struct type *of = t->element->kind == T_ARRAY ? t->element->element : t->element;
    if (!csl_is_word(of, 16) && !csl_is_word(of, 32))
        FAIL(s, n, "a DSD has elements of 16 or 32 bits, not %s", TYPE(s, of));
    return of;
}

/* A tuple with one element, as in a written-out tensor access, stands for its value. */
static struct operand only_value(struct operand o)
{
    if (o.known && o.v.type->kind == T_STRUCT && o.v.fields->names == NULL &&
        o.v.fields->count == 1)
        return csl_known(o.v.fields->values[0]);
    return o;
}

static struct operand number_field(struct sema *s, const struct node *n, const struct field *fields,
                                   size_t count, const char *name, const struct type *type,
                                   int64_t otherwise)
{
    const struct field *f = get_field(fields, count, name);
    if (f == NULL)
        return csl_known(csl_int_value(type, otherwise));
    struct operand o = only_value(f->value);
    if (o.known && csl_is_integer(o.v.type)) /* a known value only has to fit */
        o.v.type = &csl_comptime_int;
    return csl_coerce(s, n, o, type);
}

/* A property of type bool; false if it is not given. */
static bool bool_field(struct sema *s, const struct node *n, const struct field *fields,
                       size_t count, const char *name)
{
    const struct field *f = get_field(fields, count, name);
    if (f != NULL && (!f->value.known || f->value.v.type != &csl_bool))
        FAIL(s, n, ".%s is a bool that is known when compiling", name);
    return f != NULL && f->value.v.i != 0;
}

static struct operand memory_dsd(struct sema *s, const struct node *n, const struct field *fields,
                                 size_t count)
{
    static const char *const names[] = {
        "base_address",         "extent", "stride", "offset", "tensor_access",
        "wavelet_index_offset", NULL};
    struct field inner[8];
    known_names(s, fields, count, names);
    const struct field *tensor = get_field(fields, count, "tensor_access");
    bool indexed = bool_field(s, n, fields, count, "wavelet_index_offset");
    if (tensor != NULL) {
        if (count != 1u + (get_field(fields, count, "wavelet_index_offset") != NULL) ||
            !tensor->value.known || tensor->value.v.type != &csl_struct ||
            tensor->value.v.fields->count > 4 || tensor->value.v.fields->names == NULL)
            FAIL(s, n, "tensor_access stands alone, and is known when compiling");
        const struct tuple *t = tensor->value.v.fields;
        for (count = 0; count < t->count; count++)
            inner[count] = (struct field){t->names[count], n, csl_known(t->values[count])};
        known_names(s, inner, count, names);
        fields = inner;
    }
    const struct field *base = get_field(fields, count, "base_address");
    if (base == NULL || get_field(fields, count, "extent") == NULL)
        FAIL(s, n, "a mem1d_dsd needs tensor_access, or base_address and extent");
    uint32_t size = csl_size(element_of_pointer(s, n, base->value.v.type));
    struct operand extent = number_field(s, n, fields, count, "extent", &csl_u16, 0);
    struct operand stride = number_field(s, n, fields, count, "stride", &csl_i8, 1);
    struct operand offset = number_field(s, n, fields, count, "offset", &csl_i16, 0);
    if (base->value.known && extent.known && stride.known && offset.known) {
        struct dsd d = {.kind = DSD_MEM, .extent = (uint16_t)extent.v.i, .size = (uint8_t)size};
        d.indexed = indexed;
        d.stride = (int16_t)(stride.v.i * size);
        d.object = (uint8_t)csl_object_at(s->program, (uint32_t)base->value.v.i);
        d.base = (uint16_t)(base->value.v.i + offset.v.i * size);
        return csl_known(csl_int_value(&csl_mem1d, (int64_t)dsd_pack(d)));
    }
    if (indexed)
        FAIL(s, n, "wavelet_index_offset at run time is not in the subset");
    uint16_t regs[4] = {csl_in_reg(s, n, &base->value), csl_in_reg(s, n, &extent),
                        csl_in_reg(s, n, &stride), csl_in_reg(s, n, &offset)};
    uint16_t to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_DSD_MAKE, COST_DSD_MAKE);
    i->a = to;
    i->b = regs[0];
    i->c = regs[1];
    i->imm = regs[2];
    i->wide = regs[3];
    i->tc = (uint8_t)size;
    return csl_in(&csl_mem1d, to);
}

static int64_t handle_field(struct sema *s, const struct node *n, const struct field *fields,
                            size_t count, const char *name, const struct type *type)
{
    const struct field *f = get_field(fields, count, name);
    if (f == NULL)
        FAIL(s, n, "the DSD needs a .%s", name);
    struct operand o = csl_coerce(s, n, f->value, type);
    if (!o.known)
        FAIL(s, n, ".%s must be known when compiling", name);
    return o.v.i;
}

static struct operand fabric_dsd(struct sema *s, const struct node *n, const struct field *fields,
                                 size_t count, bool in)
{
    static const char *const in_names[] = {"extent", "input_queue", "fabric_color", NULL};
    static const char *const out_names[] = {"extent",  "output_queue",         "fabric_color",
                                            "control", "wavelet_index_offset", NULL};
    bool wse2 = s->l->arch == CSL_WSE2,
         has_color = get_field(fields, count, "fabric_color") != NULL;
    known_names(s, fields, count, in ? in_names : out_names);
    if (get_field(fields, count, "extent") == NULL)
        FAIL(s, n, "the DSD needs an .extent");
    struct dsd d = {.kind = in ? DSD_FABIN : DSD_FABOUT};
    d.base = (uint16_t)handle_field(s, n, fields, count, in ? "input_queue" : "output_queue",
                                    in ? &csl_input_queue : &csl_output_queue);
    csl_not_reserved(s, n, in ? &csl_input_queue : &csl_output_queue, d.base);
    d.stride = has_color || (wse2 && !in)
                   ? (int16_t)handle_field(s, n, fields, count, "fabric_color", &csl_color)
                   : -1;
    if (d.stride >= 0)
        csl_not_reserved(s, n, &csl_color, d.stride);
    if (in && has_color && wse2) {
        struct program *p = s->program;
        if (p->in_color[d.base] < 0)
            p->in_color[d.base] = (int8_t)d.stride;
        if (p->in_color[d.base] != d.stride)
            FAIL(s, n, "input queue %u has color %d, the DSD %d", d.base, p->in_color[d.base],
                 d.stride);
    }
    d.control = !in && bool_field(s, n, fields, count, "control");
    d.indexed = !in && bool_field(s, n, fields, count, "wavelet_index_offset");
    const struct type *type = in ? &csl_fabin : &csl_fabout;
    struct operand extent = number_field(s, n, fields, count, "extent", &csl_u16, 0);
    if (extent.known)
        d.extent = (uint16_t)extent.v.i;
    struct operand made = csl_known(csl_int_value(type, (int64_t)dsd_pack(d)));
    if (extent.known)
        return made;
    uint16_t length = csl_in_reg(s, n, &extent), from = csl_in_reg(s, n, &made),
             to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_DSD_LENGTH, COST_DSD_MAKE);
    i->a = to;
    i->b = from;
    i->c = length;
    return csl_in(type, to);
}

static struct operand get_dsd(struct sema *s, const struct node *n)
{
    struct field fields[8];
    csl_arguments(s, n, 2, 2);
    if (s->program == NULL)
        FAIL(s, n, "a layout has no DSDs");
    const struct type *t = csl_type_expr(s, n->kid[0]);
    if (!csl_is_dsd(t))
        FAIL(s, n, "%s is not a DSD type", TYPE(s, t));
    size_t count = csl_fields(s, n->kid[1], fields, COUNT(fields));
    return t == &csl_mem1d ? memory_dsd(s, n, fields, count)
                           : fabric_dsd(s, n, fields, count, t == &csl_fabin);
}

static struct operand allocate_fifo(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 1, 1);
    struct program *p = s->program;
    csl_only(s, n, WHERE_INIT, "global const");
    if (p == NULL)
        FAIL(s, n, "a layout has no FIFOs");
    struct place place = csl_place(s, n->kid[0]);
    const struct type *t = place.type;
    uint32_t address = place.offset;
    if (t->kind == T_POINTER && t->element->kind == T_ARRAY && !t->is_const) {
        address = (uint32_t)csl_known_expr(s, n->kid[0], NULL).i;
        t = t->element;
    } else if (t->kind != T_ARRAY || place.kind != PLACE_MEM || place.is_const) {
        FAIL(s, n, "a FIFO's buffer is a global var array, not %s", TYPE(s, t));
    }
    const struct type *of = t->element;
    uint32_t size = csl_size(of);
    if (!csl_is_word(of, 16) && !csl_is_word(of, 32))
        FAIL(s, n, "a FIFO has numbers of 16 or 32 bits, not %s", TYPE(s, of));
    if (t->count == 0)
        FAIL(s, n, "a FIFO's buffer has elements");
    if (p->fifo_count == FIFOS_MAX)
        FAIL(s, n, "more than %d FIFOs", FIFOS_MAX);
    p->fifos[p->fifo_count] = (struct fifo){address, (uint16_t)t->count, (uint8_t)size};
    return csl_known(csl_int_value(&csl_fifo, p->fifo_count++));
}

/* ---- changes ---- */

static struct operand change(struct sema *s, const struct node *n, enum op op, struct operand dsd,
                             const struct operand *by, uint32_t size)
{
    struct dsd d = dsd_unpack((uint64_t)dsd.v.i);
    if (dsd.known && by->known) {
        if (op == OP_DSD_BASE) {
            uint32_t at = (uint32_t)by->v.i;
            d = dsd_at(d, (uint16_t)at, (uint8_t)csl_object_at(s->program, at), (uint8_t)size);
        } else if (op == OP_DSD_OFFSET) {
            d.base = (uint16_t)(d.base + by->v.i * size);
        } else if (op == OP_DSD_LENGTH) {
            d.extent = (uint16_t)by->v.i;
        } else {
            d.stride = (int16_t)(by->v.i * d.size);
        }
        dsd.v.i = (int64_t)dsd_pack(d);
        return dsd;
    }
    uint16_t from = csl_in_reg(s, n, &dsd), with = csl_in_reg(s, n, by), to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, op, COST_DSD_CHANGE);
    i->a = to;
    i->b = from;
    i->c = with;
    i->imm = (int32_t)size;
    return csl_in(dsd.v.type, to);
}

bool csl_dsd_builtin(struct sema *s, const struct node *n, struct operand *result)
{
    bool base = csl_str_is(n->text, "set_dsd_base_addr"),
         offset = csl_str_is(n->text, "increment_dsd_offset");
    bool length = csl_str_is(n->text, "set_dsd_length"),
         stride = csl_str_is(n->text, "set_dsd_stride");
    if (csl_str_is(n->text, "get_dsd")) {
        *result = get_dsd(s, n);
        return true;
    }
    if (csl_str_is(n->text, "allocate_fifo")) {
        *result = allocate_fifo(s, n);
        return true;
    }
    if (!base && !offset && !length && !stride)
        return false;
    csl_arguments(s, n, offset ? 3 : 2, offset ? 3 : 2);
    struct operand dsd = csl_expr(s, n->kid[0], NULL);
    if (!csl_is_dsd(dsd.v.type) || (!length && dsd.v.type != &csl_mem1d))
        FAIL(s, n, "@%.*s is not for %s", STR_ARG(n->text), TYPE(s, dsd.v.type));
    struct operand by;
    uint32_t size = 0;
    if (base) {
        struct place p = csl_place(s, n->kid[1]);
        by = p.type->kind == T_ARRAY ? csl_address(s, n, &p) : csl_load_place(s, n, &p);
        size = csl_size(element_of_pointer(s, n, by.v.type));
    } else {
        by = csl_expr(s, n->kid[1], NULL);
        if (by.known && csl_is_integer(by.v.type))
            by.v.type = &csl_comptime_int;
        by = csl_coerce(s, n, by, offset ? &csl_i16 : length ? &csl_u16 : &csl_i8);
    }
    if (offset) {
        const struct type *t = csl_type_expr(s, n->kid[2]);
        if (!csl_is_word(t, 16) && !csl_is_word(t, 32))
            FAIL(s, n, "the element type must be a number of 16 or 32 bits, not %s", TYPE(s, t));
        size = csl_size(t);
    }
    *result = change(s, n,
                     base     ? OP_DSD_BASE
                     : offset ? OP_DSD_OFFSET
                     : length ? OP_DSD_LENGTH
                              : OP_DSD_STRIDE,
                     dsd, &by, size);
    return true;
}
