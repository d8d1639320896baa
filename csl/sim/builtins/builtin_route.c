/* builtin_route.c - a color's configuration in a PE: routes, switches, filter. */
#include <string.h>

#include "sema.h"

/* memcpy has one of the four or six that a PE has. */
#define FILTERS_WSE2 5
#define FILTERS_WSE3 3

static uint8_t directions(struct sema *s, const struct node *n, const struct value *v)
{
    unsigned mask = 0;
    if (v->type == &csl_direction)
        return (uint8_t)(1u << v->i);
    if (v->type->kind != T_STRUCT || (v->fields->names != NULL && v->fields->count > 0))
        FAIL(s, n, "a route is a direction, or a tuple of directions");
    for (size_t i = 0; i < v->fields->count; i++) {
        if (v->fields->values[i].type != &csl_direction)
            FAIL(s, n, "a route has directions, not %s", TYPE(s, v->fields->values[i].type));
        unsigned bit = 1u << v->fields->values[i].i;
        if (mask & bit)
            FAIL(s, n, "a direction is given twice");
        mask |= bit;
    }
    return (uint8_t)mask;
}

static const struct tuple *fields_of(struct sema *s, const struct node *n, struct str name,
                                     const struct value *v)
{
    if (v->type->kind != T_STRUCT || (v->fields->names == NULL && v->fields->count > 0))
        FAIL(s, n, ".%.*s is a struct with named fields", STR_ARG(name));
    return v->fields;
}

static bool bool_of(struct sema *s, const struct node *n, struct str name, const struct value *v)
{
    if (v->type != &csl_bool)
        FAIL(s, n, ".%.*s is a bool, not %s", STR_ARG(name), TYPE(s, v->type));
    return v->i != 0;
}

static uint16_t number_of(struct sema *s, const struct node *n, struct str name,
                          const struct value *v, int64_t most)
{
    if (!csl_is_integer(v->type) || v->i < 0 || v->i > most)
        FAIL(s, n, ".%.*s is an integer from 0 to %lld", STR_ARG(name), (long long)most);
    return (uint16_t)v->i;
}

/* The one field of a struct that stands for an enumeration; returns its number in `names`. */
static size_t one_of(struct sema *s, const struct node *n, struct str name, const struct value *v,
                     const char *const *names)
{
    const struct tuple *t = fields_of(s, n, name, v);
    for (size_t i = 0; t->count == 1 && names[i] != NULL; i++)
        if (csl_str_is(t->names[0], names[i]) && bool_of(s, n, t->names[0], &t->values[0]))
            return i;
    FAIL(s, n, ".%.*s has one field that is true, of those in the subset", STR_ARG(name));
}

static void set_routes(struct sema *s, const struct node *n, const struct value *v, struct route *r)
{
    const struct tuple *t = fields_of(s, n, csl_str("routes"), v);
    for (size_t i = 0; i < t->count; i++) {
        if (csl_str_is(t->names[i], "rx"))
            r->rx = directions(s, n, &t->values[i]);
        else if (csl_str_is(t->names[i], "tx"))
            r->tx = directions(s, n, &t->values[i]);
        else if (csl_str_is(t->names[i], "color_swap_x"))
            r->swap_x = bool_of(s, n, t->names[i], &t->values[i]);
        else if (csl_str_is(t->names[i], "color_swap_y"))
            r->swap_y = bool_of(s, n, t->names[i], &t->values[i]);
        else
            FAIL(s, n, "routes have rx, tx, color_swap_x and color_swap_y, not '%.*s'",
                 STR_ARG(t->names[i]));
    }
    r->valid[0] = true;
    r->rx_of[0] = r->rx;
    r->tx_of[0] = r->tx;
}

static void set_position(struct sema *s, const struct node *n, struct str name,
                         const struct value *v, struct route *r)
{
    unsigned which = (unsigned)(name.p[3] - '0');
    const struct tuple *t = fields_of(s, n, name, v);
    if (t->count != 1)
        FAIL(s, n, "a switch position has one field: rx, tx or invalid");
    uint8_t *to = NULL;
    if (csl_str_is(t->names[0], "invalid")) {
        if (!bool_of(s, n, t->names[0], &t->values[0]))
            FAIL(s, n, ".invalid is always true");
        return;
    }
    r->rx_of[which] = r->rx_of[0];
    r->tx_of[which] = r->tx_of[0];
    if (csl_str_is(t->names[0], "rx"))
        to = &r->rx_of[which];
    else if (csl_str_is(t->names[0], "tx"))
        to = &r->tx_of[which];
    else
        FAIL(s, n, "a switch position has one field: rx, tx or invalid");
    *to = directions(s, n, &t->values[0]);
    /* the documents allow several directions to send to "if the target supports it", and name no
     * target */
    if (*to == 0 || (*to & (*to - 1)))
        FAIL(s, n, "a switch position has one direction");
    r->valid[which] = true;
}

static void set_switches(struct sema *s, const struct node *n, const struct value *v,
                         struct route *r, int64_t color)
{
    static const char *const pops[] = {"no_pop", "always_pop", "pop_on_advance",
                                       "pop_on_advance_nop", NULL};
    const uint32_t on_wse3 = 0x3333ff; /* colors 0 to 9, 12, 13, 16, 17, 20, 21 */
    if (s->l->arch == CSL_WSE3 && !(on_wse3 >> color & 1))
        FAIL(s, n, "on WSE-3 color %lld has no switches", (long long)color);
    const struct tuple *t = fields_of(s, n, csl_str("switches"), v);
    for (size_t i = 0; i < t->count; i++) {
        struct str name = t->names[i];
        const struct value *f = &t->values[i];
        if (csl_str_is(name, "pos1") || csl_str_is(name, "pos2") || csl_str_is(name, "pos3"))
            set_position(s, n, name, f, r);
        else if (csl_str_is(name, "current_switch_pos"))
            r->at = (uint8_t)number_of(s, n, name, f, POSITIONS - 1);
        else if (csl_str_is(name, "ring_mode"))
            r->ring = bool_of(s, n, name, f);
        else if (csl_str_is(name, "pop_mode"))
            r->pop = (enum pop_mode)one_of(s, n, name, f, pops);
        else
            FAIL(s, n, "switches have no '%.*s'", STR_ARG(name));
    }
    if (!r->valid[r->at])
        FAIL(s, n, "switch position %u is not given", r->at);
    r->rx = r->rx_of[r->at];
    r->tx = r->tx_of[r->at];
}

/* A filter that lets nothing pass, and a counter that would have to return to its limit: no
 * document says what the machine does then. */
static void check_filter(struct sema *s, const struct node *n, const struct filter *f)
{
    if (f->kind == FILTER_RANGE && f->min_index > f->max_index)
        FAIL(s, n, "the filter's min_idx %u is beyond its max_idx %u", f->min_index, f->max_index);
    if (f->kind == FILTER_COUNTER && f->counter > f->limit)
        FAIL(s, n, "the filter's init_counter %u is beyond its limit1 %u", f->counter, f->limit);
    if (f->only_control && f->max > f->limit)
        FAIL(s, n, "the filter's counter never comes to max_counter %u: limit1 is %u", f->max,
             f->limit);
}

static void set_filter(struct sema *s, const struct node *n, const struct value *v,
                       struct filter *filter)
{
    static const char *const kinds[] = {"counter", "range", NULL};
    const struct tuple *t = fields_of(s, n, csl_str("filter"), v);
    const struct value *kind = csl_field(t, "kind");
    if (kind == NULL)
        FAIL(s, n, "a filter has a .kind");
    bool range = one_of(s, n, csl_str("kind"), kind, kinds) == 1;
    filter->kind = range ? FILTER_RANGE : FILTER_COUNTER;
    for (size_t i = 0; i < t->count; i++) {
        struct str name = t->names[i];
        const struct value *f = &t->values[i];
        if (csl_str_is(name, "kind"))
            continue;
        if (range && csl_str_is(name, "min_idx"))
            filter->min_index = number_of(s, n, name, f, UINT16_MAX);
        else if (range && csl_str_is(name, "max_idx"))
            filter->max_index = number_of(s, n, name, f, UINT16_MAX);
        else if (!range && csl_str_is(name, "count_data"))
            filter->count_data = bool_of(s, n, name, f);
        else if (!range && csl_str_is(name, "count_control"))
            filter->count_control = bool_of(s, n, name, f);
        else if (!range && csl_str_is(name, "filter_control"))
            filter->only_control = bool_of(s, n, name, f);
        else if (!range && csl_str_is(name, "init_counter"))
            filter->counter = number_of(s, n, name, f, UINT16_MAX);
        else if (!range && csl_str_is(name, "limit1"))
            filter->limit = number_of(s, n, name, f, UINT16_MAX);
        else if (!range && csl_str_is(name, "max_counter"))
            filter->max = number_of(s, n, name, f, UINT16_MAX);
        else
            FAIL(s, n, "a filter of this kind has no '%.*s'", STR_ARG(name));
    }
    check_filter(s, n, filter);
}

void csl_set_route(struct sema *s, const struct node *n, size_t at, struct route *routes)
{
    int64_t color = csl_known_expr(s, n->kid[at], &csl_color).i;
    csl_not_reserved(s, n, &csl_color, color);
    struct value v = csl_known_expr(s, n->kid[at + 1], &csl_struct);
    const struct tuple *t = fields_of(s, n, csl_str("config"), &v);
    const struct value *config = csl_field(t, "routes"), *f;
    struct route *r = &routes[color];
    if (config == NULL)
        FAIL(s, n, "a color's configuration has .routes");
    if (r->set)
        FAIL(s, n, "color %lld of this PE is configured already", (long long)color);
    r->set = true;
    set_routes(s, n, config, r);
    if ((f = csl_field(t, "switches")) != NULL)
        set_switches(s, n, f, r, color);
    if ((f = csl_field(t, "filter")) != NULL)
        set_filter(s, n, f, &r->filter);
    unsigned filters = 0, most = s->l->arch == CSL_WSE2 ? FILTERS_WSE2 : FILTERS_WSE3;
    for (unsigned c = 0; c < COLORS; c++)
        filters += routes[c].filter.kind != FILTER_NONE;
    if (filters > most)
        FAIL(s, n, "a PE has %u filters that memcpy does not need", most);
    for (size_t i = 0; i < t->count; i++)
        if (!csl_str_is(t->names[i], "routes") && !csl_str_is(t->names[i], "switches") &&
            !csl_str_is(t->names[i], "filter"))
            FAIL(s, n, "the configuration '%.*s' is not in the subset", STR_ARG(t->names[i]));
}
