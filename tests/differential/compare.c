/*
 * compare.c - what the compressed file did, what the plain one did, what the standard says.
 *
 * The compressed file must do what the standard says. Where the plain one does not, that is the MPI
 * library's error: it is counted and not held against anybody. Where the model has no opinion, the
 * two files must agree. A file that was there before stays plain on both sides: there both may
 * share an error of the MPI library.
 *
 * With compare_plain there is no compressed file, but two plain ones: what they do against the
 * standard in line compare_strict_line is the MPI library's own error, and what the driver asks
 * for.
 */
#include "differential.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int64_t compare_deviations;
bool compare_verbose, compare_trace, compare_plain;
int64_t compare_strict_line;

static struct {
    int64_t program;
    int line;
    int rank;
    const char *what;
    bool untouched, alone;
} context;

static int world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void compare_context(int64_t program, int line, const char *what)
{
    context.program = program;
    context.line = line;
    context.what = what;
    if (compare_trace && world_rank() == 0)
        fprintf(stderr, "program %lld, line %d (%s)\n", (long long)program, line, what);
}

/* ---- programs without end ---- */

static void bite(int signal)
{
    char text[200];
    (void)signal;
    int n = snprintf(text, sizeof text, "HANGS: program %lld, line %d (%s), rank %d\n",
                     (long long)context.program, context.line, context.what, context.rank);
    ssize_t written = write(STDERR_FILENO, text, (size_t)n);
    _exit(written == n ? 1 : 2);
}

void compare_watch(unsigned seconds)
{
    context.rank = world_rank();
    signal(SIGALRM, bite);
    alarm(seconds);
}

_Noreturn void compare_fail(const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "MISMATCH: program %lld, line %d (%s), rank %d: %s\n",
            (long long)context.program, context.line, context.what, world_rank(), text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void deviation(const char *what, int64_t p, int64_t model)
{
    compare_deviations++;
    if (compare_verbose)
        fprintf(stderr,
                "deviation: program %lld, line %d (%s), rank %d: %s: plain %lld, not %lld\n",
                (long long)context.program, context.line, context.what, world_rank(), what,
                (long long)p, (long long)model);
}

/* Is a difference from the model held against the first of the two files? */
static bool is_strict(bool second_differs)
{
    return compare_plain ? !context.alone && context.line == compare_strict_line
                         : !context.untouched || (!context.alone && !second_differs);
}

void compare_both(const char *what, int64_t z, int64_t p)
{
    if (z != p && !context.alone && (!compare_plain || is_strict(false)))
        compare_fail("%s: compressed %lld, plain %lld", what, (long long)z, (long long)p);
}

void compare_files(bool untouched, bool alone)
{
    context.untouched = untouched;
    context.alone = alone;
}

bool compare_is_untouched(void)
{
    return context.untouched || compare_plain;
}

void compare_three(const char *what, int64_t z, int64_t p, int64_t model)
{
    const bool deviates = p != model;
    if ((z != model || (compare_plain && deviates)) && is_strict(deviates))
        compare_fail("%s: compressed %lld, plain %lld%s, should be %lld", what, (long long)z,
                     (long long)p, context.alone ? " (not done)" : "", (long long)model);
    if (deviates && !context.alone)
        deviation(what, p, model);
}

void compare_bytes(const char *what, const unsigned char *z, const unsigned char *p,
                   const unsigned char *model, int64_t n)
{
    bool deviates = false;
    int64_t first = -1, wrong = 0;
    for (int64_t i = n; i-- > 0;) {
        deviates = deviates || p[i] != model[i];
        if (z[i] != model[i] || (compare_plain && p[i] != model[i])) {
            first = i;
            wrong++;
        }
    }
    if (wrong && is_strict(deviates))
        compare_fail("%s: %lld of %lld bytes differ, the first at %lld: compressed %02x, plain "
                     "%02x, should be %02x",
                     what, (long long)wrong, (long long)n, (long long)first, z[first], p[first],
                     model[first]);
    if (deviates && !context.alone)
        deviation(what, 1, 0);
}

int error_class(int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    return class;
}

void compare_wrong(const char *what, int z, int p)
{
    if (z == MPI_SUCCESS && !compare_plain && is_strict(p == MPI_SUCCESS))
        compare_fail("%s: no error; plain: class %d", what, p);
    if (z != p && !context.alone)
        deviation(what, p, z);
}
