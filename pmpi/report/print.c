/* print.c - the rows of the report, as text and as JSON. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/entry.h"

enum { TEXT_MOST = 200 };

void zentry_add(struct more *m, const struct entry *e)
{
    m->files++;
    for (int i = 0; i < SUMS; i++)
        m->sum[i] += e->sum[i];
}

double zentry_decibels(double share)
{
    return -20 * log10(share / sqrt(3));
}

static double quotient(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* A plain file is as large as it would be without us, however little of it was written. */
static double ratio_of(const struct entry *e)
{
    return e->plain ? 1 : quotient(e->sum[WRITTEN], e->sum[STORED]);
}

/* Prints auto's choices, and its estimate of each encoder's time. */
static void print_codec(FILE *out, const struct entry *e)
{
    const double *s = e->sum, all = s[BY_FLE] + s[BY_HUFFMAN];
    if (strcmp(e->codec, "fle") != 0)
        fprintf(out, ", %s", e->codec);
    if (strcmp(e->codec, "auto") == 0 && all > 0)
        fprintf(out, ": %.0f %% huffman (all fle %.3f s, all huffman %.3f s)",
                100 * s[BY_HUFFMAN] / all, s[ALL_FLE] / e->ranks, s[ALL_HUFFMAN] / e->ranks);
}

static void print_more(FILE *out, const struct more *m)
{
    char name[40];
    snprintf(name, sizeof name, "%.0f more", m->files);
    fprintf(out, "zmpi %-28s %10.2f %10.2f %7.2f %10s %10s %10.2f\n", name, m->sum[WRITTEN] / 1e6,
            m->sum[STORED] / 1e6, quotient(m->sum[WRITTEN], m->sum[STORED]), "-", "-",
            m->sum[READ] / 1e6);
}

enum { FOUND = 96 };

/* The bound that a ratio or a psnr took, and what it does to the values. */
static void describe_found(const struct entry *e, char text[FOUND])
{
    if (!(e->largest[0] > 0))
        snprintf(text, FOUND, " (without loss)");
    else if (e->largest[1] > 0)
        snprintf(text, FOUND, " (abs=%.4g, %.2g %% of the range, computed %.0f dB)", e->largest[0],
                 100 * e->largest[1], zentry_decibels(e->largest[1]));
    else
        snprintf(text, FOUND, " (abs=%.4g)", e->largest[0]);
}

/* Bytes that look like floats, if that is most of them. */
static void print_looks(FILE *out, const double *s)
{
    const double floats = s[LOOK_F32] + s[LOOK_F64];
    if (floats <= s[LOOKED] / 2 || s[WOULD] <= 0)
        return;
    const char *size = s[LOOK_F64] > s[LOOK_F32] ? "8" : "4";
    fprintf(out,
            "; %.0f %% of its bytes look like %s-byte floats: ZMPI_ELEMENT_TYPE=auto would "
            "make it about %.1f times smaller",
            100 * floats / s[LOOKED], size, s[LOOKED] / s[WOULD]);
}

void zentry_print_text(FILE *out, const struct entry *e, size_t n, const struct more *others)
{
    struct more rest = *others;
    for (; n > TEXT_MOST; n--)
        zentry_add(&rest, &e[n - 1]);
    if (n == 0 && rest.files <= 0)
        return;
    fprintf(out, "zmpi %-28s %10s %10s %7s %10s %10s %10s  %s\n", "file", "MB written", "MB stored",
            "ratio", "compress s", "write s", "MB read", "bound, device");
    for (size_t i = 0; i < n; i++) {
        const char *base = strrchr(e[i].path, '/');
        const double *s = e[i].sum;
        char name[61];
        zmpi_text_line(name, sizeof name, base ? base + 1 : e[i].path);
        char found[FOUND] = "";
        if (e[i].found)
            describe_found(&e[i], found);
        char ratio[32] = "-"; /* of a file that was only read; its bound is in the file */
        if (s[WRITTEN] > 0)
            snprintf(ratio, sizeof ratio, "%.2f", ratio_of(&e[i]));
        fprintf(out, "zmpi %-28s %10.2f %10.2f %7s %10.3f %10.3f %10.2f  ", name, s[WRITTEN] / 1e6,
                s[STORED] / 1e6, ratio, s[COMPRESS] / e[i].ranks, s[WRITE_TIME] / e[i].ranks,
                s[READ] / 1e6);
        if (s[WRITTEN] > 0) {
            fprintf(out, "%s%s", e[i].bound, found);
            if (e[i].bound_overrides[0])
                fprintf(out, " (%s, not %s)", e[i].bound_from, e[i].bound_overrides);
            fprintf(out, ", %s", e[i].by.device);
            print_codec(out, &e[i]);
            if (e[i].call_rules)
                fputs("; some calls' bounds by rules", out);
        } else {
            fputs("nothing written", out);
        }
        if (s[READ_OFFLOADED] > 0)
            fprintf(out, ", %.2f MB decoded by devices", s[READ_OFFLOADED] / 1e6);
        if (s[EXACT] >= s[WRITTEN] / 100 && s[EXACT] > 0) /* a header is not worth a word */
            fprintf(out, "; %.2f MB exact: not of a float type", s[EXACT] / 1e6);
        if (s[MISTYPED] > 0)
            fprintf(out, "; %.2f MB exact: in the other byte order, or not like floats",
                    s[MISTYPED] / 1e6);
        print_looks(out, s);
        if (e[i].plain)
            fputs("; made plain at close", out);
        else if (e[i].hdf5)
            fprintf(out, "; an HDF5 file inside%s (zmpi decompress)",
                    e[i].datasets ? ", its datasets' bounds by rules" : "");
        fputc('\n', out);
    }
    if (rest.files > 0)
        print_more(out, &rest);
    bool compressed = false;
    for (size_t i = 0; i < n; i++)
        compressed = compressed || (e[i].sum[WRITTEN] > 0 && !e[i].plain);
    if (compressed)
        fputs("zmpi Programs with libzmpi.so in front read these files as usual; for others: "
              "zmpi view PROGRAM, zmpi mount, zmpi decompress, Python's zmpi.open\n",
              out);
}

static const char *const sum_name[] = {"bytes_written",
                                       "bytes_stored",
                                       "bytes_read",
                                       "records",
                                       "seconds_range",
                                       "seconds_compress",
                                       "seconds_wait",
                                       "seconds_write",
                                       "seconds_read",
                                       "collective_calls",
                                       "independent_calls",
                                       "bytes_offloaded",
                                       "bytes_decoded_offloaded",
                                       "bytes_exact",
                                       "bytes_other_byte_order",
                                       "bytes_looked_at",
                                       "bytes_like_f32",
                                       "bytes_like_f64",
                                       "bytes_if_floats",
                                       "bytes_fle",
                                       "bytes_huffman",
                                       "estimate_fle",
                                       "estimate_huffman"};

void zentry_print_json(FILE *out, const struct entry *e, const char *calls)
{
    const int most = strcmp(e->codec, "auto") == 0 ? SUMS : BY_FLE;
    fputs("    {\"path\": ", out);
    zmpi_text_json(out, e->path);
    fprintf(out, ", \"bound\": \"%s\", \"bound_from\": \"%s\"", e->bound, e->bound_from);
    if (e->bound_overrides[0])
        fprintf(out, ", \"bound_overrides\": \"%s\"", e->bound_overrides);
    fputs(", \"device\": ", out);
    zmpi_text_json(out, e->by.device);
    fputs(", \"device_why\": ", out);
    zmpi_text_json(out, e->by.why);
    fputs(", \"read_device\": ", out);
    zmpi_text_json(out, e->read_by.device);
    fputs(", \"read_device_why\": ", out);
    zmpi_text_json(out, e->read_by.why);
    fprintf(out, ", \"ranks\": %.0f, \"ratio\": %.6g", e->ranks, ratio_of(e));
    fprintf(out, ", \"codec\": \"%s\"", e->codec);
    for (int i = 0; i < most; i++)
        fprintf(out, ", \"%s\": %.15g", sum_name[i], e->sum[i]);
    if (e->plain)
        fputs(", \"made_plain\": true", out);
    if (e->hdf5)
        fputs(", \"hdf5\": true", out);
    if (e->found)
        fprintf(out, ", \"largest_bound\": %.15g, \"largest_bound_of_range\": %.6g", e->largest[0],
                e->largest[1]);
    if (e->found && e->largest[1] > 0)
        fprintf(out, ", \"psnr_computed\": %.4g", zentry_decibels(e->largest[1]));
    fprintf(out, ", \"share_constant\": %.6g", e->flat);
    if (calls && e->calls)
        fprintf(out, ", \"calls\": [%.*s]", (int)e->calls, calls);
    fputc('}', out);
}

void zentry_print_json_more(FILE *out, const struct more *m)
{
    if (m->files <= 0)
        return;
    fprintf(out, "  \"more_files\": {\"files\": %.0f", m->files);
    for (int i = 0; i < BY_FLE; i++)
        fprintf(out, ", \"%s\": %.15g", sum_name[i], m->sum[i]);
    fputs("},\n", out);
}
