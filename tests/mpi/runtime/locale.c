/*
 * locale.c - the report of a program whose locale writes 0,5 is still JSON, its bound's text a
 * bound, and its file where the program was started, though that goes elsewhere.
 *
 * zmpi-test: RANKS 1 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_REPORT=locale.json ZMPI_REPORT_TEXT=off
 */
#include "../../comma.h"
#include "check.h"

#include <ctype.h>
#include <errno.h>

enum { N = 100000 };

static const char path[] = "locale.z", report[] = "locale.json";

static void write_file(void)
{
    static float data[N];
    MPI_File file;
    for (int i = 0; i < N; i++)
        data[i] = (float)(i % 1000) * 1e-3F;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_write_all(file, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

static bool has_decimal_comma(const char *text)
{
    for (const char *at = text; (at = strchr(at, ',')) != NULL; at++)
        if (at > text && isdigit((unsigned char)at[-1]) && isdigit((unsigned char)at[1]))
            return true;
    return false;
}

/* What is wrong with the report, or NULL. After MPI_Finalize, so without CHECK. */
static const char *report_fault(void)
{
    static char text[4096];
    FILE *file = fopen(report, "r");
    if (!file)
        return "it is not there";
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *ratio = strstr(text, "\"ratio\": ");
    if (!ratio || !strstr(text, "\"rel=0.001\""))
        return "no ratio or bound";
    ratio += strlen("\"ratio\": ");
    if (has_decimal_comma(text) || ratio[strspn(ratio, "0123456789")] != '.')
        return "a number has a comma";
    return NULL;
}

int main(int argc, char **argv)
{
    if (!comma_set()) {
        fprintf(stderr, "no localedef here\n");
        return 77;
    }
    OK(MPI_Init(&argc, &argv));
    write_file();
    CHECK((mkdir("elsewhere", 0700) == 0 || errno == EEXIST) && chdir("elsewhere") == 0);
    OK(MPI_Finalize());
    if (chdir(".."))
        return 1;
    const char *fault = report_fault();
    if (fault)
        fprintf(stderr, "%s: %s\n", report, fault);
    return fault != NULL;
}
