/* hdf5_random_parts.c - types, values and selections of random HDF5 programs. */
#include <math.h>

#include "hdf5_random.h"

static uint64_t state;

void seed(uint64_t s)
{
    state = s << 20;
}

size_t pick(size_t n)
{
    return (size_t)(check_mix(state++, 1) % n);
}

/* ---- types ---- */

hid_t type_in_file(enum type type)
{
    const hid_t is[TYPES] = {H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_IEEE_F32BE,
                             H5T_IEEE_F64BE,   H5T_NATIVE_INT,    H5T_STD_I16BE,
                             H5T_NATIVE_UCHAR, H5T_NATIVE_SHORT};
    return is[type];
}

bool is_float(enum type type)
{
    return type <= F64_BE;
}

size_t bytes_of(enum type type)
{
    static const size_t bytes[TYPES] = {4, 8, 4, 8, 4, 2, 1, 2};
    return bytes[type];
}

/* Swaps bytes between this machine's byte order and the other one. On a big-endian machine all
 * types are the same. */
static void turn(unsigned char *byte, size_t n)
{
    const uint16_t one = 1;
    if (!*(const unsigned char *)&one)
        return;
    for (size_t i = 0; i < n / 2; i++) {
        const unsigned char b = byte[i];
        byte[i] = byte[n - 1 - i];
        byte[n - 1 - i] = b;
    }
}

void put(enum type type, void *data, size_t i, double v)
{
    const size_t n = bytes_of(type);
    unsigned char *to = (unsigned char *)data + i * n;
    if (type == F32 || type == F32_BE)
        memcpy(to, &(float){(float)v}, n);
    else if (type == F64 || type == F64_BE)
        memcpy(to, &v, n);
    else if (type == I32)
        memcpy(to, &(int32_t){(int32_t)v}, n);
    else if (type == U8)
        *to = (unsigned char)v;
    else
        memcpy(to, &(int16_t){(int16_t)v}, n);
    if (type == F32_BE || type == F64_BE || type == I16_BE)
        turn(to, n);
}

double get(enum type type, const void *data, size_t i)
{
    const size_t n = bytes_of(type);
    unsigned char one[8];
    float f;
    double d;
    int32_t l;
    int16_t s;
    memcpy(one, (const unsigned char *)data + i * n, n);
    if (type == F32_BE || type == F64_BE || type == I16_BE)
        turn(one, n);
    memcpy(&f, one, sizeof f);
    memcpy(&d, one, sizeof d);
    memcpy(&l, one, sizeof l);
    memcpy(&s, one, sizeof s);
    return type == F32 || type == F32_BE   ? (double)f
           : type == F64 || type == F64_BE ? d
           : type == I32                   ? (double)l
           : type == U8                    ? (double)one[0]
                                           : (double)s;
}

/* ---- values ---- */

double value_of(const struct set *s, enum type memory, size_t salt, enum look look, size_t i)
{
    const double wave = 100 * sin(0.01 * (double)i + (double)salt),
                 noise = 2 * check_unit(salt, i) - 1;
    if (!is_float(memory) || !is_float(s->type))
        return floor(100 + wave);
    double v = look == SMOOTH  ? wave
               : look == NOISE ? noise
               : look == WIDE  ? wave * pow(10, floor(20 * noise))
               : look == WHOLE ? floor(wave)
                               : 3.25;
    if (look == MIXED)
        v = check_mix(salt, i) % 5 ? wave : check_mix(salt, i) % 2 ? s->fill : -0.0;
    if (look == MIXED && check_mix(salt, i) % 97 == 0)
        v = check_mix(salt, i) % 2 ? (double)INFINITY : (double)NAN;
    if (memory == F32 || memory == F32_BE || s->type == F32 || s->type == F32_BE)
        v = (double)(float)v;
    return v;
}

bool is_as(const struct set *s, double is, double should, double more)
{
    const bool lossy = s->type == F32 || s->type == F64;
    /* A chunk that is written in parts is coded with each part. */
    const int times = filter && !once && s->codings > 1 ? s->codings : 1;
    if (isnan(should))
        return isnan(is);
    const bool exact = !lossy || !isfinite(should) || (should == 0 && !interp) || // NOLINT
                       (should == s->fill && !filter);                            // NOLINT
    return exact ? is == should && !signbit(is) == !signbit(should)               // NOLINT
                 : fabs(is - should) <= (relative ? bound * s->range * times : bound) + more;
}

/* ---- datasets ---- */

size_t elements(const struct set *s)
{
    size_t all = 1;
    for (int i = 0; i < s->rank; i++)
        all *= (size_t)s->size[i];
    return all;
}

void allocate(struct set *s)
{
    const size_t all = elements(s);
    free(s->value);
    free(s->flushed);
    s->value = check_alloc(all * sizeof *s->value);
    s->flushed = check_alloc(all * sizeof *s->flushed);
    for (size_t i = 0; i < all; i++)
        s->value[i] = s->flushed[i] = s->fill;
}

void draw_set(struct set *s, int number)
{
    static const double fills[] = {0, 17, -999.25, 1e30, 0, 99};
    const size_t most = pick(3) ? MOST_ELEMENTS : 300;
    snprintf(s->name, sizeof s->name, "set_%d", number);
    s->is_there = true;
    s->range = s->codings = 0;
    s->rows = 0;
    s->layout = (enum layout)pick(LAYOUTS);
    s->type = (enum type)(pick(3) ? pick(2) : pick(I16)); /* mostly floats */
    s->rank = 1 + (int)pick(MOST_RANK);
    s->fill = fills[is_float(s->type) ? pick(6) : pick(2)];
    if (s->type == F32 || s->type == F32_BE)
        s->fill = (double)(float)s->fill;
    size_t left = s->layout == COMPACT ? 60 : most;
    for (int i = 0; i < s->rank; i++) {
        const double part = pow((double)left, 1.0 / (s->rank - i));
        s->size[i] = 1 + pick((size_t)(2 * part));
        s->size[i] = s->size[i] > left ? left : s->size[i];
        left /= (size_t)s->size[i];
        s->chunk[i] = pick(4) == 0 ? s->size[i] : 1 + pick((size_t)s->size[i]);
        s->most[i] = pick(2) ? H5S_UNLIMITED : s->size[i] + pick(2 * (size_t)s->size[i]);
    }
    s->least = s->greatest = s->fill;
    /* Avoids thousands of chunks. */
    for (int i = 0; i < s->rank; i++)
        while (s->chunk[i] * 6 < s->size[i])
            s->chunk[i] *= 2;
    if (once && s->layout == GROWING) {
        s->size[0] -= s->size[0] % s->chunk[0];
        s->most[0] = H5S_UNLIMITED;
    }
    allocate(s);
}

hid_t creation_list(const struct set *s)
{
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (s->layout == CHUNKED || s->layout == GROWING)
        H5(H5Pset_chunk(list, s->rank, s->chunk));
    /* zmpi's filter makes them chunked, too. */
    if (gzip && s->layout == CONTIGUOUS)
        H5(H5Pset_chunk(list, s->rank, s->size));
    if (gzip && s->layout != COMPACT)
        H5(H5Pset_deflate(list, 1));
    if (s->layout == COMPACT)
        H5(H5Pset_layout(list, H5D_COMPACT));
    if (s->fill != 0 || pick(2)) // NOLINT: as it is
        H5(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &s->fill));
    if (pick(2) || s->fill == 0) // NOLINT
        H5(H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC));
    return list;
}

/* ---- selections in the file ---- */

static void place_of(const struct set *s, size_t element, hsize_t *place)
{
    for (int i = s->rank - 1; i >= 0; i--) {
        place[i] = element % s->size[i];
        element /= (size_t)s->size[i];
    }
}

struct slab {
    hsize_t start[MOST_RANK], stride[MOST_RANK], count[MOST_RANK], block[MOST_RANK];
};

static struct slab make_slab(const struct set *s, const hsize_t *low, const hsize_t *high,
                             bool whole)
{
    struct slab b = {0};
    for (int i = 0; i < s->rank; i++) {
        const hsize_t span = high[i] - low[i];
        const bool solid = whole || pick(2) == 0;
        b.start[i] = low[i] + (whole || pick(3) == 0 ? 0 : pick((size_t)span));
        const hsize_t left = high[i] - b.start[i];
        b.block[i] = solid ? 1 : 1 + pick((size_t)(left < 4 ? left : 4));
        b.stride[i] = solid ? 1 : b.block[i] + pick(4);
        const hsize_t most = (left - b.block[i]) / b.stride[i] + 1;
        b.count[i] = whole || pick(2) ? most : 1 + pick((size_t)most);
    }
    return b;
}

static bool is_in(const struct slab *b, int dimensions, const hsize_t *place)
{
    for (int i = 0; i < dimensions; i++) {
        const hsize_t from = place[i] - b->start[i];
        if (place[i] < b->start[i] || from / b->stride[i] >= b->count[i] ||
            from % b->stride[i] >= b->block[i])
            return false;
    }
    return true;
}

/* Selects one slab, or several one behind the other. In parallel programs HDF5 1.10.8 is wrong with
 * many that overlap. */
static void select_slabs(const struct set *s, struct part *p, const hsize_t *low,
                         const hsize_t *high, bool whole)
{
    const bool one =
        whole || (!serial && !H5_VERSION_GE(1, 12, 0) && s->layout != CONTIGUOUS) || pick(2);
    const size_t all = elements(s), slabs = one ? 1 : 2 + pick(3);
    bool *chosen = calloc(all, sizeof *chosen), any = false;
    struct slab first;
    for (size_t k = 0; k < slabs; k++) {
        hsize_t from[MOST_RANK], to[MOST_RANK];
        memcpy(from, low, sizeof from);
        memcpy(to, high, sizeof to);
        from[0] += (high[0] - low[0]) * k / slabs;
        to[0] = low[0] + (high[0] - low[0]) * (k + 1) / slabs;
        if (from[0] == to[0])
            continue;
        struct slab b = make_slab(s, from, to, whole);
        if (any) {
            for (int i = 1; i < s->rank; i++) {
                b.start[i] = first.start[i];
                b.stride[i] = first.stride[i];
                b.count[i] = first.count[i];
                b.block[i] = first.block[i];
            }
        } else
            first = b;
        H5(H5Sselect_hyperslab(p->file, any ? H5S_SELECT_OR : H5S_SELECT_SET, b.start, b.stride,
                               b.count, b.block));
        any = true;
        for (size_t i = 0; i < all; i++) {
            hsize_t place[MOST_RANK];
            place_of(s, i, place);
            chosen[i] = chosen[i] || is_in(&b, s->rank, place);
        }
    }
    for (size_t i = 0; i < all; i++)
        if (chosen[i])
            p->at[p->n++] = i;
    free(chosen);
    if (p->n == 0)
        H5(H5Sselect_none(p->file));
    CHECK_EQUAL(H5Sget_select_npoints(p->file), p->n);
}

/* Selects points in any order, each once. */
static void select_points(const struct set *s, struct part *p, const hsize_t *low,
                          const hsize_t *high)
{
    const size_t all = elements(s), wanted = 1 + pick(200);
    bool *chosen = calloc(all, sizeof *chosen);
    hsize_t *point = calloc(wanted * (size_t)s->rank, sizeof *point);
    for (size_t k = 0; k < wanted; k++) {
        hsize_t *const one = point + p->n * (size_t)s->rank;
        size_t at = 0;
        for (int i = 0; i < s->rank; i++) {
            one[i] = low[i] + pick((size_t)(high[i] - low[i]));
            at = at * (size_t)s->size[i] + (size_t)one[i];
        }
        if (!chosen[at])
            p->at[p->n++] = at;
        chosen[at] = true;
    }
    H5(H5Sselect_elements(p->file, H5S_SELECT_SET, p->n, point));
    free(point);
    free(chosen);
}

/* ---- and in memory ---- */

/* Selects points in any order. The space has as many dimensions as the file's, else HDF5 1.10.8
 * writes past an array of its own. */
static void select_points_in_memory(const struct set *s, struct part *p)
{
    hsize_t *point = calloc(p->n * (size_t)s->rank, sizeof *point), size[MOST_RANK] = {1, 1, 1, 1};
    size[s->rank - 1] = p->held;
    H5(H5Sset_extent_simple(p->memory, s->rank, size, NULL));
    for (size_t i = p->n - 1; i > 0; i--) {
        const size_t other = pick(i + 1), moved = p->in[i];
        p->in[i] = p->in[other];
        p->in[other] = moved;
    }
    for (size_t i = 0; i < p->n; i++)
        point[i * (size_t)s->rank + (size_t)s->rank - 1] = p->in[i];
    H5(H5Sselect_elements(p->memory, H5S_SELECT_SET, p->n, point));
    free(point);
}

/* Elements lie one behind the other, with gaps, as in the file, or in any order. */
static void select_memory(const struct set *s, struct part *p)
{
    const size_t how = p->n ? pick(5) : 0, gap = how == 1 ? 2 + pick(3) : 1, head = pick(3);
    p->in = calloc(p->n + 1, sizeof *p->in);
    p->held = how == 2 ? elements(s) : head + p->n * gap;
    for (size_t i = 0; i < p->n; i++)
        p->in[i] = how == 2 ? p->at[i] : head + i * gap;
    if (how == 2) {
        p->memory = pick(2) ? H5S_ALL : H5Scopy(p->file);
        return;
    }
    p->memory = H5Screate_simple(1, &(hsize_t){p->held ? p->held : 1}, NULL);
    if (p->n == 0) {
        H5(H5Sselect_none(p->memory));
        return;
    }
    H5(H5Sselect_hyperslab(p->memory, H5S_SELECT_SET, &(hsize_t){head}, &(hsize_t){gap},
                           &(hsize_t){p->n}, NULL));
    if (how >= 3)
        select_points_in_memory(s, p);
}

struct part make_part(const struct set *s, enum type type, const hsize_t *low, const hsize_t *high,
                      bool whole)
{
    struct part p = {.type = type, .at = calloc(elements(s) + 1, sizeof *p.at)};
    bool empty = !whole && pick(12) == 0;
    for (int i = 0; i < s->rank; i++)
        empty = empty || low[i] >= high[i];
    p.file = H5Screate_simple(s->rank, s->size, NULL);
    H5(p.file);
    if (empty)
        H5(H5Sselect_none(p.file));
    else if (!whole && pick(4) == 0)
        select_points(s, &p, low, high);
    else
        select_slabs(s, &p, low, high, whole);
    select_memory(s, &p);
    if (p.n == elements(s) && whole && pick(2)) {
        if (p.memory == H5S_ALL)
            p.memory = H5Scopy(p.file);
        H5(H5Sclose(p.file));
        p.file = H5S_ALL;
    }
    return p;
}

void end_part(struct part *p)
{
    if (p->file != H5S_ALL)
        H5(H5Sclose(p->file));
    if (p->memory != H5S_ALL)
        H5(H5Sclose(p->memory));
    free(p->at);
    free(p->in);
}
