/* parse_expr.c - expressions. */
#include "parser.h"

static struct node *parse_unary(struct parser *p, bool type_only);

/* Parses { a, b, c } into kids of node, behind those in list. */
static struct node *parse_values(struct parser *p, struct node *node, struct list *list,
                                 enum token_kind close)
{
    while (!csl_accept(p, close)) {
        csl_append(p, list, csl_parse_expr(p));
        if (!csl_accept(p, TOK_COMMA)) {
            csl_expect(p, close);
            break;
        }
    }
    return csl_close(node, list);
}

static struct node *parse_struct(struct parser *p, struct pos pos)
{
    struct node *n = csl_node(p, N_STRUCT, pos);
    struct list list = {0};
    if (p->now.kind != TOK_DOT || p->next.kind != TOK_IDENT)
        return parse_values(p, n, &list, TOK_RBRACE);
    size_t capacity = 0;
    while (csl_accept(p, TOK_DOT)) {
        struct token name = csl_expect(p, TOK_IDENT);
        for (size_t i = 0; i < n->name_count; i++)
            if (csl_str_same(n->names[i], name.text))
                csl_fail_at(p->arena, name.pos, "field '%.*s' is given twice", STR_ARG(name.text));
        n->names = csl_grow(p->arena, n->names, n->name_count, &capacity, sizeof *n->names);
        n->names[n->name_count++] = name.text;
        csl_expect(p, TOK_SET);
        csl_append(p, &list, csl_parse_expr(p));
        if (!csl_accept(p, TOK_COMMA))
            break;
    }
    csl_expect(p, TOK_RBRACE);
    return csl_close(n, &list);
}

/* |i, j|{n, m} -> base[affine, ...] */
static struct node *parse_tensor(struct parser *p)
{
    struct node *n = csl_node(p, N_TENSOR, p->now.pos);
    struct list list = {0};
    size_t capacity = 0;
    csl_expect(p, TOK_OR);
    do {
        struct token name = csl_expect(p, TOK_IDENT);
        n->names = csl_grow(p->arena, n->names, n->name_count, &capacity, sizeof *n->names);
        n->names[n->name_count++] = name.text;
    } while (csl_accept(p, TOK_COMMA));
    csl_expect(p, TOK_OR);
    csl_expect(p, TOK_LBRACE);
    do {
        csl_append(p, &list, csl_parse_expr(p));
    } while (csl_accept(p, TOK_COMMA));
    csl_expect(p, TOK_RBRACE);
    if (list.count != n->name_count)
        csl_fail_at(p->arena, n->pos, "a tensor access needs one length for each variable");
    csl_expect(p, TOK_ARROW);
    struct token base = csl_expect(p, TOK_IDENT);
    struct node *array = csl_node(p, N_IDENT, base.pos);
    array->text = base.text;
    while (p->now.kind == TOK_DOT) { /* module.array, pointer.* */
        csl_advance(p);
        struct node *outer = csl_node(p, N_DEREF, base.pos);
        if (!csl_accept(p, TOK_MUL)) {
            outer->kind = N_FIELD;
            outer->text = csl_expect(p, TOK_IDENT).text;
        }
        array = csl_with(p, outer, 1, &array);
    }
    csl_append(p, &list, array);
    csl_expect(p, TOK_LBRACKET);
    return parse_values(p, n, &list, TOK_RBRACKET);
}

static struct node *parse_bracket_type(struct parser *p, bool type_only)
{
    struct pos pos = p->now.pos;
    csl_expect(p, TOK_LBRACKET);
    if (p->now.kind == TOK_MUL && p->next.kind == TOK_RBRACKET) {
        struct node *n = csl_node(p, N_POINTER, pos);
        csl_advance(p);
        csl_advance(p);
        n->flags = NODE_MANY | (csl_accept(p, TOK_CONST) ? NODE_CONST : 0u);
        struct node *element = parse_unary(p, true);
        return csl_with(p, n, 1, &element);
    }
    struct list dims = {0};
    do {
        csl_append(p, &dims, csl_parse_expr(p));
    } while (csl_accept(p, TOK_COMMA));
    csl_expect(p, TOK_RBRACKET);
    csl_append(p, &dims, parse_unary(p, true));
    struct node *type = csl_close(csl_node(p, N_ARRAY_TYPE, pos), &dims);
    if (type_only || p->now.kind != TOK_LBRACE)
        return type;
    csl_advance(p);
    struct list list = {0};
    csl_append(p, &list, type);
    return parse_values(p, csl_node(p, N_ARRAY, pos), &list, TOK_RBRACE);
}

static struct node *parse_fn_type(struct parser *p)
{
    struct node *n = csl_node(p, N_FN_TYPE, p->now.pos);
    struct list list = {0};
    csl_expect(p, TOK_FN);
    csl_expect(p, TOK_LPAREN);
    while (!csl_accept(p, TOK_RPAREN)) {
        csl_append(p, &list, csl_parse_type(p));
        if (!csl_accept(p, TOK_COMMA)) {
            csl_expect(p, TOK_RPAREN);
            break;
        }
    }
    csl_append(p, &list, csl_parse_type(p));
    return csl_close(n, &list);
}

static struct node *parse_label(struct parser *p)
{
    struct str label = p->now.text;
    csl_advance(p);
    csl_advance(p);
    if (p->now.kind != TOK_LBRACE)
        csl_fail_at(p->arena, p->now.pos, "a label in an expression stands before a block");
    return csl_parse_block(p, label);
}

/* A node that consists of this token. */
static struct node *leaf(struct parser *p, enum node_kind kind)
{
    struct node *n = csl_node(p, kind, p->now.pos);
    n->text = p->now.text;
    n->i = p->now.i;
    n->f = p->now.f;
    csl_advance(p);
    return n;
}

static struct node *parse_primary(struct parser *p, bool type_only)
{
    struct token t = p->now;
    struct node *n;
    struct list list = {0};
    switch (t.kind) {
    case TOK_INT:
        return leaf(p, N_INT);
    case TOK_FLOAT:
        return leaf(p, N_FLOAT);
    case TOK_STRING:
        return leaf(p, N_STRING);
    case TOK_TRUE:
    case TOK_FALSE:
        n = leaf(p, N_BOOL);
        n->i = t.kind == TOK_TRUE;
        return n;
    case TOK_IDENT:
        if (p->next.kind == TOK_COLON && !type_only)
            return parse_label(p);
        return leaf(p, N_IDENT);
    case TOK_BUILTIN:
        n = leaf(p, N_BUILTIN);
        csl_expect(p, TOK_LPAREN);
        return parse_values(p, n, &list, TOK_RPAREN);
    case TOK_LPAREN:
        csl_advance(p);
        n = csl_parse_expr(p);
        csl_expect(p, TOK_RPAREN);
        return n;
    case TOK_DOT:
        csl_advance(p);
        csl_expect(p, TOK_LBRACE);
        return parse_struct(p, t.pos);
    case TOK_LBRACE:
        return csl_parse_block(p, (struct str){0});
    case TOK_LBRACKET:
        return parse_bracket_type(p, type_only);
    case TOK_FN:
        return parse_fn_type(p);
    case TOK_IF:
        return csl_parse_if(p, false);
    case TOK_SWITCH:
        return csl_parse_switch(p, false);
    case TOK_OR:
        return parse_tensor(p);
    case TOK_ASM:
    case TOK_ENUM:
    case TOK_STRUCT:
        csl_fail_at(p->arena, t.pos, "'%s' is not in the subset", csl_token_name(t.kind));
    default:
        csl_fail_at(p->arena, t.pos, "an expression cannot begin with %s", csl_token_name(t.kind));
    }
}

static struct node *parse_postfix(struct parser *p, bool type_only)
{
    struct node *n = parse_primary(p, type_only);
    for (unsigned chained = 0;; chained++) {
        struct pos pos = p->now.pos;
        struct list list = {0};
        csl_enter(p); /* as in parse_binary */
        if (csl_accept(p, TOK_LPAREN)) {
            csl_append(p, &list, n);
            n = parse_values(p, csl_node(p, N_CALL, pos), &list, TOK_RPAREN);
        } else if (csl_accept(p, TOK_LBRACKET)) {
            csl_append(p, &list, n);
            n = parse_values(p, csl_node(p, N_INDEX, pos), &list, TOK_RBRACKET);
            if (n->count < 2)
                csl_fail_at(p->arena, pos, "an index is missing");
        } else if (p->now.kind == TOK_DOT && p->next.kind == TOK_MUL) {
            csl_advance(p);
            csl_advance(p);
            n = csl_with(p, csl_node(p, N_DEREF, pos), 1, &n);
        } else if (p->now.kind == TOK_DOT) {
            csl_advance(p);
            struct node *outer = csl_node(p, N_FIELD, pos);
            outer->text = csl_expect(p, TOK_IDENT).text;
            n = csl_with(p, outer, 1, &n);
        } else {
            p->depth -= chained + 1;
            return n;
        }
    }
}

static struct node *parse_unary(struct parser *p, bool type_only)
{
    csl_enter(p);
    struct token t = p->now;
    struct node *n;
    if (t.kind == TOK_MUL) {
        csl_advance(p);
        n = csl_node(p, N_POINTER, t.pos);
        n->flags = csl_accept(p, TOK_CONST) ? NODE_CONST : 0;
    } else if (!type_only && (t.kind == TOK_SUB || t.kind == TOK_NOT || t.kind == TOK_INVERT)) {
        csl_advance(p);
        n = csl_node(p, N_UNARY, t.pos);
        n->op = t.kind;
    } else if (!type_only && t.kind == TOK_AND) {
        csl_advance(p);
        n = csl_node(p, N_ADDRESS, t.pos);
    } else if (!type_only && t.kind == TOK_COMPTIME) {
        csl_advance(p);
        n = csl_node(p, N_COMPTIME, t.pos);
        struct node *inner = csl_parse_expr(p);
        p->depth--;
        return csl_with(p, n, 1, &inner);
    } else {
        n = parse_postfix(p, type_only);
        p->depth--;
        return n;
    }
    struct node *operand = parse_unary(p, type_only || t.kind == TOK_MUL);
    p->depth--;
    return csl_with(p, n, 1, &operand);
}

/* How tightly a binary operator binds; 0: it is none. Comparisons do not chain. */
enum { BIND_OR = 1, BIND_AND, BIND_COMPARE, BIND_BITS, BIND_SHIFT, BIND_ADD, BIND_MUL };

static int binding(enum token_kind kind)
{
    switch (kind) {
    case TOK_LOR:
        return BIND_OR;
    case TOK_LAND:
        return BIND_AND;
    case TOK_EQ:
    case TOK_NE:
    case TOK_LT:
    case TOK_LE:
    case TOK_GT:
    case TOK_GE:
        return BIND_COMPARE;
    case TOK_AND:
    case TOK_OR:
    case TOK_XOR:
        return BIND_BITS;
    case TOK_SHL:
    case TOK_SHR:
        return BIND_SHIFT;
    case TOK_ADD:
    case TOK_SUB:
        return BIND_ADD;
    case TOK_MUL:
    case TOK_DIV:
    case TOK_REM:
        return BIND_MUL;
    default:
        return 0;
    }
}

static struct node *parse_binary(struct parser *p, int least)
{
    struct node *left = parse_unary(p, false);
    unsigned chained = 0;
    for (;;) {
        struct token t = p->now;
        int bind = binding(t.kind);
        if (bind == 0 || bind < least) {
            p->depth -= chained;
            return left;
        }
        csl_enter(p); /* the tree leans to the left, and the compiler walks it by recursion */
        chained++;
        csl_advance(p);
        struct node *n = csl_node(p, N_BINARY, t.pos);
        n->op = t.kind;
        struct node *kids[] = {left, parse_binary(p, bind + 1)};
        left = csl_with(p, n, 2, kids);
        if (bind == BIND_COMPARE && binding(p->now.kind) == BIND_COMPARE)
            csl_fail_at(p->arena, p->now.pos, "comparisons cannot be chained");
    }
}

struct node *csl_parse_expr(struct parser *p)
{
    csl_enter(p);
    struct node *n = parse_binary(p, BIND_OR);
    p->depth--;
    return n;
}

struct node *csl_parse_type(struct parser *p)
{
    return parse_unary(p, true);
}
