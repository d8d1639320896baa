/* lexer.c - CSL source to tokens. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lexer.h"

struct word {
    const char *text;
    enum token_kind kind;
};

#define X(name, text) {text, TOK_##name},
static const struct word punctuation[] = {CSL_PUNCTUATION(X)};
static const struct word keywords[] = {CSL_KEYWORDS(X)};
#undef X

void csl_lex_start(struct lexer *lx, struct arena *arena, const struct source *source)
{
    *lx = (struct lexer){.arena = arena, .source = source, .line = 1};
}

static int at(const struct lexer *lx, size_t ahead)
{
    size_t i = lx->at + ahead;
    return i < lx->source->size ? (unsigned char)lx->source->text[i] : -1;
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int digit_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

static struct pos here(const struct lexer *lx)
{
    return (struct pos){lx->source, lx->line, (uint32_t)(lx->at - lx->line_start + 1)};
}

static void skip_space(struct lexer *lx)
{
    for (;;) {
        int c = at(lx, 0);
        if (c == '\n') {
            lx->at++;
            lx->line++;
            lx->line_start = lx->at;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lx->at++;
        } else if (c == '/' && at(lx, 1) == '/') {
            while (at(lx, 0) != '\n' && at(lx, 0) >= 0)
                lx->at++;
        } else {
            return;
        }
    }
}

static void lex_float(struct lexer *lx, struct token *t)
{
    char digits[64];
    size_t n = 0;
    for (;;) {
        int c = at(lx, 0);
        bool sign =
            (c == '+' || c == '-') && n > 0 && (digits[n - 1] == 'e' || digits[n - 1] == 'E');
        if (!sign && c != '.' && !is_letter(c) && digit_value(c) > 9)
            break;
        if (n + 1 == sizeof digits)
            csl_fail_at(lx->arena, t->pos, "number with too many digits");
        if (c != '_')
            digits[n++] = (char)c;
        lx->at++;
    }
    digits[n] = '\0';
    char *end;
    t->kind = TOK_FLOAT;
    t->f = strtod(digits, &end);
    if (*end != '\0')
        csl_fail_at(lx->arena, t->pos, "'%s' is not a number", digits);
}

static void lex_number(struct lexer *lx, struct token *t)
{
    int base = 10;
    if (at(lx, 0) == '0' && (at(lx, 1) == 'x' || at(lx, 1) == 'b' || at(lx, 1) == 'o')) {
        base = at(lx, 1) == 'x' ? 16 : at(lx, 1) == 'b' ? 2 : 8;
        lx->at += 2;
    } else {
        size_t i = 0;
        while (digit_value(at(lx, i)) < 10 || at(lx, i) == '_')
            i++;
        bool exponent = at(lx, i) == 'e' || at(lx, i) == 'E';
        if (exponent || (at(lx, i) == '.' && digit_value(at(lx, i + 1)) < 10)) {
            lex_float(lx, t);
            return;
        }
    }
    uint64_t value = 0;
    size_t digits = 0;
    for (;; lx->at++) {
        int c = at(lx, 0);
        if (c == '_')
            continue;
        int d = digit_value(c);
        if (d >= base) {
            if (d < 16 || is_letter(c) || digits == 0)
                csl_fail_at(lx->arena, t->pos, "not a number of base %d", base);
            break;
        }
        if (value > ((uint64_t)INT64_MAX - (uint64_t)d) / (uint64_t)base)
            csl_fail_at(lx->arena, t->pos, "number does not fit in 63 bits");
        value = value * (uint64_t)base + (uint64_t)d;
        digits++;
    }
    t->kind = TOK_INT;
    t->i = (int64_t)value;
}

/* One character of a string or character literal. */
static char lex_char(struct lexer *lx, struct pos pos)
{
    int c = at(lx, 0);
    if (c < 0 || c == '\n')
        csl_fail_at(lx->arena, pos, "literal is not closed on its line");
    lx->at++;
    if (c != '\\')
        return (char)c;
    c = at(lx, 0);
    lx->at++;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '\\':
    case '\'':
    case '"':
        return (char)c;
    case 'x':
        if (digit_value(at(lx, 0)) < 16 && digit_value(at(lx, 1)) < 16) {
            int value = digit_value(at(lx, 0)) * 16 + digit_value(at(lx, 1));
            lx->at += 2;
            return (char)value;
        }
        break;
    default:
        break;
    }
    csl_fail_at(lx->arena, pos, "unknown escape in a literal");
}

static void lex_string(struct lexer *lx, struct token *t)
{
    size_t close = 1;
    while (at(lx, close) != '"' && at(lx, close) >= 0 && at(lx, close) != '\n')
        close += at(lx, close) == '\\' ? 2 : 1;
    char *text = csl_alloc(lx->arena, close + 1);
    size_t n = 0;
    lx->at++;
    while (at(lx, 0) != '"')
        text[n++] = lex_char(lx, t->pos);
    lx->at++;
    t->kind = TOK_STRING;
    t->text = (struct str){text, n};
}

static void lex_word(struct lexer *lx, struct token *t)
{
    size_t start = lx->at;
    while (is_letter(at(lx, 0)) || digit_value(at(lx, 0)) < 10)
        lx->at++;
    t->text = (struct str){lx->source->text + start, lx->at - start};
    if (t->kind == TOK_BUILTIN)
        return;
    t->kind = TOK_IDENT;
    for (size_t i = 0; i < COUNT(keywords); i++)
        if (csl_str_is(t->text, keywords[i].text))
            t->kind = keywords[i].kind;
}

struct token csl_lex(struct lexer *lx)
{
    skip_space(lx);
    struct token t = {.kind = TOK_END, .pos = here(lx)};
    int c = at(lx, 0);
    if (c < 0)
        return t;
    if (is_letter(c)) {
        lex_word(lx, &t);
        return t;
    }
    if (c == '@' && is_letter(at(lx, 1))) {
        lx->at++;
        t.kind = TOK_BUILTIN;
        lex_word(lx, &t);
        return t;
    }
    if (digit_value(c) < 10) {
        lex_number(lx, &t);
        return t;
    }
    if (c == '"') {
        lex_string(lx, &t);
        return t;
    }
    if (c == '\'') {
        lx->at++;
        t.kind = TOK_INT;
        t.i = (unsigned char)lex_char(lx, t.pos);
        if (at(lx, 0) != '\'')
            csl_fail_at(lx->arena, t.pos, "character literal is not closed");
        lx->at++;
        return t;
    }
    for (size_t i = 0; i < COUNT(punctuation); i++) {
        size_t n = strlen(punctuation[i].text);
        if (n <= lx->source->size - lx->at &&
            memcmp(lx->source->text + lx->at, punctuation[i].text, n) == 0) {
            t.kind = punctuation[i].kind;
            lx->at += n;
            return t;
        }
    }
    csl_fail_at(lx->arena, t.pos, "character 0x%02x cannot stand here", (unsigned)c);
}

const char *csl_token_name(enum token_kind kind)
{
    for (size_t i = 0; i < COUNT(punctuation); i++)
        if (punctuation[i].kind == kind)
            return punctuation[i].text;
    for (size_t i = 0; i < COUNT(keywords); i++)
        if (keywords[i].kind == kind)
            return keywords[i].text;
    return kind == TOK_END      ? "the end of the file"
           : kind == TOK_IDENT  ? "a name"
           : kind == TOK_STRING ? "a string"
                                : "a value";
}
