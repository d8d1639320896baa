/* lost.c - losses by a bound that are worth a line at close. */
#include "report/report.h"

#include <string.h>

/* Less than this is no news: a field may be at rest somewhere. */
#define SHARE_REPORTED 0.1

/* Packs a call into one number, of which the smallest of all ranks is reported. */
#define NO_CALL 1e300

static double key_of(const struct zcall_number *c)
{
    return c->is_one ? 2 * (double)c->number + c->collective : NO_CALL;
}

static void tell_of_identifiers(const struct zfile *f, double key)
{
    const unsigned long long call = (unsigned long long)key / 2;
    const bool collective = (unsigned long long)key % 2;
    const char *base = strrchr(f->path, '/');
    if (call == 0)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: small write calls have whole numbers that never repeat, identifiers perhaps, "
                 "and the bound has changed them: the bound lossless keeps a call exactly",
                 f->path);
    else
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: %s write call %llu has whole numbers that never repeat, identifiers perhaps, "
                 "and the bound has changed them: the rule [%s #%llu] error_bound = lossless "
                 "(ZMPI_CONFIG) keeps them exactly",
                 f->path, collective ? "collective" : "independent", call,
                 base ? base + 1 : f->path, call);
}

int zreport_lost(const struct zfile *f, double *flat)
{
    const struct zstats *s = &f->stats;
    double sums[2], key, mine = key_of(&s->identifiers);
    *flat = 0;
    int rc = PMPI_Reduce((double[]){s->values_flat, s->values_lossy}, sums, 2, MPI_DOUBLE, MPI_SUM,
                         0, f->comm);
    rc = rc ? rc : PMPI_Reduce(&mine, &key, 1, MPI_DOUBLE, MPI_MIN, 0, f->comm);
    if (rc || f->rank)
        return rc;
    if (key < NO_CALL)
        tell_of_identifiers(f, key);
    *flat = sums[1] > 0 ? sums[0] / sums[1] : 0;
    if (*flat >= SHARE_REPORTED)
        zmpi_log(ZMPI_LOG_WARN,
                 "%s: %.0f %% of the values that are not exact lie in chunks that vary by less "
                 "than the bound: only a constant is left of each; if they matter set "
                 "ZMPI_COMPONENTS, ZMPI_FILL, or a bound abs or pw_rel that suits them",
                 f->path, 100 * *flat);
    return MPI_SUCCESS;
}
