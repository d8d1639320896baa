/* left.c - plain files that a program opened for writing, and why they are plain: it would look as
 * if zmpi did nothing. */
#include <string.h>

#include "base/text.h"
#include "mpi/runtime.h"
#include "report/left.h"

enum { KEPT = 512, NAMED = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct left kept[KEPT];
static size_t count;
static struct zleft_more more_than_kept;

static const char *const reason[] = {
    [ZLEFT_NOT_SELECTED] = "not selected by ZMPI_FILES",
    [ZLEFT_NO_BOUND] = "without a bound",
    [ZLEFT_THERE] =
        ("existed before, and the program did not write all of it: without the old file "
         "a run compresses it"),
    [ZLEFT_FEW_FLOATS] = "existed before, and what the program wrote is mostly not floats",
    [ZLEFT_AS_OTHERS] =
        "its name is like others of this run that saved too little and became plain",
    [ZLEFT_FILTERED] = "HDF5's own: new datasets with a bound go through zmpi's filter",
    [ZLEFT_OPEN_OTHERWISE] = "also open by other means than MPI-IO"};
static const char *const word[] = {
    [ZLEFT_NOT_SELECTED] = "not selected",    [ZLEFT_NO_BOUND] = "no bound",
    [ZLEFT_THERE] = "there already",          [ZLEFT_FEW_FLOATS] = "few floats",
    [ZLEFT_AS_OTHERS] = "like others",        [ZLEFT_FILTERED] = "filter",
    [ZLEFT_OPEN_OTHERWISE] = "open elsewhere"};

static bool is_kept(const struct left *l)
{
    for (size_t i = 0; i < count; i++)
        if (kept[i].why == l->why && strcmp(kept[i].path, l->path) == 0)
            return true;
    return false;
}

static void add_more(const struct left *l)
{
    more_than_kept.all++;
    more_than_kept.new_not_selected += l->is_new && l->why == ZLEFT_NOT_SELECTED;
    more_than_kept.new_without_bound += l->is_new && l->why == ZLEFT_NO_BOUND;
}

void zreport_left_alone(const char *path, enum zleft why, bool is_new)
{
    if (why == ZLEFT_NO_BOUND && zruntime_options()->dry_run)
        return; /* it was looked at */
    struct left l = {.why = (int)why, .is_new = is_new};
    const size_t length = strlen(path);
    snprintf(l.path, sizeof l.path, "%s",
             length < sizeof l.path ? path : path + length - (sizeof l.path - 1));
    zmpi_log(ZMPI_LOG_INFO, "%s: left alone: %s", path, reason[why]);
    if (is_new && why == ZLEFT_NO_BOUND)
        zruntime_no_bound();
    pthread_mutex_lock(&lock);
    if (!is_kept(&l)) {
        if (count < KEPT)
            kept[count++] = l;
        else
            add_more(&l);
    }
    pthread_mutex_unlock(&lock);
}

size_t zleft_list(const struct left **list)
{
    *list = kept;
    return count;
}

struct zleft_more zleft_more(void)
{
    return more_than_kept;
}

static void print_names(FILE *out, const struct left *list, size_t n, int why)
{
    size_t named = 0;
    for (size_t i = 0; i < n; i++) {
        char name[61];
        if (list[i].why != why || ++named > NAMED)
            continue;
        zmpi_text_line(name, sizeof name, list[i].path);
        fprintf(out, "%s%s", named > 1 ? ", " : " (", name);
    }
    fputs(named > NAMED ? ", ...)\n" : ")\n", out);
}

/* What ZMPI_FILES does not select is mostly meant so, and mostly one line; a wrong glob looks the
 * same. Without any bound MPI_Init has said so. */
void zleft_print_text(FILE *out, const struct left *list, size_t n, const struct zleft_more *more)
{
    for (int why = 0; why < ZLEFTS; why++) {
        size_t files = 0;
        for (size_t i = 0; i < n; i++)
            files += list[i].why == why;
        if (!files)
            continue;
        fprintf(out, "zmpi %zu %s left plain: %s", files, files > 1 ? "files" : "file",
                reason[why]);
        print_names(out, list, n, why);
    }
    if (more->all > 0)
        fprintf(out, "zmpi %.0f more files left plain\n", more->all);
}

static double new_ones(const struct left *list, size_t n, enum zleft why)
{
    double files = 0;
    for (size_t i = 0; i < n; i++)
        files += list[i].is_new && list[i].why == (int)why;
    return files;
}

void zleft_print_json(FILE *out, const struct left *list, size_t n, const struct zleft_more *more)
{
    fprintf(out, "  \"new_files_not_selected\": %.0f,\n  \"new_files_without_bound\": %.0f,\n",
            new_ones(list, n, ZLEFT_NOT_SELECTED) + more->new_not_selected,
            new_ones(list, n, ZLEFT_NO_BOUND) + more->new_without_bound);
    fputs("  \"plain_files\": [", out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n    {\"path\": " : "\n    {\"path\": ", out);
        zmpi_text_json(out, list[i].path);
        fprintf(out, ", \"why\": \"%s\", \"new\": %s}", word[list[i].why],
                list[i].is_new ? "true" : "false");
    }
    fprintf(out, "%s],\n  \"more_plain_files\": %.0f,\n", n ? "\n  " : "", more->all);
}
