/* lexer.h - CSL source to tokens. */
#ifndef CSL_LEXER_H
#define CSL_LEXER_H

#include "base.h"

/* Punctuation and operators: name, text. A longer operator comes before those with which it begins.
 */
#define CSL_PUNCTUATION(X)                                                                         \
    X(SHL_SET, "<<=")                                                                              \
    X(SHR_SET, ">>=")                                                                              \
    X(ADD_SET, "+=")                                                                               \
    X(SUB_SET, "-=")                                                                               \
    X(MUL_SET, "*=")                                                                               \
    X(DIV_SET, "/=")                                                                               \
    X(REM_SET, "%=")                                                                               \
    X(AND_SET, "&=")                                                                               \
    X(OR_SET, "|=")                                                                                \
    X(XOR_SET, "^=")                                                                               \
    X(SHL, "<<")                                                                                   \
    X(SHR, ">>")                                                                                   \
    X(LE, "<=")                                                                                    \
    X(GE, ">=")                                                                                    \
    X(EQ, "==")                                                                                    \
    X(NE, "!=")                                                                                    \
    X(ARROW, "->")                                                                                 \
    X(FAT_ARROW, "=>")                                                                             \
    X(ADD, "+")                                                                                    \
    X(SUB, "-")                                                                                    \
    X(MUL, "*")                                                                                    \
    X(DIV, "/")                                                                                    \
    X(REM, "%")                                                                                    \
    X(AND, "&")                                                                                    \
    X(OR, "|")                                                                                     \
    X(XOR, "^")                                                                                    \
    X(LT, "<")                                                                                     \
    X(GT, ">")                                                                                     \
    X(SET, "=")                                                                                    \
    X(NOT, "!")                                                                                    \
    X(INVERT, "~")                                                                                 \
    X(DOT, ".")                                                                                    \
    X(COMMA, ",")                                                                                  \
    X(SEMICOLON, ";")                                                                              \
    X(COLON, ":")                                                                                  \
    X(LPAREN, "(")                                                                                 \
    X(RPAREN, ")")                                                                                 \
    X(LBRACE, "{")                                                                                 \
    X(RBRACE, "}")                                                                                 \
    X(LBRACKET, "[")                                                                               \
    X(RBRACKET, "]")

#define CSL_KEYWORDS(X)                                                                            \
    X(ALIGN, "align")                                                                              \
    X(LAND, "and")                                                                                 \
    X(BREAK, "break")                                                                              \
    X(COMPTIME, "comptime")                                                                        \
    X(CONST, "const")                                                                              \
    X(CONTINUE, "continue")                                                                        \
    X(ELSE, "else")                                                                                \
    X(FALSE, "false")                                                                              \
    X(FN, "fn")                                                                                    \
    X(FOR, "for")                                                                                  \
    X(IF, "if")                                                                                    \
    X(INLINE, "inline")                                                                            \
    X(LAYOUT, "layout")                                                                            \
    X(LOR, "or")                                                                                   \
    X(PARAM, "param")                                                                              \
    X(RETURN, "return")                                                                            \
    X(SWITCH, "switch")                                                                            \
    X(TASK, "task")                                                                                \
    X(TRUE, "true")                                                                                \
    X(VAR, "var")                                                                                  \
    X(WHILE, "while")                                                                              \
    X(ASM, "asm")                                                                                  \
    X(ENUM, "enum")                                                                                \
    X(EXPORT, "export")                                                                            \
    X(EXTERN, "extern")                                                                            \
    X(STRUCT, "struct")                                                                            \
    X(LINKSECTION, "linksection")                                                                  \
    X(LINKNAME, "linkname")

#define X(name, text) TOK_##name,
enum token_kind {
    TOK_END,
    TOK_IDENT,
    TOK_BUILTIN, /* @name; text has no @ */
    TOK_INT,
    TOK_FLOAT,
    TOK_STRING, /* text is the character's value */
    CSL_PUNCTUATION(X) CSL_KEYWORDS(X)
};
#undef X

struct token {
    enum token_kind kind;
    struct pos pos;
    struct str text;
    int64_t i;
    double f;
};

struct lexer {
    struct arena *arena;
    const struct source *source;
    size_t at;
    uint32_t line;
    size_t line_start;
};

void csl_lex_start(struct lexer *lx, struct arena *arena, const struct source *source);
struct token csl_lex(struct lexer *lx);
const char *csl_token_name(enum token_kind kind);

#endif
