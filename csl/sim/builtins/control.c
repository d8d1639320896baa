/* control.c - <control>: payloads of control wavelets; the tasks that they start. */
#include "sema.h"

static bool known_bool(struct sema *s, const struct node *n, const struct operand *o)
{
    if (!o->known || o->v.type != &csl_bool)
        FAIL(s, n, "ce_ignore is a bool that is known when compiling");
    return o->v.i != 0;
}

/* The task's part of a payload; {} is none. */
static uint32_t entry(struct sema *s, const struct node *n, const struct operand *o, bool needed)
{
    if (o->v.type->kind == T_VOID && !needed)
        return 0;
    if (!o->known || o->v.type != &csl_control_task)
        FAIL(s, n, "the entry point is a control_task_id that is known when compiling%s, not %s",
             needed ? "" : " or {}", TYPE(s, o->v.type));
    return CONTROL_HAS_TASK | (uint32_t)o->v.i << CONTROL_TASK_AT;
}

static struct operand payload(uint32_t bits)
{
    return csl_known(csl_int_value(&csl_u32, bits));
}

static struct operand encode_single(struct sema *s, const struct node *n, struct operand *args)
{
    if (!args[0].known || args[0].v.type != &csl_opcode)
        FAIL(s, n, "the command is an opcode that is known when compiling");
    uint32_t bits = CONTROL_HAS_DATA | entry(s, n, &args[2], false) | (uint32_t)args[0].v.i;
    bits |= known_bool(s, n, &args[1]) ? CONTROL_IGNORE : 0;
    struct operand data = csl_coerce(s, n, args[3], &csl_u16);
    if (data.known)
        return payload(bits | (uint32_t)data.v.i << CONTROL_DATA_AT);
    uint16_t from = csl_in_reg(s, n, &data), to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_CONTROL, COST_ALU32);
    i->a = to;
    i->b = from;
    i->imm = (int32_t)bits;
    return csl_in(&csl_u32, to);
}

static int64_t item(const struct value *array, uint32_t i)
{
    const struct type *of = array->type->element;
    return array->bytes != NULL ? csl_load_value(of, array->bytes + (size_t)i * csl_size(of)).i : 0;
}

static struct operand encode_commands(struct sema *s, const struct node *n, struct operand *args)
{
    struct operand number = csl_coerce(s, n, args[0], &csl_u16);
    const struct type *commands = args[1].v.type, *ignores = args[2].v.type;
    if (!number.known || number.v.i > CONTROL_COMMANDS)
        FAIL(s, n, "a payload has up to %d commands", CONTROL_COMMANDS);
    uint32_t count = (uint32_t)number.v.i;
    if (!args[1].known || commands->kind != T_ARRAY || commands->element != &csl_opcode ||
        commands->count != count || !args[2].known || ignores->kind != T_ARRAY ||
        ignores->element != &csl_bool || ignores->count != count)
        FAIL(s, n, "the commands are [%u]opcode and [%u]bool that are known when compiling", count,
             count);
    uint32_t bits = entry(s, n, &args[4], false), rest = known_bool(s, n, &args[3]);
    for (uint32_t i = 0; i < CONTROL_COMMANDS; i++) {
        uint32_t command = i < count ? (uint32_t)item(&args[1].v, i) : CONTROL_NOP;
        bool ignore = i < count ? item(&args[2].v, i) != 0 : rest;
        bits |= (command | (ignore ? CONTROL_IGNORE : 0)) << 3 * i;
    }
    return payload(bits);
}

struct operand csl_control_call(struct sema *s, const struct node *n, struct str name,
                                struct operand *args, size_t count)
{
    if (count == 1)
        return payload(entry(s, n, &args[0], true));
    return csl_str_is(name, "encode_payload") ? encode_commands(s, n, args)
                                              : encode_single(s, n, args);
}

static void bind_control(struct sema *s, const struct node *n)
{
    csl_only(s, n, WHERE_TOP, "top-level comptime block");
    csl_arguments(s, n, 2, 2);
    const struct fn *fn = csl_task_of(s, n->kid[0]);
    int64_t id = csl_known_expr(s, n->kid[1], &csl_control_task).i;
    const struct type *t = csl_signature(s, fn);
    if (id >= 33 && id <= 37)
        FAIL(s, n, "control_task_id %lld is reserved for <memcpy>", (long long)id);
    if (t->param_count > 1 || (t->param_count == 1 && !csl_is_word(t->params[0], 16)))
        FAIL(s, n, "a control task has no argument, or a number of 16 bits");
    if (s->program->control_task[id] != NO_ID)
        FAIL(s, n, "control task %lld is bound already", (long long)id);
    s->program->control_task[id] = 0;
    s->program->control_codes[id] = t->param_count > 0 ? (uint8_t)csl_code(t->params[0]) : TC_U16;
    csl_defer(s, n, fn, DEFER_CONTROL, (size_t)id, t->param_count);
}

bool csl_control_builtin(struct sema *s, const struct node *n, struct operand *result)
{
    if (csl_str_is(n->text, "get_control_task_id"))
        *result = csl_make_handle(s, n, &csl_control_task, 0, CONTROL_TASKS - 1);
    else if (csl_str_is(n->text, "bind_control_task"))
        bind_control(s, n);
    else
        return false;
    return true;
}

/* opcode.NAME */
struct value csl_opcode_value(struct sema *s, const struct node *n, struct str name)
{
    static const char *const names[] = {"NOP", "SWITCH_ADV", "SWITCH_RST", "TEARDOWN"};
    for (unsigned i = 0; i < COUNT(names); i++)
        if (csl_str_is(name, names[i]))
            return csl_int_value(&csl_opcode, i);
    FAIL(s, n, "there is no opcode '%.*s'", STR_ARG(name));
}
