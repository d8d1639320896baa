/* parser.c - declarations and statements. */
#include <string.h>

#include "parser.h"

void csl_advance(struct parser *p)
{
    p->now = p->next;
    p->next = csl_lex(&p->lexer);
}

bool csl_accept(struct parser *p, enum token_kind kind)
{
    if (p->now.kind != kind)
        return false;
    csl_advance(p);
    return true;
}

struct token csl_expect(struct parser *p, enum token_kind kind)
{
    struct token t = p->now;
    if (t.kind != kind && t.kind == TOK_IDENT)
        csl_fail_at(p->arena, t.pos, "expected %s, found '%.*s'", csl_token_name(kind),
                    STR_ARG(t.text));
    if (t.kind != kind)
        csl_fail_at(p->arena, t.pos, "expected %s, found %s", csl_token_name(kind),
                    csl_token_name(t.kind));
    csl_advance(p);
    return t;
}

void csl_enter(struct parser *p)
{
    if (++p->depth > NESTING_MAX)
        csl_fail_at(p->arena, p->now.pos, "nested more than %d deep", NESTING_MAX);
}

struct node *csl_node(struct parser *p, enum node_kind kind, struct pos pos)
{
    struct node *n = csl_alloc(p->arena, sizeof *n);
    n->kind = kind;
    n->pos = pos;
    return n;
}

void csl_append(struct parser *p, struct list *list, struct node *item)
{
    list->items = csl_grow(p->arena, list->items, list->count, &list->capacity, sizeof item);
    list->items[list->count++] = item;
}

struct node *csl_close(struct node *node, const struct list *list)
{
    node->kid = list->items;
    node->count = list->count;
    return node;
}

struct node *csl_with(struct parser *p, struct node *node, size_t count, struct node *const *kids)
{
    node->kid = csl_alloc_array(p->arena, count, sizeof *kids);
    memcpy(node->kid, kids, count * sizeof *kids);
    node->count = count;
    return node;
}

static bool is_assignment(enum token_kind kind)
{
    return kind == TOK_SET || (kind >= TOK_SHL_SET && kind <= TOK_XOR_SET);
}

/* Parses an expression or an assignment (which is no expression). */
static struct node *parse_simple(struct parser *p)
{
    struct node *left = csl_parse_expr(p);
    if (!is_assignment(p->now.kind))
        return left;
    struct node *n = csl_node(p, N_ASSIGN, p->now.pos);
    n->op = p->now.kind;
    csl_advance(p);
    struct node *kids[] = {left, csl_parse_expr(p)};
    return csl_with(p, n, 2, kids);
}

static struct node *parse_var(struct parser *p)
{
    struct node *n = csl_node(p, N_VAR, p->now.pos);
    if (csl_accept(p, TOK_COMPTIME))
        n->flags = NODE_COMPTIME;
    n->op = p->now.kind;
    if (n->op != TOK_CONST && n->op != TOK_VAR && n->op != TOK_PARAM)
        csl_expect(p, TOK_VAR);
    csl_advance(p);
    n->text = csl_expect(p, TOK_IDENT).text;
    struct node *kids[2] = {NULL, NULL};
    if (csl_accept(p, TOK_COLON))
        kids[0] = csl_parse_type(p);
    if (csl_accept(p, TOK_ALIGN)) {
        csl_expect(p, TOK_LPAREN);
        struct token align = csl_expect(p, TOK_INT);
        if (align.i <= 0 || align.i > 512 || (align.i & (align.i - 1)) != 0)
            csl_fail_at(p->arena, align.pos, "alignment must be a power of two up to 512");
        n->i = align.i;
        csl_expect(p, TOK_RPAREN);
    }
    if (csl_accept(p, TOK_SET))
        kids[1] = csl_parse_expr(p);
    else if (n->op == TOK_CONST || (n->op == TOK_VAR && kids[0] == NULL))
        csl_fail_at(p->arena, n->pos, "'%.*s' needs %s", STR_ARG(n->text),
                    n->op == TOK_CONST ? "a value" : "a type or a value");
    csl_expect(p, TOK_SEMICOLON);
    return csl_with(p, n, 2, kids);
}

static bool is_block(const struct node *n)
{
    switch (n->kind) {
    case N_BLOCK:
    case N_WHILE:
    case N_FOR:
    case N_SWITCH:
        return true;
    case N_COMPTIME:
        return is_block(n->kid[0]);
    case N_IF:
        return is_block(n->kid[2] != NULL ? n->kid[2] : n->kid[1]);
    default:
        return false;
    }
}

static struct node *parse_while(struct parser *p, struct str label)
{
    struct node *n = csl_node(p, N_WHILE, p->now.pos);
    n->text = label;
    csl_expect(p, TOK_WHILE);
    csl_expect(p, TOK_LPAREN);
    struct node *kids[3] = {csl_parse_expr(p), NULL, NULL};
    csl_expect(p, TOK_RPAREN);
    if (csl_accept(p, TOK_COLON)) {
        csl_expect(p, TOK_LPAREN);
        kids[1] = parse_simple(p);
        csl_expect(p, TOK_RPAREN);
    }
    kids[2] = csl_parse_body(p);
    return csl_with(p, n, 3, kids);
}

static struct node *parse_for(struct parser *p, struct str label)
{
    struct node *n = csl_node(p, N_FOR, p->now.pos);
    n->text = label;
    csl_expect(p, TOK_FOR);
    csl_expect(p, TOK_LPAREN);
    struct node *kids[2] = {csl_parse_expr(p), NULL};
    csl_expect(p, TOK_RPAREN);
    csl_expect(p, TOK_OR);
    n->names = csl_alloc_array(p->arena, 2, sizeof *n->names);
    do {
        if (n->name_count == 2)
            csl_fail_at(p->arena, p->now.pos, "a for statement names an element and an index");
        n->names[n->name_count++] = csl_expect(p, TOK_IDENT).text;
    } while (csl_accept(p, TOK_COMMA));
    csl_expect(p, TOK_OR);
    kids[1] = csl_parse_body(p);
    return csl_with(p, n, 2, kids);
}

static struct node *parse_jump(struct parser *p)
{
    struct token t = p->now;
    struct node *value = NULL;
    csl_advance(p);
    struct node *n = csl_node(p,
                              t.kind == TOK_BREAK      ? N_BREAK
                              : t.kind == TOK_CONTINUE ? N_CONTINUE
                                                       : N_RETURN,
                              t.pos);
    if (t.kind != TOK_RETURN && csl_accept(p, TOK_COLON))
        n->text = csl_expect(p, TOK_IDENT).text;
    if (t.kind != TOK_CONTINUE && p->now.kind != TOK_SEMICOLON && p->now.kind != TOK_ELSE &&
        p->now.kind != TOK_COMMA && p->now.kind != TOK_RBRACE)
        value = csl_parse_expr(p);
    return csl_with(p, n, 1, &value);
}

struct node *csl_parse_body(struct parser *p)
{
    csl_enter(p);
    struct str label = {0};
    struct node *n;
    if (p->now.kind == TOK_IDENT && p->next.kind == TOK_COLON) {
        label = p->now.text;
        csl_advance(p);
        csl_advance(p);
        if (p->now.kind != TOK_FOR && p->now.kind != TOK_WHILE && p->now.kind != TOK_LBRACE)
            csl_fail_at(p->arena, p->now.pos, "a label stands before a loop or a block");
    }
    switch (p->now.kind) {
    case TOK_LBRACE:
        n = csl_parse_block(p, label);
        break;
    case TOK_IF:
        n = csl_parse_if(p, true);
        break;
    case TOK_SWITCH:
        n = csl_parse_switch(p, true);
        break;
    case TOK_WHILE:
        n = parse_while(p, label);
        break;
    case TOK_FOR:
        n = parse_for(p, label);
        break;
    case TOK_BREAK:
    case TOK_CONTINUE:
    case TOK_RETURN:
        n = parse_jump(p);
        break;
    case TOK_COMPTIME:
        if (p->next.kind == TOK_LBRACE) {
            n = csl_node(p, N_COMPTIME, p->now.pos);
            csl_advance(p);
            struct node *block = csl_parse_block(p, label);
            n = csl_with(p, n, 1, &block);
            break;
        }
        n = parse_simple(p);
        break;
    default:
        n = parse_simple(p);
        break;
    }
    p->depth--;
    return n;
}

static struct node *parse_statement(struct parser *p)
{
    enum token_kind kind = p->now.kind, next = p->next.kind;
    if (kind == TOK_CONST || kind == TOK_VAR ||
        (kind == TOK_COMPTIME && (next == TOK_VAR || next == TOK_CONST)))
        return parse_var(p);
    if (kind == TOK_PARAM || kind == TOK_FN || kind == TOK_TASK)
        csl_fail_at(p->arena, p->now.pos, "'%s' stands at the top level", csl_token_name(kind));
    struct node *n = csl_parse_body(p);
    if (is_block(n))
        csl_accept(p, TOK_SEMICOLON);
    else
        csl_expect(p, TOK_SEMICOLON);
    return n;
}

struct node *csl_parse_block(struct parser *p, struct str label)
{
    struct node *n = csl_node(p, N_BLOCK, p->now.pos);
    n->text = label;
    csl_enter(p);
    csl_expect(p, TOK_LBRACE);
    struct list list = {0};
    while (!csl_accept(p, TOK_RBRACE))
        csl_append(p, &list, parse_statement(p));
    p->depth--;
    return csl_close(n, &list);
}

struct node *csl_parse_if(struct parser *p, bool statement)
{
    struct node *n = csl_node(p, N_IF, p->now.pos);
    csl_enter(p);
    csl_expect(p, TOK_IF);
    csl_expect(p, TOK_LPAREN);
    struct node *kids[3] = {csl_parse_expr(p), NULL, NULL};
    csl_expect(p, TOK_RPAREN);
    kids[1] = statement ? csl_parse_body(p) : csl_parse_expr(p);
    /* "if (c) f(); else g();" has its ";" before the else */
    if (statement && p->now.kind == TOK_SEMICOLON && p->next.kind == TOK_ELSE)
        csl_advance(p);
    if (csl_accept(p, TOK_ELSE))
        kids[2] = statement ? csl_parse_body(p) : csl_parse_expr(p);
    p->depth--;
    return csl_with(p, n, 3, kids);
}

struct node *csl_parse_switch(struct parser *p, bool statement)
{
    struct node *n = csl_node(p, N_SWITCH, p->now.pos);
    struct list list = {0};
    csl_enter(p);
    csl_expect(p, TOK_SWITCH);
    csl_expect(p, TOK_LPAREN);
    csl_append(p, &list, csl_parse_expr(p));
    csl_expect(p, TOK_RPAREN);
    csl_expect(p, TOK_LBRACE);
    while (!csl_accept(p, TOK_RBRACE)) {
        struct node *branch = csl_node(p, N_CASE, p->now.pos);
        struct list values = {0};
        if (!csl_accept(p, TOK_ELSE))
            do {
                csl_append(p, &values, csl_parse_expr(p));
            } while (csl_accept(p, TOK_COMMA));
        csl_expect(p, TOK_FAT_ARROW);
        csl_append(p, &values, statement ? csl_parse_body(p) : csl_parse_expr(p));
        csl_append(p, &list, csl_close(branch, &values));
        if (!csl_accept(p, TOK_COMMA)) {
            csl_expect(p, TOK_RBRACE);
            break;
        }
    }
    p->depth--;
    return csl_close(n, &list);
}

static struct node *parse_fn(struct parser *p)
{
    struct node *n = csl_node(p, N_FN, p->now.pos);
    struct list list = {0};
    if (csl_accept(p, TOK_INLINE))
        n->flags |= NODE_INLINE;
    if (p->now.kind == TOK_TASK)
        n->flags |= NODE_TASK;
    else if (p->now.kind != TOK_FN)
        csl_expect(p, TOK_FN);
    csl_advance(p);
    n->text = csl_expect(p, TOK_IDENT).text;
    csl_expect(p, TOK_LPAREN);
    while (!csl_accept(p, TOK_RPAREN)) {
        struct node *param = csl_node(p, N_PARAM, p->now.pos);
        if (csl_accept(p, TOK_COMPTIME))
            param->flags = NODE_COMPTIME;
        param->text = csl_expect(p, TOK_IDENT).text;
        csl_expect(p, TOK_COLON);
        struct node *type = csl_parse_type(p);
        csl_append(p, &list, csl_with(p, param, 1, &type));
        if (!csl_accept(p, TOK_COMMA)) {
            csl_expect(p, TOK_RPAREN);
            break;
        }
    }
    csl_append(p, &list, csl_parse_type(p));
    csl_append(p, &list, csl_parse_block(p, (struct str){0}));
    return csl_close(n, &list);
}

static struct node *parse_top(struct parser *p)
{
    struct token t = p->now;
    struct node *n, *block;
    switch (t.kind) {
    case TOK_CONST:
    case TOK_VAR:
    case TOK_PARAM:
        return parse_var(p);
    case TOK_FN:
    case TOK_TASK:
    case TOK_INLINE:
        return parse_fn(p);
    case TOK_COMPTIME:
    case TOK_LAYOUT:
        csl_advance(p);
        n = csl_node(p, t.kind == TOK_LAYOUT ? N_LAYOUT : N_COMPTIME, t.pos);
        block = csl_parse_block(p, (struct str){0});
        csl_accept(p, TOK_SEMICOLON);
        return csl_with(p, n, 1, &block);
    case TOK_EXPORT:
        csl_advance(p);
        if (p->now.kind != TOK_VAR && p->now.kind != TOK_CONST)
            csl_fail_at(p->arena, t.pos, "'export' is for variables: others are not in the subset");
        n = parse_var(p);
        n->flags |= NODE_EXPORT;
        return n;
    case TOK_EXTERN:
        csl_fail_at(p->arena, t.pos, "'%s' is not in the subset", csl_token_name(t.kind));
    default:
        csl_fail_at(p->arena, t.pos, "a declaration cannot begin with %s", csl_token_name(t.kind));
    }
}

struct file *csl_parse(struct arena *arena, const struct source *source)
{
    struct parser p = {.arena = arena};
    struct list list = {0};
    csl_lex_start(&p.lexer, arena, source);
    csl_advance(&p);
    csl_advance(&p);
    while (p.now.kind != TOK_END)
        csl_append(&p, &list, parse_top(&p));
    struct file *file = csl_alloc(arena, sizeof *file);
    *file = (struct file){source, list.count, list.items};
    return file;
}
