/*
 * criterion.h - the part of Criterion that the codec's unit tests use, for cross builds, whose
 * machine an emulator replaces and which have no Criterion. Every test runs in a process of its
 * own; CTest has the time limits. One file of a program includes it.
 */
#ifndef CRITERION_H
#define CRITERION_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct cr_suite {
    void (*init)(void), (*fini)(void);
};

struct cr_test {
    const char *name;
    void (*run)(void);
    void (*init)(void), (*fini)(void);
    const struct cr_suite *suite;
    double timeout; /* not used */
    int signal;     /* that it must end by */
    struct cr_test *next;
};

static struct cr_test *cr_tests;

/* A suite need not be defined: this and TestSuite() become one object. */
#define CR_SUITE(suite_) const struct cr_suite cr_suite_##suite_ __attribute__((weak))

#define TestSuite(suite_, ...) const struct cr_suite cr_suite_##suite_ = {__VA_ARGS__}

#define Test(suite_, name_, ...)                                                                   \
    extern CR_SUITE(suite_);                                                                       \
    static void suite_##_##name_##_run(void);                                                      \
    __attribute__((constructor)) static void suite_##_##name_##_add(void)                          \
    {                                                                                              \
        static struct cr_test t = {                                                                \
            .name = #suite_ "/" #name_, .run = suite_##_##name_##_run, __VA_ARGS__};               \
        t.suite = &cr_suite_##suite_;                                                              \
        t.next = cr_tests;                                                                         \
        cr_tests = &t;                                                                             \
    }                                                                                              \
    static void suite_##_##name_##_run(void)

/* ---- assertions ---- */

__attribute__((format(printf, 4, 5))) static inline void
cr_check(int holds, const char *where, const char *what, const char *format, ...)
{
    va_list list;
    if (holds)
        return;
    va_start(list, format);
    printf("%s: %s:", where, what);
    vprintf(format, list);
    printf("\n");
    va_end(list);
    exit(EXIT_FAILURE);
}

#define CR_TEXT_(x) #x
#define CR_TEXT(x)  CR_TEXT_(x)
#define CR_CHECK(holds, ...)                                                                       \
    cr_check(holds, __FILE__ ":" CR_TEXT(__LINE__), #holds, " " __VA_ARGS__)

/* Ends the test, which is a function. */
#define CR_SKIP(...)                                                                               \
    do {                                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        return;                                                                                    \
    } while (0)

#define cr_assert(x, ...)                CR_CHECK((x) != 0, __VA_ARGS__)
#define cr_assert_not(x, ...)            CR_CHECK(!(x), __VA_ARGS__)
#define cr_assert_eq(a, b, ...)          CR_CHECK((a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...)         CR_CHECK((a) != (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...)          CR_CHECK((a) < (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...)         CR_CHECK((a) <= (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...)          CR_CHECK((a) > (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...)         CR_CHECK((a) >= (b), __VA_ARGS__)
#define cr_assert_null(p, ...)           CR_CHECK((p) == NULL, __VA_ARGS__)
#define cr_assert_not_null(p, ...)       CR_CHECK((p) != NULL, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)      CR_CHECK(strcmp(a, b) == 0, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...)   CR_CHECK(memcmp(a, b, n) == 0, __VA_ARGS__)
#define cr_assert_float_eq(a, b, e, ...) CR_CHECK(fabs((a) - (b)) <= (e), __VA_ARGS__)
#define cr_assert_fail(...)              CR_CHECK(0, __VA_ARGS__)
#define cr_skip_test(...)                CR_SKIP(__VA_ARGS__)
#define cr_log_info(...)                 ((void)printf(__VA_ARGS__), (void)printf("\n"))

/* ---- the run ---- */

static inline void cr_call(void (*f)(void))
{
    if (f)
        f();
}

/* Runs a test in a child, so that a crash is that test's alone. Did it pass? */
static int cr_run(const struct cr_test *t)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        const struct cr_suite *suite = t->suite;
        if (suite)
            cr_call(suite->init);
        cr_call(t->init);
        t->run();
        cr_call(t->fini);
        if (suite)
            cr_call(suite->fini);
        exit(EXIT_SUCCESS);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror(t->name);
        return 0;
    }
    int passed = t->signal != 0 ? WIFSIGNALED(status) && WTERMSIG(status) == t->signal
                                : WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    printf("%s: %s\n", t->name,
           passed                ? "passed"
           : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                 : "failed");
    return passed;
}

int main(void)
{
    int failed = 0;
    for (const struct cr_test *t = cr_tests; t; t = t->next)
        failed += !cr_run(t);
    return failed || !cr_tests ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
