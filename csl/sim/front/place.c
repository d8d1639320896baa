/* place.c - variables: what an expression names, loads, stores and addresses. */
#include <string.h>

#include "sema.h"

static bool address_taken(const struct sema *s, struct str name)
{
    for (const struct call *c = s->call; c != NULL; c = c->inlined ? c->up : NULL)
        for (size_t i = 0; i < c->fn->taken_count; i++)
            if (csl_str_same(c->fn->taken[i], name))
                return true;
    return false;
}

struct symbol *csl_declare(struct sema *s, const struct node *n, struct str name,
                           enum symbol_kind kind, const struct type *type, bool is_const)
{
    for (const struct symbol *have = s->scope->symbols; have != NULL; have = have->next)
        if (csl_str_same(have->name, name))
            FAIL(s, n, "'%.*s' is declared twice in this block", STR_ARG(name));
    if (csl_named_type(name) != NULL)
        FAIL(s, n, "'%.*s' is the name of a type", STR_ARG(name));
    struct symbol *sym = csl_alloc(s->arena, sizeof *sym);
    *sym = (struct symbol){.next = s->scope->symbols,
                           .name = name,
                           .kind = kind,
                           .type = type,
                           .is_const = is_const,
                           .conditional = s->conditional};
    if (kind == SYMBOL_REG && (type->kind == T_ARRAY || address_taken(s, name))) {
        sym->kind = SYMBOL_MEM;
        sym->address = csl_allocate(s, n, type, NULL, name, 0);
    } else if (kind == SYMBOL_REG) {
        sym->reg = csl_new_reg(s, n);
    }
    s->scope->symbols = sym;
    return sym;
}

static struct symbol *find_symbol(struct sema *s, struct str name)
{
    for (struct scope *scope = s->scope; scope != NULL; scope = scope->up)
        for (struct symbol *sym = scope->symbols; sym != NULL; sym = sym->next)
            if (csl_str_same(sym->name, name))
                return sym;
    return NULL;
}

static struct place box(struct value *v, bool is_const, uint32_t *home)
{
    return (struct place){
        .kind = PLACE_BOX, .type = v->type, .is_const = is_const, .box = v, .home = home};
}

static struct place fixed(const struct type *t, uint32_t address, bool is_const)
{
    return (struct place){
        .kind = PLACE_MEM, .type = t, .is_const = is_const, .fixed = true, .offset = address};
}

static struct place symbol_place(struct symbol *sym)
{
    struct place p;
    switch (sym->kind) {
    case SYMBOL_REG:
        return (struct place){
            .kind = PLACE_REG, .type = sym->type, .is_const = sym->is_const, .reg = sym->reg};
    case SYMBOL_MEM:
        return fixed(sym->type, sym->address, sym->is_const);
    case SYMBOL_BOX:
        p = box(&sym->value, sym->is_const, NULL);
        p.type = sym->type; /* the value may be of a narrower struct */
        p.conditional = sym->conditional;
        return p;
    default:
        return box(&sym->value, true, &sym->address);
    }
}

static struct place global_place(struct sema *s, const struct node *n, struct global *g)
{
    csl_resolve_global(s, g, n->pos);
    if (g->decl->kind == N_FN || g->decl->op != TOK_VAR)
        return box(&g->value, true, &g->address);
    if (s->program == NULL)
        FAIL(s, n, "a layout has no variables at run time; '%.*s' must be const",
             STR_ARG(g->decl->text));
    if (g->address == 0)
        g->address = csl_allocate(s, n, g->type, &g->value, g->decl->text, (uint32_t)g->decl->i);
    return fixed(g->type, g->address, false);
}

void csl_keep_global(struct sema *s, struct global *g)
{
    struct place p = global_place(s, g->decl, g);
    csl_to_memory(s, g->decl, &p);
}

static struct place ident_place(struct sema *s, const struct node *n)
{
    struct symbol *sym = find_symbol(s, n->text);
    if (sym != NULL)
        return symbol_place(sym);
    struct global *g = csl_find_global(s->module, n->text);
    if (g != NULL)
        return global_place(s, n, g);
    struct value *v = csl_alloc(s->arena, sizeof *v);
    const struct type *type = csl_named_type(n->text);
    static const char *const directions[] = {"NORTH", "SOUTH", "EAST", "WEST", "RAMP"};
    if (type != NULL) {
        *v = csl_type_value(type);
        return box(v, true, NULL);
    }
    for (unsigned i = 0; i < COUNT(directions); i++)
        if (csl_str_is(n->text, directions[i])) {
            *v = csl_int_value(&csl_direction, i);
            return box(v, true, NULL);
        }
    FAIL(s, n, "'%.*s' is not declared", STR_ARG(n->text));
}

static struct place field_place(struct sema *s, const struct node *n)
{
    struct place p = csl_place(s, n->kid[0]);
    if (p.kind == PLACE_BOX && p.type == &csl_type && p.box->t == &csl_opcode) {
        struct value *op = csl_alloc(s->arena, sizeof *op);
        *op = csl_opcode_value(s, n, n->text);
        return box(op, true, NULL);
    }
    if (p.kind != PLACE_BOX || (p.type->kind != T_STRUCT && p.type->kind != T_MODULE))
        FAIL(s, n, "a value of type %s has no field '%.*s'", TYPE(s, p.type), STR_ARG(n->text));
    if (p.box->type->kind == T_MODULE) {
        struct module *m = p.box->module;
        struct global *g = m->library == LIB_NONE ? csl_find_global(m, n->text) : NULL;
        if (g != NULL)
            return global_place(s, n, g);
        struct value *v = csl_alloc(s->arena, sizeof *v);
        *v = csl_library_member(s, n, m, n->text);
        return box(v, true, NULL);
    }
    struct tuple *fields = p.box->fields;
    for (size_t i = 0; fields->names != NULL && i < fields->count; i++)
        if (csl_str_same(fields->names[i], n->text)) {
            struct place field = box(&fields->values[i], p.is_const, NULL);
            field.conditional = p.conditional;
            return field;
        }
    FAIL(s, n, "the struct has no field '%.*s'", STR_ARG(n->text));
}

/* The address in a pointer, as the base of a place. */
static struct place pointed(struct sema *s, const struct node *n, const struct operand *pointer,
                            const struct type *type)
{
    if (pointer->known)
        return fixed(type, (uint32_t)pointer->v.i, pointer->v.type->is_const);
    return (struct place){.kind = PLACE_MEM,
                          .type = type,
                          .is_const = pointer->v.type->is_const,
                          .reg = csl_in_reg(s, n, pointer)};
}

void csl_to_memory(struct sema *s, const struct node *n, struct place *p)
{
    if (p->kind == PLACE_MEM)
        return;
    if (p->kind != PLACE_BOX || !p->is_const ||
        !(p->type->kind == T_ARRAY || csl_is_scalar(p->type)))
        FAIL(s, n, "this is not in a PE's memory");
    uint32_t none = 0, *home = p->home != NULL ? p->home : &none;
    if (*home == 0) {
        *home = csl_allocate(s, n, p->type, p->box, csl_str("a constant"), 0);
        s->program->objects[s->program->object_count].is_const = true;
    }
    *p = fixed(p->type, *home, true);
}

/* The element's number as one operand, row-major. Each index is checked against its dimension. */
static struct operand flat_index(struct sema *s, const struct node *n, const struct type *array)
{
    if (n->count - 1 != array->rank)
        FAIL(s, n, "an element of %s has %u indices", TYPE(s, array), array->rank);
    struct operand flat = csl_known(csl_int_value(&csl_comptime_int, 0));
    for (unsigned d = 0; d < array->rank; d++) {
        struct operand index = csl_expr(s, n->kid[d + 1], NULL);
        if (!csl_is_integer(index.v.type))
            FAIL(s, n->kid[d + 1], "an index must be an integer, not %s", TYPE(s, index.v.type));
        if (index.known && (index.v.i < 0 || index.v.i >= array->dims[d]))
            FAIL(s, n->kid[d + 1], "index %lld is outside of %s", (long long)index.v.i,
                 TYPE(s, array));
        if (index.known && flat.known) {
            flat.v.i = flat.v.i * array->dims[d] + index.v.i;
            continue;
        }
        uint16_t reg = csl_in_reg(s, n,
                                  &(struct operand){.v = {.type = &csl_i64, .i = index.v.i},
                                                    .known = index.known,
                                                    .reg = index.reg});
        if (!index.known) {
            struct insn *check = csl_emit(s, n->kid[d + 1], OP_BOUND, COST_NONE);
            check->a = reg;
            check->imm = (int32_t)array->dims[d];
        }
        if (d > 0) {
            uint16_t before = csl_in_reg(s, n,
                                         &(struct operand){.v = {.type = &csl_i64, .i = flat.v.i},
                                                           .known = flat.known,
                                                           .reg = flat.reg});
            uint16_t to = csl_new_reg(s, n);
            struct insn *i = csl_emit(s, n, OP_INDEX, COST_MUL16);
            i->a = to;
            i->b = before;
            i->c = reg;
            i->imm = (int32_t)array->dims[d];
            reg = to;
        }
        flat = csl_in(&csl_i64, reg);
    }
    return flat;
}

/* The element index (not scaled) of type t behind base. */
static struct place element(struct sema *s, const struct node *n, struct place base,
                            const struct type *t, const struct operand *index, bool check)
{
    uint32_t size = csl_size(t);
    struct place p = base;
    p.type = t;
    if (index->known && (base.fixed || !check)) {
        const struct object *o =
            check ? &s->program->objects[csl_object_at(s->program, base.offset)] : NULL;
        const int64_t at = (int64_t)base.offset + index->v.i * (int64_t)size;
        if (check && (at < o->start || at + size > o->end))
            FAIL(s, n, "index %lld is outside of the variable", (long long)index->v.i);
        p.offset = (uint32_t)at;
        return p;
    }
    uint16_t from = base.reg;
    if (base.fixed)
        from = csl_in_reg(
            s, n, &(struct operand){.v = csl_int_value(&csl_i64, base.offset), .known = true});
    uint16_t by = csl_in_reg(s, n,
                             &(struct operand){.v = {.type = &csl_i64, .i = index->v.i},
                                               .known = index->known,
                                               .reg = index->reg});
    uint16_t to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_INDEX, COST_INDEX);
    i->a = to;
    i->b = by;
    i->c = from;
    i->imm = (int32_t)size;
    if (check) {
        i = csl_emit(s, n, OP_SAME, COST_NONE);
        i->a = from;
        i->b = to;
    }
    p.fixed = false;
    p.reg = to;
    p.offset = base.fixed ? 0 : base.offset;
    return p;
}

static struct place index_place(struct sema *s, const struct node *n)
{
    struct place p = csl_place(s, n->kid[0]);
    if (p.type->kind == T_POINTER && p.type->many) {
        if (n->count != 2)
            FAIL(s, n, "a pointer has one index");
        struct operand pointer = csl_load_place(s, n, &p), index = csl_expr(s, n->kid[1], NULL);
        if (!csl_is_integer(index.v.type))
            FAIL(s, n->kid[1], "an index must be an integer, not %s", TYPE(s, index.v.type));
        if (index.known && (index.v.i < -32768 || index.v.i > 65535))
            FAIL(s, n->kid[1], "index %lld is outside of a PE's memory", (long long)index.v.i);
        return element(s, n, pointed(s, n, &pointer, p.type), p.type->element, &index, true);
    }
    if (p.type->kind == T_STRUCT && p.kind == PLACE_BOX && p.box->fields->names == NULL) {
        if (n->count != 2)
            FAIL(s, n, "a tuple has one index");
        int64_t i = csl_int_expr(s, n->kid[1], 0, (int64_t)p.box->fields->count - 1, "index");
        return box(&p.box->fields->values[i], p.is_const, NULL);
    }
    if (p.type->kind != T_ARRAY)
        FAIL(s, n, "a value of type %s has no elements", TYPE(s, p.type));
    struct operand index = flat_index(s, n, p.type);
    if (p.kind == PLACE_BOX && index.known) {
        p.kind = PLACE_ELEMENT;
        p.type = p.type->element;
        p.index = (uint32_t)index.v.i;
        return p;
    }
    const struct type *of = p.type->element;
    csl_to_memory(s, n, &p);
    return element(s, n, p, of, &index, false);
}

struct place csl_place(struct sema *s, const struct node *n)
{
    struct operand o;
    struct value *v;
    switch (n->kind) {
    case N_IDENT:
        return ident_place(s, n);
    case N_FIELD:
        return field_place(s, n);
    case N_INDEX:
        return index_place(s, n);
    case N_DEREF:
        o = csl_expr(s, n->kid[0], NULL);
        if (o.v.type->kind != T_POINTER || o.v.type->many)
            FAIL(s, n, "a value of type %s cannot be dereferenced", TYPE(s, o.v.type));
        return pointed(s, n, &o, o.v.type->element);
    default:
        o = csl_expr(s, n, NULL);
        if (!o.known)
            return (struct place){
                .kind = PLACE_REG, .type = o.v.type, .is_const = true, .reg = o.reg};
        v = csl_alloc(s->arena, sizeof *v);
        *v = o.v;
        return box(v, true, NULL);
    }
}

/* What OP_LOAD and OP_STORE check at run time. */
static void check_fixed(struct sema *s, const struct node *n, const struct place *p, bool write)
{
    const struct object *o = &s->program->objects[csl_object_at(s->program, p->offset)];
    if (p->fixed && (o->end == 0 || p->offset + csl_size(p->type) > o->end))
        FAIL(s, n, "address %u is no variable's", p->offset);
    if (p->fixed && write && o->is_const)
        FAIL(s, n, "what is const cannot be assigned");
}

struct operand csl_load_place(struct sema *s, const struct node *n, const struct place *p)
{
    uint32_t size;
    switch (p->kind) {
    case PLACE_BOX:
        return csl_known(*p->box);
    case PLACE_ELEMENT:
        size = csl_size(p->type);
        if (p->box->bytes != NULL)
            return csl_known(csl_load_value(p->type, p->box->bytes + (size_t)p->index * size));
        return csl_known(csl_load_value(p->type, (const uint8_t[8]){0}));
    case PLACE_REG:
        return csl_in(p->type, p->reg);
    default:
        break;
    }
    if (s->comptime)
        FAIL(s, n, "the value of a variable is not known when compiling");
    if (p->type->kind == T_ARRAY)
        FAIL(s, n, "an array in memory is used by its elements, by & or by a DSD");
    check_fixed(s, n, p, false);
    size = csl_size(p->type);
    uint16_t to = csl_new_reg(s, n);
    struct insn *i =
        csl_emit(s, n, p->fixed ? OP_LOAD_AT : OP_LOAD, size > 2 ? COST_LOAD32 : COST_LOAD16);
    i->a = to;
    i->b = p->reg;
    i->imm = (int32_t)p->offset;
    i->tc = (uint8_t)csl_code(p->type);
    return csl_in(p->type, to);
}

/* A whole array: a known one, which may be all zero. */
static void store_array(struct sema *s, const struct node *n, const struct place *p,
                        const struct operand *o)
{
    struct operand pointer = csl_address(s, n,
                                         &(struct place){.kind = PLACE_MEM,
                                                         .type = p->type,
                                                         .fixed = p->fixed,
                                                         .offset = p->offset,
                                                         .reg = p->reg});
    uint16_t to = csl_in_reg(s, n, &pointer), from = 0;
    if (o->v.bytes != NULL) {
        uint32_t address = csl_allocate(s, n, p->type, &o->v, csl_str("a constant"), 0);
        from = csl_in_reg(s, n,
                          &(struct operand){.v = csl_int_value(&csl_i64, address), .known = true});
    }
    struct insn *i = csl_emit(s, n, o->v.bytes != NULL ? OP_COPY : OP_CLEAR, COST_COPY);
    i->a = to;
    i->b = from;
    i->imm = (int32_t)csl_size(p->type);
    uint32_t cycles = i->cost + csl_size(p->type) / 8;
    i->cost = cycles > UINT16_MAX ? UINT16_MAX : (uint16_t)cycles;
}

static void store_box(struct sema *s, const struct node *n, const struct place *p,
                      const struct operand *o)
{
    if (!o->known)
        FAIL(s, n, "a comptime variable takes values that are known when compiling");
    if (s->conditional != p->conditional && !s->comptime)
        FAIL(s, n, "a comptime variable cannot change under a condition or loop of the run time");
    struct value v = o->v;
    if (p->kind == PLACE_BOX && v.type->kind == T_STRUCT) { /* fields are changed in place */
        struct value *values = csl_alloc_array(s->arena, v.fields->count, sizeof *values);
        memcpy(values, v.fields->values, v.fields->count * sizeof *values);
        v = csl_tuple_value(s, n, v.fields->count, v.fields->names, values);
    }
    const struct type *array = p->kind == PLACE_ELEMENT ? p->box->type : v.type;
    if (array->kind == T_ARRAY) {
        const uint8_t *old = p->kind == PLACE_ELEMENT ? p->box->bytes : v.bytes;
        bool copy = p->kind == PLACE_BOX || old == NULL;
        uint8_t *bytes = copy && (old != NULL || p->kind == PLACE_ELEMENT)
                             ? csl_alloc(s->arena, csl_size(array) + 8)
                         : p->kind == PLACE_ELEMENT ? p->box->bytes
                                                    : NULL;
        if (copy && old != NULL)
            memcpy(bytes, old, csl_size(array));
        if (p->kind == PLACE_ELEMENT) {
            csl_store_value(&v, bytes + (size_t)p->index * csl_size(p->type));
            p->box->bytes = bytes;
            return;
        }
        v.bytes = bytes;
    }
    *p->box = v;
}

void csl_store_place(struct sema *s, const struct node *n, const struct place *p,
                     const struct operand *o)
{
    if (p->is_const)
        FAIL(s, n, "what is const cannot be assigned");
    if (p->kind == PLACE_BOX || p->kind == PLACE_ELEMENT) {
        store_box(s, n, p, o);
        return;
    }
    if (s->comptime)
        FAIL(s, n, "a variable cannot be assigned when compiling");
    if (p->kind == PLACE_REG) {
        csl_into(s, n, o, p->reg);
        return;
    }
    if (p->type->kind == T_ARRAY) {
        store_array(s, n, p, o);
        return;
    }
    check_fixed(s, n, p, true);
    uint16_t from = csl_in_reg(s, n, o);
    struct insn *i = csl_emit(s, n, p->fixed ? OP_STORE_AT : OP_STORE,
                              csl_size(p->type) > 2 ? COST_STORE32 : COST_STORE16);
    i->a = from;
    i->b = p->reg;
    i->imm = (int32_t)p->offset;
    i->tc = (uint8_t)csl_code(p->type);
}

struct operand csl_address(struct sema *s, const struct node *n, struct place *p)
{
    if (p->kind == PLACE_REG || p->kind == PLACE_ELEMENT || (p->kind == PLACE_BOX && !p->is_const))
        FAIL(s, n, "this has no address");
    csl_to_memory(s, n, p);
    const struct type *t = csl_pointer_type(&s->l->types, p->type, false, p->is_const);
    if (p->fixed)
        return csl_known(csl_int_value(t, p->offset));
    if (p->offset == 0)
        return csl_in(t, p->reg);
    uint16_t by =
        csl_in_reg(s, n, &(struct operand){.v = csl_int_value(&csl_i64, p->offset), .known = true});
    uint16_t to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_ADD, COST_ALU16);
    i->a = to;
    i->b = p->reg;
    i->c = by;
    i->tc = TC_U16;
    return csl_in(t, to);
}
