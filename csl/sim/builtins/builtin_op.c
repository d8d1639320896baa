/* builtin_op.c - DSD operations. */
#include "sema.h"

/* The scalar operands that an operation may have. */
static bool scalar_fits(enum csl_dsd_op op, const struct type *t, unsigned bits)
{
    if (op >= DSD_fadds)
        return t == (bits == 16 ? &csl_f16 : &csl_f32);
    return t->kind == T_INT && t->bits == bits;
}

static const struct type *scalar_type(enum csl_dsd_op op, unsigned bits, const struct operand *o)
{
    if (op >= DSD_fadds)
        return bits == 16 ? &csl_f16 : &csl_f32;
    bool negative = o->v.i < 0;
    return bits == 16 ? negative ? &csl_i16 : &csl_u16 : negative ? &csl_i32 : &csl_u32;
}

static struct dsd_operand fifo_operand(struct sema *s, const struct node *n, unsigned bits,
                                       const struct operand *o)
{
    unsigned size = s->program->fifos[o->v.i].size;
    if (size * 8 != bits)
        FAIL(s, n, "the operation is on %u bits, the FIFO's elements have %u", bits, size * 8);
    return (struct dsd_operand){OPERAND_FIFO, (uint16_t)o->v.i, false, 0};
}

static struct dsd_operand dsr_operand(struct sema *s, const struct node *n, const struct operand *o)
{
    uint16_t reg = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_DSR_GET, COST_NONE);
    i->a = reg;
    i->imm = csl_dsr_number(o);
    return (struct dsd_operand){.kind = OPERAND_DSD, .reg = reg, .dsr = (uint16_t)(i->imm + 1)};
}

static struct dsd_operand source(struct sema *s, const struct node *n, enum csl_dsd_op op,
                                 unsigned bits)
{
    struct operand o = csl_expr(s, n, NULL);
    if (o.v.type == &csl_fifo)
        return fifo_operand(s, n, bits, &o);
    if (o.v.type == &csl_dsr_dest)
        FAIL(s, n, "a dsr_dest cannot be a source");
    if (csl_is_dsr(o.v.type))
        return dsr_operand(s, n, &o);
    if (csl_is_dsd(o.v.type)) {
        if (o.v.type == &csl_fabout)
            FAIL(s, n, "a fabout_dsd cannot be a source");
        return (struct dsd_operand){OPERAND_DSD, csl_in_reg(s, n, &o), o.v.type == &csl_fabin, 0};
    }
    if (o.v.type->kind == T_COMPTIME_INT || o.v.type->kind == T_COMPTIME_FLOAT)
        o = csl_coerce(s, n, o, scalar_type(op, bits, &o));
    if (!scalar_fits(op, o.v.type, bits))
        FAIL(s, n, "a source of this operation cannot be %s", TYPE(s, o.v.type));
    return (struct dsd_operand){OPERAND_SCALAR, csl_in_reg(s, n, &o), false, 0};
}

void csl_not_const(struct sema *s, const struct node *n, const struct operand *o)
{
    const struct dsd d = dsd_unpack((uint64_t)o->v.i);
    if (o->known && d.kind == DSD_MEM && s->program->objects[d.object].is_const)
        FAIL(s, n, "a DSD of what is const cannot be the destination");
}

static struct dsd_operand destination(struct sema *s, const struct node *n, enum csl_dsd_op op,
                                      unsigned bits)
{
    struct operand o = csl_expr(s, n, NULL);
    const struct type *t = o.v.type;
    if (t == &csl_fifo)
        return fifo_operand(s, n, bits, &o);
    if (t == &csl_dsr_src1)
        FAIL(s, n, "a dsr_src1 cannot be the destination");
    if (csl_is_dsr(t))
        return dsr_operand(s, n, &o);
    if (csl_is_dsd(t)) {
        if (t == &csl_fabin)
            FAIL(s, n, "a fabin_dsd cannot be the destination");
        csl_not_const(s, n, &o);
        return (struct dsd_operand){OPERAND_DSD, csl_in_reg(s, n, &o), t == &csl_fabout, 0};
    }
    bool reduces = op == DSD_fadds || op == DSD_fsubs || op == DSD_fmuls || op == DSD_fmaxs ||
                   op == DSD_fmovs || op == DSD_mov16 || op == DSD_mov32 || op == DSD_faddh ||
                   op == DSD_fsubh || op == DSD_fmulh || op == DSD_fmaxh || op == DSD_fmovh;
    if (!reduces || t->kind != T_POINTER || t->is_const || t->many ||
        !scalar_fits(op, t->element, bits))
        FAIL(s, n, "the destination of this operation cannot be %s", TYPE(s, t));
    return (struct dsd_operand){OPERAND_POINTER, csl_in_reg(s, n, &o), false, 0};
}

static bool true_of(struct sema *s, const struct field *f)
{
    if (!f->value.known || f->value.v.type != &csl_bool)
        FAIL(s, f->node, "'%.*s' must be a bool that is known when compiling", STR_ARG(f->name));
    return f->value.v.i != 0;
}

static void unblock_setting(struct sema *s, const struct field *f, struct dsd_site *site)
{
    const struct type *t = f->value.v.type;
    bool wse2 = s->l->arch == CSL_WSE2;
    for (const struct deferred *d = s->deferred; t->kind == T_FN && d != NULL; d = d->next)
        if (d->kind == DEFER_DATA && d->fn == f->value.v.fn) {
            site->unblock_kind = wse2 ? ID_COLOR : ID_QUEUE;
            site->unblock = (uint16_t)d->index;
            return;
        }
    if (t->kind == T_FN || t == &csl_local_task) {
        site->unblock_kind = ID_LOCAL;
        site->unblock = csl_local_task_of(s, f->node, &f->value);
        return;
    }
    if (!f->value.known || !(t == &csl_data_task || t == (wse2 ? &csl_color : &csl_input_queue)))
        FAIL(s, f->node, ".unblock cannot be %s", TYPE(s, t));
    site->unblock_kind = wse2 ? ID_COLOR : ID_QUEUE;
    site->unblock = (uint16_t)f->value.v.i;
}

static void settings(struct sema *s, const struct node *n, struct dsd_site *site)
{
    struct field fields[8];
    size_t count = csl_fields(s, n, fields, COUNT(fields));
    for (size_t i = 0; i < count; i++) {
        const struct field *f = &fields[i];
        if (csl_str_is(f->name, "async")) {
            site->async = true_of(s, f);
        } else if (csl_str_is(f->name, "activate")) {
            site->activate = csl_local_task_of(s, f->node, &f->value);
        } else if (csl_str_is(f->name, "unblock")) {
            unblock_setting(s, f, site);
        } else if (csl_str_is(f->name, "index")) {
            struct operand o = csl_coerce(s, f->node, f->value, &csl_u16);
            site->index = csl_in_reg(s, f->node, &o);
        } else if (csl_str_is(f->name, "ut_id") && s->l->arch == CSL_WSE3) {
            site->thread = (uint16_t)csl_known_expr(s, f->node, &csl_ut).i;
            csl_not_reserved(s, f->node, &csl_ut, site->thread);
        } else {
            FAIL(s, f->node, "the setting '%.*s' is not in the subset", STR_ARG(f->name));
        }
    }
    if ((site->activate != NO_ID || site->unblock != NO_ID || site->thread != NO_ID) &&
        !site->async)
        FAIL(s, n, "activate, unblock and ut_id need .async = true");
    if (site->activate != NO_ID && site->unblock != NO_ID)
        FAIL(s, n, "an operation either activates or unblocks");
}

/*
 * If the destination is a pointer, a sum or maximum is written @fadds(&x, x, dsd). The documents
 * leave open what happens if x is not the first source, or lies on the stack.
 */
static void check_reduction(struct sema *s, const struct node *n)
{
    const struct node *to = n->kid[0], *from = n->kid[1];
    bool same = to->kind == N_ADDRESS && to->kid[0]->kind == N_IDENT && from->kind == N_IDENT &&
                csl_str_same(to->kid[0]->text, from->text);
    if (!same || csl_find_global(s->module, from->text) == NULL)
        FAIL(s, n, "a reduction is written @%.*s(&x, x, dsd), with x a global variable",
             STR_ARG(n->text));
}

static void check_fifos(struct sema *s, const struct node *n, const struct dsd_site *site)
{
    unsigned fifos = 0;
    for (unsigned i = 0; i < site->from_count; i++)
        fifos += site->from[i].kind == OPERAND_FIFO;
    if (site->from_count > 1 && (fifos > 1 || site->from[0].kind == OPERAND_FIFO))
        FAIL(s, n, "of several sources one can be a FIFO, but not the first");
    if ((fifos > 0 || site->to.kind == OPERAND_FIFO) && !site->async)
        FAIL(s, n, "an operation on a FIFO needs .async = true: others are not in the subset");
}

static void check_operands(struct sema *s, const struct node *n, const struct dsd_site *site)
{
    check_fifos(s, n, site);
    unsigned dsds = site->to.kind == OPERAND_DSD, inputs = 0;
    for (unsigned i = 0; i < site->from_count; i++) {
        dsds += site->from[i].kind == OPERAND_DSD;
        inputs += site->from[i].fabric;
    }
    if (site->async && !site->to.fabric && inputs == 0)
        FAIL(s, n, "an asynchronous operation needs a fabric operand");
    if (inputs > 1 && s->l->arch == CSL_WSE3)
        FAIL(s, n, "on WSE-3 an operation has one fabric input");
    if (dsds == 0)
        FAIL(s, n, "a DSD operation needs a DSD");
    /* dest, dsd, dsd | dest, scalar, dsd | dest, dsd, scalar; dest pointer: pointer, scalar, dsd */
    if (site->from_count >= 2 && site->from[0].kind == OPERAND_SCALAR &&
        site->from[1].kind == OPERAND_SCALAR)
        FAIL(s, n, "one of the sources must be a DSD");
    if (site->op == DSD_sub16 && site->from[0].kind == OPERAND_SCALAR)
        FAIL(s, n, "the first source of @sub16 is a DSD");
    if ((site->op == DSD_fmacs || site->op == DSD_fmach) &&
        (site->from[0].kind != OPERAND_DSD || site->from[1].kind != OPERAND_DSD ||
         site->from[2].kind != OPERAND_SCALAR))
        FAIL(s, n, "@%.*s takes a destination, two DSDs and a factor", STR_ARG(n->text));
    if (site->to.kind == OPERAND_POINTER && site->from_count == 2 &&
        (site->from[0].kind != OPERAND_SCALAR || site->from[1].kind != OPERAND_DSD))
        FAIL(s, n, "with a pointer as destination the sources are a scalar and a DSD");
    if (site->to.kind == OPERAND_POINTER && site->from_count == 2)
        check_reduction(s, n);
}

/* What save_address does, once for each DSR. The operation has ended, because other operands are in
 * memory. */
static void next_dsrs(struct sema *s, const struct node *n, const struct dsd_site *site)
{
    for (unsigned i = 0; i <= site->from_count; i++) {
        uint16_t dsr = i == site->from_count ? site->to.dsr : site->from[i].dsr;
        bool before = false;
        for (unsigned k = 0; k < i; k++)
            before = before || site->from[k].dsr == dsr;
        if (dsr == 0 || before)
            continue;
        if (site->async)
            FAIL(s, n, "an asynchronous operation on a DSR is not in the subset");
        csl_emit(s, n, OP_DSR_NEXT, COST_NONE)->imm = dsr - 1;
    }
}

void csl_emit_dsd(struct sema *s, const struct node *n, const struct dsd_site *site)
{
    struct program *p = s->program;
    p->dsd_sites =
        csl_grow(s->arena, p->dsd_sites, p->dsd_site_count, &p->dsd_site_capacity, sizeof *site);
    p->dsd_sites[p->dsd_site_count] = *site;
    csl_emit(s, n, OP_DSD, COST_DSD_ISSUE)->imm = (int32_t)p->dsd_site_count++;
}

bool csl_dsd_operation(struct sema *s, const struct node *n)
{
#define X(name, bits, sources, wse2, wse3) {#name, bits, sources},
    static const struct {
        const char *name;
        unsigned bits, sources;
    } all[] = {CSL_DSD_OPS(X)};
#undef X
    unsigned op = 0;
    while (op < DSD_OP_COUNT && !csl_str_is(n->text, all[op].name))
        op++;
    if (op == DSD_OP_COUNT)
        return false;
    csl_arguments(s, n, all[op].sources + 1, all[op].sources + 2);
    if (s->comptime)
        FAIL(s, n, "DSD operations run later: not here");
    struct dsd_site site = {.op = (enum csl_dsd_op)op,
                            .activate = NO_ID,
                            .unblock = NO_ID,
                            .thread = NO_ID,
                            .index = NO_ID,
                            .pos = n->pos};
    site.from_count = all[op].sources;
    site.to = destination(s, n->kid[0], site.op, all[op].bits);
    for (unsigned i = 0; i < site.from_count; i++)
        site.from[i] = source(s, n->kid[i + 1], site.op, all[op].bits);
    if (n->count == all[op].sources + 2)
        settings(s, n->kid[n->count - 1], &site);
    check_operands(s, n, &site);
    csl_emit_dsd(s, n, &site);
    next_dsrs(s, n, &site);
    return true;
}
