/* report_html.c - see report_html.h. */
#include "tool/report/report_html.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tool/report/report_timeline.h"

/* If a run has more files, the others only count in the sums. */
enum { BARS = 30 };

static const char style[] =
    ":root{color-scheme:light "
    "dark;--bg:#fbfbfa;--card:#fff;--ink:#1d2329;--soft:#66707a;--line:#e4e6e8;"
    "--a:#2266cc;--b:#d98324;--c:#2f9e73;--d:#8a6fc4;--e:#c2507a;--f:#3a9c9b}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1d2226;--ink:#e6e9ec;--soft:#"
    "98a3ad;"
    "--line:#323a41;--a:#6aa5f5;--b:#eba95a;--c:#5cc79c;--d:#b79df0;--e:#ee8fb0;--f:#7fd0cf}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);"
    "font:15px/1.5 system-ui,sans-serif}main{max-width:1060px;margin:auto;padding:32px 20px}"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:20px;margin:44px 0 12px;overflow-wrap:anywhere}"
    "h3{font-size:15px;margin:26px 0 8px}p{margin:4px 0}.soft{color:var(--soft)}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px}"
    ".tile,.card{background:var(--card);border:1px solid "
    "var(--line);border-radius:10px;padding:14px 16px}"
    ".tile b{display:block;font-size:24px;line-height:1.3}.card{overflow-x:auto}"
    "table{border-collapse:collapse;width:100%;font-size:13.5px}th{color:var(--soft);font-weight:"
    "500}"
    "th,td{text-align:right;padding:5px 10px;border-bottom:1px solid "
    "var(--line);white-space:nowrap}"
    "tr:last-child td{border:0}th:first-child,td:first-child,.l{text-align:left!important}"
    "td:first-child{white-space:normal;overflow-wrap:anywhere;min-width:160px}"
    "svg{display:block;width:100%;height:auto}svg text{font:12px "
    "system-ui,sans-serif;fill:var(--ink)}"
    "svg .s{fill:var(--soft)}";

static void put(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc((unsigned char)*text < 0x20 ? '?' : *text, out);
        }
}

static void put_bytes(FILE *out, double bytes)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int i = 0;
    for (; bytes >= 1000 && i < 5; i++)
        bytes /= 1000;
    fprintf(out, "%.*f %s", i && bytes < 100 ? 1 : 0, bytes, unit[i]);
}

struct sums {
    double files, written, stored, read, range, compress, wait, write_time, read_time;
};

static void add(struct sums *s, const cJSON *f)
{
    const double ranks = fmax(report_number(f, "ranks"), 1);
    s->written += report_number(f, "bytes_written");
    s->stored += report_number(f, "bytes_stored");
    s->read += report_number(f, "bytes_read");
    s->range += report_number(f, "seconds_range") / ranks;
    s->compress += report_number(f, "seconds_compress") / ranks;
    s->wait += report_number(f, "seconds_wait") / ranks;
    s->write_time += report_number(f, "seconds_write") / ranks;
    s->read_time += report_number(f, "seconds_read") / ranks;
}

static struct sums sum_up(const cJSON *run)
{
    const cJSON *files = cJSON_GetObjectItem(run, "files"), *f,
                *more = cJSON_GetObjectItem(run, "more_files");
    struct sums s = {.files = cJSON_GetArraySize(files) + report_number(more, "files")};
    cJSON_ArrayForEach(f, files) add(&s, f);
    if (more)
        add(&s, more);
    return s;
}

static double quotient(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void tile(FILE *out, const char *what, double bytes)
{
    fputs("<div class=tile><b>", out);
    put_bytes(out, bytes);
    fprintf(out, "</b><span class=soft>%s</span></div>", what);
}

static void tiles(FILE *out, const struct sums *s)
{
    fputs("<div class=tiles>", out);
    tile(out, "written by the program", s->written);
    tile(out, "stored", s->stored);
    tile(out, "saved", fmax(s->written - s->stored, 0));
    fprintf(out, "<div class=tile><b>%.2f</b><span class=soft>times smaller</span></div>",
            quotient(s->written, s->stored));
    tile(out, "read", s->read);
    fputs("</div>\n", out);
}

/* One divided bar: the seconds of a rank for all files together. */
static void time_bar(FILE *out, const struct sums *s)
{
    const struct {
        const char *name, *colour;
        double seconds;
    } part[] = {{"range", "--e", s->range},
                {"coding", "--a", s->compress},
                {"waiting", "--d", s->wait},
                {"writing", "--b", s->write_time},
                {"reading", "--c", s->read_time}};
    const double all = s->range + s->compress + s->wait + s->write_time + s->read_time;
    if (!(all > 0))
        return;
    fputs("<h3>Where the time went</h3><div class=card><svg viewBox=\"0 0 1000 62\" role=img>",
          out);
    double x = 0, label = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        const double width = 1000 * part[i].seconds / all;
        if (!(part[i].seconds > 0))
            continue;
        fprintf(out,
                "<rect x=\"%.1f\" y=0 width=\"%.1f\" height=26 rx=3 fill=\"var(%s)\"/>"
                "<rect x=\"%.0f\" y=42 width=12 height=12 rx=2 fill=\"var(%s)\"/>"
                "<text x=\"%.0f\" y=53>%s %.3g s (%.0f %%)</text>",
                x, fmax(width - 2, 1), part[i].colour, label, part[i].colour, label + 18,
                part[i].name, part[i].seconds, 100 * part[i].seconds / all);
        x += width;
        label += 195;
    }
    fputs("</svg><p class=soft>Seconds of one rank, the mean of those that had each file "
          "open. Waiting: for other ranks, in write calls, and what else such a call "
          "does. Reading: decoding too.</p></div>\n",
          out);
}

static const char *base_of(const char *path)
{
    const char *base = strrchr(path, '/');
    return base && base[1] ? base + 1 : path;
}

/* Writes UTF-8 characters; of a long name the last ones. */
static void put_name(FILE *out, const char *name)
{
    const size_t length = strlen(name);
    if (length > 40) {
        name += length - 38;
        while (((unsigned char)*name & 0xC0) == 0x80)
            name++;
        fputs("…", out);
    }
    put(out, name);
}

/* A bar of written bytes for each of the first files, with the stored bytes as a part of it. */
static void bars(FILE *out, const cJSON *files)
{
    const cJSON *f;
    double most = 0;
    int n = 0, left_out = 0;
    cJSON_ArrayForEach(f, files)
    {
        if (!(report_number(f, "bytes_written") > 0))
            continue;
        if (n == BARS) {
            left_out++;
            continue;
        }
        most =
            fmax(most, fmax(report_number(f, "bytes_written"), report_number(f, "bytes_stored")));
        n++;
    }
    if (n == 0)
        return;
    fprintf(
        out,
        "<h3>What was saved</h3><div class=card><svg viewBox=\"0 0 1000 %d\" role=img>"
        "<rect x=300 y=2 width=12 height=12 rx=2 fill=\"var(--a)\"/><text x=318 y=13>stored</text>"
        "<rect x=400 y=2 width=12 height=12 rx=2 fill=\"var(--a)\" opacity=\".25\"/>"
        "<text x=418 y=13>written</text>",
        26 * n + 26);
    int i = 0;
    cJSON_ArrayForEach(f, files)
    {
        const double written = report_number(f, "bytes_written"),
                     stored = report_number(f, "bytes_stored");
        if (i == n || !(written > 0))
            continue;
        const int y = 26 + 26 * i++;
        fprintf(out, "<text x=288 y=%d text-anchor=end>", y + 14);
        put_name(out, base_of(report_text(f, "path")));
        fprintf(out,
                "</text><rect x=300 y=%d width=\"%.1f\" height=18 rx=3 fill=\"var(--a)\" "
                "opacity=\".25\"/>"
                "<rect x=300 y=%d width=\"%.1f\" height=18 rx=3 fill=\"var(--a)\"/>"
                "<text class=s x=\"%.1f\" y=%d>%.2f</text>",
                y, fmax(630 * written / most, 1), y, fmax(630 * stored / most, 1),
                308 + 630 * fmax(written, stored) / most, y + 14, report_number(f, "ratio"));
    }
    fputs("</svg>", out);
    if (left_out)
        fprintf(out, "<p class=soft>The first %d files; %d more are in the table below.</p>", n,
                left_out);
    fputs("</div>\n", out);
}

/* The largest number in the lists of all write calls; 0: there is none. */
static double largest_of_calls(const cJSON *file, const char *key)
{
    const cJSON *call, *item;
    double most = 0;
    cJSON_ArrayForEach(call, cJSON_GetObjectItem(file, "calls"))
        cJSON_ArrayForEach(item, cJSON_GetObjectItem(call, key)) most =
            fmax(most, cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : 0);
    return most;
}

/* The largest error on samples if it was measured; else the absolute bounds of the calls. */
static void error_cell(FILE *out, const cJSON *file)
{
    const double seen = largest_of_calls(file, "errors_on_samples"),
                 bound = fmax(largest_of_calls(file, "absolute_bounds"),
                              report_number(file, "largest_bound"));
    if (seen > 0)
        fprintf(out, "<td>%.3g", seen);
    else if (bound > 0)
        fprintf(out, "<td class=soft>at most %.3g", bound);
    else
        fputs(strcmp(report_text(file, "bound"), "lossless") == 0 ? "<td>0" : "<td>-", out);
}

static void file_row(FILE *out, const cJSON *f)
{
    const double ranks = fmax(report_number(f, "ranks"), 1);
    fputs("<tr><td>", out);
    put(out, report_text(f, "path"));
    fputs("<td>", out);
    put_bytes(out, report_number(f, "bytes_written"));
    fputs("<td>", out);
    put_bytes(out, report_number(f, "bytes_stored"));
    if (report_number(f, "bytes_written") > 0) {
        fprintf(out, "<td>%.2f<td class=l>", report_number(f, "ratio"));
        put(out, report_text(f, "bound"));
        error_cell(out, f);
        fputs("<td class=l>", out);
        put(out, report_text(f, "codec"));
    } else {
        fputs("<td>-<td class=l>only read<td><td>", out);
    }
    fprintf(out, "<td>%.3g<td>%.3g<td>%.3g", report_number(f, "seconds_compress") / ranks,
            report_number(f, "seconds_write") / ranks, report_number(f, "seconds_read") / ranks);
    fprintf(out, "<td class=l>%s",
            cJSON_IsTrue(cJSON_GetObjectItem(f, "made_plain")) ? "made plain: it saved too little"
            : cJSON_IsTrue(cJSON_GetObjectItem(f, "hdf5"))     ? "an HDF5 file inside"
                                                               : "");
    fputs("\n", out);
}

static void files_table(FILE *out, const cJSON *files)
{
    const cJSON *f;
    if (cJSON_GetArraySize(files) == 0)
        return;
    fputs("<h3>Files</h3><div class=card><table><tr><th>file<th>written<th>stored<th>ratio<th "
          "class=l>bound<th>largest error, of samples<th class=l>codec<th>compress s<th>write "
          "s<th>read s<th "
          "class=l>\n",
          out);
    cJSON_ArrayForEach(f, files) file_row(out, f);
    fputs("</table></div>\n", out);
}

static void dry_table(FILE *out, const cJSON *rows)
{
    const cJSON *f, *e;
    if (cJSON_GetArraySize(rows) == 0)
        return;
    fputs("<h3>A dry run: what compression would give</h3><div class=card><table><tr><th>file or "
          "collective<th>written, sent<th "
          "class=l>bound<th class=l>codec<th>ratio<th>saved<th>seconds of a core\n",
          out);
    cJSON_ArrayForEach(f, rows)
    {
        bool first = true;
        cJSON_ArrayForEach(e, cJSON_GetObjectItem(f, "estimates"))
        {
            fputs("<tr><td>", out);
            if (first)
                put(out,
                    report_text(f, cJSON_HasObjectItem(f, "collective") ? "collective" : "path"));
            fputs("<td>", out);
            if (first)
                put_bytes(out, report_number(f, "bytes"));
            first = false;
            fputs("<td class=l>", out);
            put(out, report_text(e, "bound"));
            fputs("<td class=l>", out);
            put(out, report_text(e, "codec"));
            fprintf(out, "<td>%.2f<td>", report_number(e, "ratio"));
            put_bytes(out, fmax(report_number(e, "bytes_saved"), 0));
            fprintf(out, "<td>%.3g\n", report_number(e, "seconds"));
        }
    }
    fputs("</table></div>\n", out);
}

static void collectives_table(FILE *out, const cJSON *rows)
{
    const cJSON *c;
    if (cJSON_GetArraySize(rows) == 0)
        return;
    fputs("<h3>Collectives</h3><div class=card><table><tr><th>operation<th>calls<th>compressed<th>"
          "MB<th>MB sent<th>ratio<th>seconds saved\n",
          out);
    cJSON_ArrayForEach(c, rows)
    {
        fputs("<tr><td>", out);
        put(out, report_text(c, "name"));
        fprintf(out, "<td>%.0f<td>%.0f<td>%.2f<td>%.2f<td>%.2f<td>%.3g\n",
                report_number(c, "calls"), report_number(c, "calls_compressed"),
                report_number(c, "bytes") / 1e6, report_number(c, "bytes_sent") / 1e6,
                report_number(c, "ratio"), report_number(c, "seconds_saved"));
    }
    fputs("</table></div>\n", out);
}

static void notes(FILE *out, const cJSON *run)
{
    const cJSON *f, *plain = cJSON_GetObjectItem(run, "plain_files");
    const double more = report_number(run, "more_plain_files");
    if (cJSON_GetArraySize(plain) == 0)
        return;
    fputs("<h3>Files left alone</h3><div class=card><table><tr><th>file<th class=l>why\n", out);
    cJSON_ArrayForEach(f, plain)
    {
        fputs("<tr><td>", out);
        put(out, report_text(f, "path"));
        fputs("<td class=l>", out);
        put(out, report_text(f, "why"));
        fputs("\n", out);
    }
    fputs("</table>", out);
    if (more > 0)
        fprintf(out, "<p class=soft>and %.0f more</p>", more);
    fputs("</div>\n", out);
}

static void beside_each_other(FILE *out, cJSON *const *run, char *const *name, int runs)
{
    fputs("<div class=card><table><tr><th>run<th>files<th>written<th>stored<th>ratio<th>compress "
          "s<th>write s<th>read s\n",
          out);
    for (int i = 0; i < runs; i++) {
        const struct sums s = sum_up(run[i]);
        fputs("<tr><td>", out);
        put(out, name[i]);
        fprintf(out, "<td>%.0f<td>", s.files);
        put_bytes(out, s.written);
        fputs("<td>", out);
        put_bytes(out, s.stored);
        fprintf(out, "<td>%.2f<td>%.3g<td>%.3g<td>%.3g\n", quotient(s.written, s.stored),
                s.compress, s.write_time, s.read_time);
    }
    fputs("</table></div>\n", out);
}

void report_html(FILE *out, cJSON *const *run, char *const *name, int runs)
{
    fprintf(
        out,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
        "content=\"width=device-width\"><link rel=icon href=\"data:,\"><title>zmpi report</title>"
        "<style>%s</style><main><h1>zmpi report</h1><p class=soft>zmpi ",
        style);
    put(out, report_text(run[0], "zmpi"));
    fputs("</p>\n", out);
    if (runs > 1)
        beside_each_other(out, run, name, runs);
    for (int i = 0; i < runs; i++) {
        const struct sums s = sum_up(run[i]);
        const cJSON *files = cJSON_GetObjectItem(run[i], "files");
        fputs("<h2>", out);
        put(out, name[i]);
        fputs("</h2>\n", out);
        tiles(out, &s);
        bars(out, files);
        report_timeline(out, cJSON_GetObjectItem(run[i], "timeline"));
        time_bar(out, &s);
        dry_table(out, cJSON_GetObjectItem(run[i], "dry_run"));
        collectives_table(out, cJSON_GetObjectItem(run[i], "collectives"));
        notes(out, run[i]);
        files_table(out, files);
    }
    fputs("</main></html>\n", out);
}
