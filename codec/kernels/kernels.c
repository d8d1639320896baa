/* kernels.c - the choice between instruction sets. */
#define _GNU_SOURCE // secure_getenv
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "kernels/kernels.h"

static const struct zmpi_kernels *const sets[] = {
#if defined __x86_64__ && !defined ZMPI_NO_AVX512
    &zmpi_kernels_avx512vbmi, &zmpi_kernels_avx512,
#endif
#ifdef __x86_64__
    &zmpi_kernels_avx2,
#endif
#ifdef __AARCH64EL__
    &zmpi_kernels_neon,
#endif
    &zmpi_kernels_scalar,     NULL,
};

/* All sets of all machines except scalar, which always exists. */
static const char *const names[] = {"avx512vbmi", "avx512", "avx2", "neon"};

const struct zmpi_kernels *zmpi_kernels_at(size_t i)
{
    return i < sizeof sets / sizeof *sets ? sets[i] : NULL;
}

/* Does the comma-separated list contain this name? */
static bool lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, length) == 0 && (p[length] == 0 || p[length] == ','))
            return true;
    }
    return false;
}

/* A set needs all sets below it. */
static bool switched_off(const struct zmpi_kernels *k, const char *list)
{
    for (; k; k = k->below)
        if (lists(list, k->name))
            return true;
    return false;
}

bool zmpi_kernels_list_ok(const char *text)
{
    if (strcmp(text, "none") == 0)
        return true;
    while (*text) {
        size_t n = strcspn(text, ",");
        bool known = false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            known |= strlen(names[i]) == n && memcmp(names[i], text, n) == 0;
        if (!known || (text[n] == ',' && text[n + 1] == 0))
            return false;
        text += n + (text[n] == ',');
    }
    return true;
}

const struct zmpi_kernels *zmpi_kernels_choose(const struct zmpi_kernels *const *from,
                                               const char *off)
{
    for (; *from != &zmpi_kernels_scalar; from++) {
        const struct zmpi_kernels *k = *from;
        if (!k->available() || (off && switched_off(k, off)))
            continue;
        const char *wrong = zmpi_kernels_difference(k);
        if (!wrong)
            break;
        zmpi_log(ZMPI_LOG_WARN,
                 "the %s kernels are not used: their %s is wrong, as they were compiled or on this "
                 "CPU; build zmpi with another compiler, or say ZMPI_DISABLE=%s",
                 k->name, wrong, k->name);
    }
    return *from;
}

static const struct zmpi_kernels *_Atomic chosen;

static void choose(void)
{
    atomic_store_explicit(&chosen, zmpi_kernels_choose(sets, secure_getenv("ZMPI_DISABLE")),
                          memory_order_release);
}

const struct zmpi_kernels *zmpi_kernels(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct zmpi_kernels *k = atomic_load_explicit(&chosen, memory_order_acquire);
    if (k)
        return k;
    pthread_once(&once, choose);
    return atomic_load_explicit(&chosen, memory_order_acquire);
}
