/* main.c - zmpi: look at, restore and make compressed files, without MPI. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/real_files.h"
#include "base/text.h"
#include "tool.h"

static const struct tool_command commands[] = {
    {"compress", tool_compress,
     "[-t f32|f64] -e BOUND [-T THRESHOLD] [--fill V[,V]] [--components N[:slow]] [--codec C] "
     "[-d NZxNYxNX] [-v] IN OUT",
     "Compress a raw field. Without -t and -d its name may tell, x_41x128x128.f32; else its data "
     "tell the shape, if they\n"
     "have one (-v prints it). Of more than three extents the leading ones are multiplied.\n"
     "BOUND: abs=V, every |x - x'| <= V; rel=V, V times max - min of the whole file, fill values "
     "and NaN left out;\n"
     "pw_rel=V, V times |x|; psnr=dB, peak signal-to-noise ratio of all values (the absolute bound "
     "found is printed);\n"
     "ratio=R, R times smaller, whatever the bound (it is printed); or lossless.\n"
     "-T V (ZMPI_THRESHOLD): values with |x| >= V are kept exactly and left out of the range.\n"
     "--fill V[,V] (ZMPI_FILL): so are these values, though they lie among the others.\n"
     "--components N (ZMPI_COMPONENTS): N variables take turns, or with :slow lie one behind the "
     "other; "
     "each has its own range.\n"
     "Not given, interleaved ones are found in the data, which is printed; 1: one array. -d is of "
     "all "
     "or of one of them.\n"
     "--codec C (ZMPI_CODEC): " ZMPI_ENCODER_NAMES ".\n"
     "-v says which device compressed, and why."},
    {"decompress", tool_decompress, "[-v] [-k] IN OUT",
     "Write the logical bytes of a compressed file to OUT. -v says which device decoded, and why.\n"
     "-k, --keep-going: as zmpi recover, but only damage is told of, on standard error."},
    {"convert", tool_convert, "[-t f32|f64] [-d NZxNYxNX] IN OUT.npy|OUT.vti|OUT.h5",
     "The numbers of a compressed or raw file as NumPy's .npy; as VTK's image data, .vti: one "
     "array, \"values\", of points 1\n"
     "apart; or as HDF5, .h5: a dataset, \"values\", whose attributes tell the bound. Without -t "
     "and -d its name may tell,\n"
     "x_41x128x128.f32, else what the file holds; where nothing tells a shape it is one row."},
    {"recover", tool_recover, "[--fill V [-t f32|f64]] [--json] [-a] | --plain [--size N] FILE OUT",
     "Write all that can be read of a damaged file to OUT, and list what cannot. Lost bytes become "
     "zero, or --fill V: a number\n"
     "of the type -t, without -t a byte. Where it is in doubt what was lost, OUT has older data or "
     "zeros. A file whose header\n"
     "is lost is searched for records. Exit status 0: nothing is lost, 1: a part is, 2: nothing "
     "was "
     "written.\n"
     "-a lists all ranges, not only the first 20.\n"
     "--plain: a program without zmpi wrote over a compressed file: the bytes that are probably "
     "that program's, without what is\n"
     "left of the compressed file behind them. --size N: N bytes."},
    {"cat", tool_cat, "FILE [-o OFFSET] [-n LENGTH]",
     "Logical bytes of a compressed file, or a part of them, to standard output."},
    {"info", tool_info, "[--json] [-a] FILE",
     "What the file holds, by which bound and how well compressed. -a lists all records, not only "
     "the first 20,\n"
     "and the kinds of them: like arrays with like bounds, with the range of the values, for which "
     "all of "
     "them are decoded."},
    {"verify", tool_verify, "FILE",
     "Check every checksum and decode every chunk. Exit status 1 if anything is damaged."},
    {"fsck", tool_fsck, "[--repair] FILE",
     "Scan the file for records and compare with its index. --repair writes a new index and "
     "header. Exit "
     "status 1 if something was\n"
     "wrong and is not repaired."},
    {"trim", tool_trim, "FILE",
     "Write the file anew, without what newer data have overwritten, and put it in the place of "
     "the "
     "old one."},
    {"compare", tool_compare, "[-t f32|f64] [-d NZxNYxNX] [--components N[:slow]] [--json] A B",
     "Differences of B from A, raw or compressed each: largest error, also of |x|, PSNR (of A's "
     "range), mean "
     "SSIM over 8x8 windows of\n"
     "2-D slices (step 4), elements whose NaN or infinity differs. Exit status 1 if sizes or those "
     "differ.\n"
     "Without -t the type is that of a name, x_41x128x128.f32, or of what a compressed file "
     "holds.\n"
     "--components N: the same of each of N variables that take turns (:slow: one behind the "
     "other)."},
    {"bench", tool_bench,
     "[-t f32|f64] [-d NZxNYxNX] [-e BOUND] [-T THRESHOLD] [--fill V[,V]] [--components N] "
     "[--codec C] [--threads "
     "N|A..B] [--size BYTES] "
     "[--repetitions N] [--peers] [--json] [-v] [FILE...]",
     "Speed and quality of the codec on raw fields, or on a generated smooth one, beside memcpy of "
     "the same array.\n"
     "Fields are repeated until they have --size bytes (256M). Type and shape are taken from names "
     "such as\n"
     "wind_40x128x128.f32 if not given. BOUND is rel=1e-3 by default. --components N: "
     "each of N variables that take turns by itself. --peers: zfp, lz4 and zstd "
     "too, as far as they\n"
     "were there when zmpi was built. --json: one object, or \"results\", a list, for several "
     "files or thread counts."},
    {"check", tool_check, "[--json] [-a] PROGRAM",
     "Which MPI calls of a program, and of the libraries it is linked to, libzmpi.so covers, "
     "passes "
     "on unchanged, or\n"
     "refuses on a compressed file. -a lists those passed on too. Exit status 1 if it covers "
     "none."},
    {"run", tool_run,
     "[-e BOUND] [--codec C] [--rules FILE] [--report FILE] [--mpi openmpi|mpich|abi] [--dry-run] "
     "[-v] [--] "
     "PROGRAM "
     "[ARGUMENT...]",
     "Run a program of MPI with the libzmpi.so of its MPI in front: mpirun -n 4 zmpi run -e "
     "rel=1e-3 ./simulation.\n"
     "-e (ZMPI_ERROR_BOUND), --codec (ZMPI_CODEC), --rules (ZMPI_CONFIG) and --report "
     "(ZMPI_REPORT) "
     "are stronger than the\n"
     "environment. The program's file tells its MPI, else the launcher; --mpi is for where both "
     "are wrong. What cannot\n"
     "be helped (static or setuid programs, an MPI that zmpi was not built for) gets one line and "
     "runs plain. -v says\n"
     "what is preloaded. --dry-run (ZMPI_DRY_RUN): nothing is compressed, the report says what "
     "would be.\n"
     "Exit status: the program's; 2: a setting is wrong, 127: there is no such "
     "program."},
    {"view", tool_view, "[--max BYTES] [-v] [--] PROGRAM [ARGUMENT...]",
     "Run a program that knows nothing of zmpi, and its children: what it opens for reading by "
     "open "
     "or fopen has the logical\n"
     "bytes of a compressed file, and stat tells their number: zmpi view python3 plot.py, zmpi "
     "view "
     "h5dump x.h5.\n"
     "Bytes are decoded when a file is opened, into memory, all files together at most --max "
     "(ZMPI_VIEW_MAX; a quarter of\n"
     "the machine's), above that into a nameless file in TMPDIR. A compressed file that is opened "
     "for writing becomes plain\n"
     "first, which one line tells. Static and setuid programs get one line and see compressed "
     "bytes. zmpi itself always\n"
     "sees the compressed file. -v says what is preloaded. Exit status: the program's; 2: a "
     "setting is wrong, 127: there\n"
     "is no such program."},
    {"mount", tool_mount, "[-f] DIR MOUNTPOINT",
     "Show DIR at MOUNTPOINT, an empty folder, with each compressed file as the plain file of its "
     "logical bytes, for reading alone\n"
     "(FUSE). Returns once it is mounted; -f stays in front, and says what goes wrong. "
     "fusermount3 -u MOUNTPOINT ends it. What is\n"
     "read is decoded then, several threads at a time (ZMPI_THREADS). MOUNTPOINT may be DIR "
     "itself, "
     "not a folder inside it.\n"
     "Where FUSE is not allowed: zmpi view."},
    {"report", tool_report, "[-o PAGE.html] REPORT.json...",
     "What runs saved, by the JSON that ZMPI_REPORT or zmpi run --report has written: in the "
     "terminal, "
     "or as one HTML page\n"
     "that needs no network and no script, several runs side by side."},
    {"advise", tool_advise, "[--psnr DB | --max-error V] REPORT.json",
     "Rules (ZMPI_CONFIG) by the report of a dry run (zmpi run --dry-run --report FILE), to "
     "standard "
     "output: for names that\n"
     "differ in digits alone the largest bound tried that keeps DB decibels (80), or errors up to "
     "V; "
     "lossless for what looks\n"
     "like restart files or holds nothing but whole numbers; nothing where the ratio stays below "
     "1.1. "
     "Decibels are those of\n"
     "errors spread evenly up to the bound."},
    {"options", tool_options, "[--file NAME] [--json] [SETTING...]",
     "All settings, or some, their values in force here, and where those come from. --file: those "
     "of a file of\n"
     "this name, and what they override."},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *out)
{
    fprintf(out, "zmpi %s: look at, restore and make compressed files\n\n", zmpi_version());
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  zmpi %s %s\n", commands[i].name, commands[i].arguments);
    fprintf(out, "\nzmpi COMMAND --help tells more. \"-\" is standard input or output. Settings: "
                 "zmpi options.\n"
                 "Exit status: 0 fine, 1 differences or damage found, 2 wrong usage or failure.\n");
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static const struct tool_command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

/* With the command that was probably meant, if one is like it. */
static int unknown_command(const char *name)
{
    size_t least = (strlen(name) + 1) / 2;
    const struct tool_command *meant = NULL;
    for (int i = 0; i < COMMANDS; i++) {
        const size_t d = zmpi_text_distance(name, commands[i].name);
        if (d < least) {
            least = d;
            meant = &commands[i];
        }
    }
    return tool_fail("there is no command \"%s\"%s%s%s", name, meant ? "; did you mean zmpi " : "",
                     meant ? meant->name : "", meant ? "?" : " (zmpi --help lists them)");
}

static bool is_one_of(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(name, *words) == 0)
            return true;
    return false;
}

/* One command, or what stands in its place. */
static int run(int argc, char **argv)
{
    static const char *const help[] = {"--help", "-h", "help", NULL}, *const version[] = {
                                                                          "--version", "-V", NULL};
    const char *name = argc > 1 ? argv[1] : "";
    if (is_one_of(name, version)) {
        printf("zmpi %s\n", zmpi_version());
        return TOOL_OK;
    }
    if (is_one_of(name, help) && argc > 2) { /* zmpi help COMMAND */
        const struct tool_command *c = find_command(argv[2]);
        return c ? tool_describe(c) : unknown_command(argv[2]);
    }
    if (is_one_of(name, help)) {
        print_help(stdout);
        return TOOL_OK;
    }
    if (!*name) {
        print_help(stderr);
        return TOOL_ERROR;
    }
    const struct tool_command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    tool_begin(command);
    const bool starts = command->run == tool_run || command->run == tool_view;
    if (!starts && asks_for_help(argc - 1, argv + 1)) /* else of the program? */
        return tool_help();
    return command->run(argc - 1, argv + 1);
}

/* A standard stream that is closed must not be the number of the next file. Reading what is open
 * here, or writing to it, fails. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    zmpi_real_files++; /* under zmpi view, too */
    hold_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not be so long is an error like others */
    int status = run(argc, argv);
    if (fflush(stdout) || ferror(stdout))
        return tool_fail("standard output: cannot be written");
    return status;
}
