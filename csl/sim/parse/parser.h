/* parser.h - what the parser's two files share. */
#ifndef CSL_PARSER_H
#define CSL_PARSER_H

#include "ast.h"

/* The limit for nested expressions and blocks, since each level takes the host's stack. */
#define NESTING_MAX 200

struct parser {
    struct arena *arena;
    struct lexer lexer;
    struct token now, next;
    unsigned depth;
};

struct list {
    struct node **items;
    size_t count, capacity;
};

void csl_advance(struct parser *p);
bool csl_accept(struct parser *p, enum token_kind kind);
struct token csl_expect(struct parser *p, enum token_kind kind);
void csl_enter(struct parser *p); /* one level deeper */
struct node *csl_node(struct parser *p, enum node_kind kind, struct pos pos);
void csl_append(struct parser *p, struct list *list, struct node *item);
struct node *csl_close(struct node *node, const struct list *list);
struct node *csl_with(struct parser *p, struct node *node, size_t count, struct node *const *kids);

struct node *csl_parse_expr(struct parser *p);
struct node *csl_parse_type(struct parser *p); /* no { after it */
struct node *csl_parse_block(struct parser *p, struct str label);
struct node *csl_parse_if(struct parser *p, bool statement);
struct node *csl_parse_switch(struct parser *p, bool statement);
/* A statement as the body of if, while, for or switch, without the ";" behind an expression. */
struct node *csl_parse_body(struct parser *p);

#endif
