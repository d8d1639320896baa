/* ast.h - the syntax tree of a CSL file. */
#ifndef CSL_AST_H
#define CSL_AST_H

#include "lexer.h"

enum node_kind {
    /* expressions; what kid[] holds is behind */
    N_INT,        /* i */
    N_FLOAT,      /* f */
    N_STRING,     /* text */
    N_BOOL,       /* i */
    N_IDENT,      /* text */
    N_BUILTIN,    /* text; arguments */
    N_CALL,       /* function, arguments */
    N_INDEX,      /* array, indices */
    N_FIELD,      /* text; struct or module */
    N_DEREF,      /* pointer */
    N_ADDRESS,    /* place */
    N_UNARY,      /* op: TOK_SUB, TOK_NOT, TOK_INVERT; operand */
    N_BINARY,     /* op; two operands */
    N_STRUCT,     /* values; names[i] of each, or names NULL: a tuple */
    N_ARRAY_TYPE, /* dimensions, element type */
    N_POINTER,    /* flags NODE_MANY, NODE_CONST; element type */
    N_FN_TYPE,    /* parameter types, result type */
    N_ARRAY,      /* array type, elements */
    N_TENSOR,     /* names[]: induction variables; names_count lengths, base, indices */
    N_COMPTIME,   /* expression or block */
    /* both */
    N_IF,     /* condition, then, else or NULL */
    N_BLOCK,  /* text: label or empty; statements */
    N_SWITCH, /* input, then N_CASE */
    N_CASE,   /* values (none: else), last kid: what to do */
    /* statements */
    N_VAR,      /* text; op TOK_CONST, TOK_VAR, TOK_PARAM; flags NODE_COMPTIME, NODE_EXPORT; type or
                   NULL, initializer or NULL */
    N_ASSIGN,   /* op TOK_SET, TOK_ADD_SET ...; place, value */
    N_WHILE,    /* text: label; condition, step or NULL, body */
    N_FOR,      /* text: label; names[0..1]; what to run over, body */
    N_BREAK,    /* text: label or empty; value or NULL */
    N_CONTINUE, /* text: label or empty */
    N_RETURN,   /* value or NULL */
    /* top level */
    N_FN,    /* text; flags NODE_TASK, NODE_INLINE; N_PARAMs, result type, body */
    N_PARAM, /* text; flags NODE_COMPTIME; type */
    N_LAYOUT /* block */
};

enum {
    NODE_MANY = 1,
    NODE_CONST = 2,
    NODE_COMPTIME = 4,
    NODE_TASK = 8,
    NODE_INLINE = 16,
    NODE_EXPORT = 32
};

struct node {
    enum node_kind kind;
    enum token_kind op;
    unsigned flags;
    struct pos pos;
    struct str text;
    int64_t i;
    double f;
    size_t count;
    struct node **kid;
    size_t name_count;
    struct str *names;
};

/* A parsed file: N_VAR, N_FN, N_COMPTIME and N_LAYOUT in order. */
struct file {
    const struct source *source;
    size_t count;
    struct node **decls;
};

struct file *csl_parse(struct arena *arena, const struct source *source);

#endif
