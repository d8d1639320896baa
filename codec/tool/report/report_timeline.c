/* report_timeline.c - see report_timeline.h. */
#include "tool/report/report_timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 1000, WIDE = 1000, HIGH = 150, LOW = 40 };

struct series {
    const char *key, *name, *colour;
    double bin[BINS];
};

static int fill(double bin[BINS], const cJSON *list)
{
    const cJSON *item;
    int n = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (n == BINS)
            break;
        bin[n++] =
            cJSON_IsNumber(item) && isfinite(item->valuedouble) ? fmax(item->valuedouble, 0) : 0;
    }
    return n;
}

/* Draws columns that stand on `under` and are `bin` high, as one path. */
static void columns(FILE *out, const char *colour, const double under[BINS], const double bin[BINS],
                    int bins, double bottom, double scale)
{
    fputs("<path d=\"", out);
    for (int i = 0; i < bins; i++)
        if (bin[i] > 0)
            fprintf(out, "M%.1f %.1fh%.2fv%.1fh-%.2fz", (double)WIDE * i / bins,
                    bottom - under[i] * scale, fmax((double)WIDE / bins - 0.2, 0.5),
                    -fmax(bin[i] * scale, 0.5), fmax((double)WIDE / bins - 0.2, 0.5));
    fprintf(out, "\" fill=\"var(%s)\"/>", colour);
}

static void legend(FILE *out, int x, const char *colour, const char *name)
{
    fprintf(out,
            "<rect x=\"%d\" y=2 width=12 height=12 rx=2 fill=\"var(%s)\"/><text x=\"%d\" "
            "y=13>%s</text>",
            x, colour, x + 18, name);
}

void report_timeline(FILE *out, const cJSON *timeline)
{
    static const double zero[BINS];
    struct series s[] = {{"bytes_written", "written", "--a", {0}},
                         {"bytes_read", "read", "--c", {0}},
                         {"bytes_written_plain", "plain files written", "--e", {0}},
                         {"bytes_read_plain", "plain files read", "--f", {0}},
                         {"bytes_sent", "sent by collectives", "--b", {0}}};
    enum { SERIES = sizeof s / sizeof *s };
    double calls[BINS] = {0}, sum[BINS] = {0}, most = 0, most_calls = 0;
    const double width = report_number(timeline, "seconds_of_a_bin");
    int bins = fill(calls, cJSON_GetObjectItem(timeline, "calls"));
    for (int k = 0; k < SERIES; k++) {
        const int n = fill(s[k].bin, cJSON_GetObjectItem(timeline, s[k].key));
        bins = n > bins ? n : bins;
        for (int i = 0; i < n; i++)
            most = fmax(most, sum[i] += s[k].bin[i]);
    }
    for (int i = 0; i < bins; i++)
        most_calls = fmax(most_calls, calls[i]);
    if (!(width > 0) || !(most > 0))
        return;
    const int top = 26, bottom = top + HIGH, end = bottom + 14 + LOW;
    fprintf(out, "<h3>When</h3><div class=card><svg viewBox=\"0 0 %d %d\" role=img>", WIDE,
            end + 22);
    for (int k = 0, x = 0; k < SERIES; k++) {
        legend(out, x, s[k].colour, s[k].name);
        x += 32 + 7 * (int)strlen(s[k].name);
    }
    fprintf(out,
            "<text class=s x=%d y=13 text-anchor=end>at most %.4g MB/s in a bin of %.4g s</text>",
            WIDE, most / width / 1e6, width);
    for (int i = 0; i < BINS; i++)
        sum[i] = 0;
    for (int k = 0; k < SERIES; k++) {
        columns(out, s[k].colour, sum, s[k].bin, bins, bottom, HIGH / most);
        for (int i = 0; i < bins; i++)
            sum[i] += s[k].bin[i];
    }
    if (most_calls > 0)
        columns(out, "--d", zero, calls, bins, end, LOW / most_calls);
    fprintf(
        out,
        "<path d=\"M0 %dh%dM0 %dh%d\" stroke=\"var(--line)\"/><text class=s x=0 y=%d>0 "
        "s</text><text class=s x=500 y=%d text-anchor=middle>below: calls, at most %.0f in a "
        "bin</text><text class=s x=%d y=%d text-anchor=end>%.4g s</text></svg><p class=soft>Data "
        "of the program, all ranks, by seconds since MPI_Init.</p></div>\n",
        bottom, WIDE, end, WIDE, end + 16, end + 16, most_calls, WIDE, end + 16, bins * width);
}
