/* main.c - zmpi: the tool that examines, restores and makes compressed files, without MPI. */
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
     "Compress a raw field. Without -t and -d the name may tell them, as in x_41x128x128.f32; else "
     "zmpi looks for a shape in the\n"
     "data (-v prints it). Of more than three extents the leading ones are multiplied.\n"
     "BOUND: abs=V, every |x - x'| <= V; rel=V, V times max - min of the whole file, without fill "
     "values and NaN;\n"
     "pw_rel=V, V times |x|; psnr=dB, peak signal-to-noise ratio of all values (prints the "
     "absolute bound that this takes);\n"
     "ratio=R, R times smaller, whatever the bound (prints it); or lossless. It holds for a small "
     "file, too, which as a program's call would be exact.\n"
     "-T V (ZMPI_THRESHOLD): values with |x| >= V are exact and not part of the range.\n"
     "--fill V[,V] (ZMPI_FILL): so are these values.\n"
     "--components N (ZMPI_COMPONENTS): N interleaved variables, or with :slow one behind the "
     "other; each has its own range.\n"
     "Without it, zmpi looks for interleaved ones in the data and prints what it finds; 1: one "
     "array. -d is of all or of one of them.\n"
     "--codec C (ZMPI_CODEC): " ZMPI_ENCODER_NAMES ".\n"
     "-v says which device compressed, and why.",
     "zmpi compress -e rel=1e-3 x_41x128x128.f32 x.zmpi"},
    {"decompress", tool_decompress, "[-v] [-k] [--enhance] IN OUT",
     "Write the uncompressed bytes of a compressed file to OUT. -v says which device decompressed, "
     "and why.\n"
     "--enhance: values nearer to the original ones, by the network that zmpi enhance has put into "
     "the file.\n"
     "-k, --keep-going: as zmpi recover, but report only damage, on standard error.",
     "zmpi decompress x.zmpi x.raw"},
    {"convert", tool_convert, "[-t f32|f64] [-d NZxNYxNX] IN OUT.npy|OUT.vti|OUT.h5",
     "Write the numbers of a compressed or raw file as NumPy's .npy; as VTK's image data, .vti: "
     "one array, \"values\", of points\n"
     "1 apart; or as HDF5, .h5: a dataset, \"values\", with attributes for the bound. Without -t "
     "and -d the name may tell them,\n"
     "as in x_41x128x128.f32, else the file's content; without any shape the array is one row.",
     "zmpi convert x.zmpi x.npy"},
    {"recover", tool_recover, "[--fill V [-t f32|f64]] [--json] [-a] | --plain [--size N] FILE OUT",
     "Write all that can be read of a damaged file to OUT, and list the rest. Lost bytes become "
     "zero, or --fill V: a number\nof the type -t, without -t a byte. If zmpi cannot tell what was "
     "lost, OUT has older data or zeros. Without a valid header the\n"
     "whole file is searched for records. Exit status 0: nothing is lost, 1: a part is, 2: nothing "
     "was written.\n"
     "-a lists all ranges, not only the first 20.\n"
     "--plain: a program without zmpi wrote over a compressed file: write the bytes that are "
     "probably that program's, without what is\n"
     "left of the compressed file behind them. --size N: N bytes.",
     "zmpi recover --fill nan -t f32 damaged.zmpi saved.raw"},
    {"cat", tool_cat, "FILE [-o OFFSET] [-n LENGTH]",
     "Write the uncompressed bytes of a compressed file, or a part of them, to standard output.",
     "zmpi cat x.zmpi -o 65536 -n 64 | od -t f4"},
    {"info", tool_info, "[--json] [-a] FILE",
     "Show what a file holds, its bounds, and its ratio. -a lists all records, not only the first "
     "20, and the kinds\n"
     "of records: like arrays with like bounds, with the range of their values, for which it "
     "decodes the whole file.\n"
     "Where shapes are from, and how large errors were, only the report of the run has.",
     "zmpi info x.zmpi"},
    {"verify", tool_verify, "FILE",
     "Check every checksum and decode every chunk. Exit status 1 if anything is damaged.",
     "zmpi verify x.zmpi"},
    {"fsck", tool_fsck, "[--repair] FILE",
     "Scan a file for records and compare them with its index. --repair writes a new index and "
     "header. Exit status 1 if something\n"
     "is wrong and not repaired.",
     "zmpi fsck --repair x.zmpi"},
    {"trim", tool_trim, "FILE",
     "Write a file anew, without overwritten data, and put it in the place of the old one.",
     "zmpi trim x.zmpi"},
    {"enhance", tool_enhance,
     "--train ORIGINAL [--weights OTHER] [--epochs N] [--bound 1x|2x] [--always] [--threads N] [-o "
     "OUT] FILE",
     "Train a small network by which decoded values come nearer to the original ones, and put it "
     "into FILE (or its copy OUT), which\n"
     "interp coded from ORIGINAL within an absolute bound. zmpi decompress --enhance applies it; "
     "all else reads the file as before.\n"
     "Values stay within the file's bound: where the network would push them out a flag keeps "
     "them. --bound 2x: within twice the\n"
     "bound, with next to no flags. Chunks that gain less than a smaller bound would for the same "
     "bytes stay as they are; if all do,\n"
     "nothing is written. --always: whatever a smaller bound would give.\n"
     "--weights OTHER: begin with the network of another file, such as an earlier time step, and "
     "train no more, without --epochs.\n"
     "--epochs N: times that it sees all data (10), at most 4 million values each time.",
     "zmpi enhance --train x_41x128x128.f32 x.zmpi"},
    {"compare", tool_compare, "[-t f32|f64] [-d NZxNYxNX] [--components N[:slow]] [--json] A B",
     "Compare B with A; each may be raw or compressed. Prints the largest error, also relative to "
     "|x|, PSNR (of A's range), mean SSIM over\n"
     "8x8 windows of 2-D slices (step 4), and elements whose NaN or infinity differs. Exit status "
     "1 if sizes or those differ.\n"
     "Without -t the name tells the type, as in x_41x128x128.f32, or a compressed file's content.\n"
     "--components N: the same for each of N interleaved variables (:slow: one behind the other).",
     "zmpi compare x_41x128x128.f32 x.zmpi"},
    {"bench", tool_bench,
     "[-t f32|f64] [-d NZxNYxNX] [-e BOUND] [-T THRESHOLD] [--fill V[,V]] [--components N] "
     "[--codec C] [--threads "
     "N|A..B] [--size BYTES] "
     "[--repetitions N] [--peers] [--json] [-v] [FILE...]",
     "Measure speed and quality of the codec on raw fields, or on a generated smooth one, beside "
     "memcpy of the same array.\n"
     "Fields are repeated until they have --size bytes (256M). Without -t and -d names tell type "
     "and shape, as in\n"
     "wind_40x128x128.f32. BOUND is rel=1e-3 by default. --components N: each of N interleaved "
     "variables by itself. --peers: also zfp,\n"
     "lz4 and zstd, if they were there when zmpi was built. --json: one object, or \"results\", a "
     "list, for several files or thread counts.",
     "zmpi bench -e rel=1e-4 --codec huffman --threads 1..4 x_41x128x128.f32"},
    {"check", tool_check, "[--json] [-a] PROGRAM",
     "List which MPI calls of a program, and of the libraries it is linked to, libzmpi.so covers, "
     "and which it refuses on a\n"
     "compressed file. -a also lists those that it passes on unchanged. Exit status 1 if it covers "
     "none.",
     "zmpi check ./simulation"},
    {"run", tool_run,
     "[-e BOUND] [--codec C] [--rules FILE] [--report FILE] [--mpi openmpi|mpich|abi] [--dry-run] "
     "[-v] [--] "
     "PROGRAM "
     "[ARGUMENT...]",
     "Run an MPI program with the libzmpi.so for its MPI preloaded.\n"
     "-e (ZMPI_ERROR_BOUND), --codec (ZMPI_CODEC), --rules (ZMPI_CONFIG) and --report "
     "(ZMPI_REPORT) override the\n"
     "environment. zmpi finds the MPI in the program's file, else by the launcher; --mpi names it "
     "if both are wrong. Programs that\n"
     "zmpi cannot help (static or setuid ones, an MPI that it was not built for) run unchanged, "
     "and one line says so. -v says\n"
     "what is preloaded. --dry-run (ZMPI_DRY_RUN): compress nothing, report what compression would "
     "give.\n"
     "Exit status: the program's; 2: a setting is wrong, 127: there is no such program.",
     "mpirun -n 4 zmpi run -e rel=1e-3 --report run.json ./simulation"},
    {"view", tool_view, "[--max BYTES] [-v] [--] PROGRAM [ARGUMENT...]",
     "Run a program that knows nothing of zmpi, and its children: what it opens for reading by "
     "open or fopen has the\n"
     "uncompressed bytes, and stat tells their number: zmpi view python3 plot.py, zmpi view h5dump "
     "x.h5.\n"
     "A file is decompressed when it is opened, into memory, all files together at most --max "
     "(ZMPI_VIEW_MAX; a quarter of\n"
     "the machine's), beyond that into a nameless file in TMPDIR. A compressed file that the "
     "program opens for writing becomes plain\n"
     "first, and one line says so. Static and setuid programs see compressed bytes, and one line "
     "says so. zmpi itself always\n"
     "sees the compressed file. -v says what is preloaded. Exit status: the program's; 2: a "
     "setting is wrong, 127: there\n"
     "is no such program.",
     "zmpi view python3 plot.py"},
    {"mount", tool_mount, "[-f] DIR MOUNTPOINT",
     "Show DIR at MOUNTPOINT, an empty folder, read-only, with each compressed file as a plain "
     "file (FUSE). Returns\n"
     "when it is mounted; -f stays in the foreground, and says what goes wrong. fusermount3 -u "
     "MOUNTPOINT ends it. zmpi decompresses\n"
     "what is read, several threads at a time (ZMPI_THREADS). MOUNTPOINT may be DIR itself, but "
     "not a folder inside it.\n"
     "If FUSE is not allowed: zmpi view.",
     "zmpi mount /data/run1 /tmp/run1"},
    {"report", tool_report, "[-o PAGE.html] REPORT.json...",
     "Show what runs saved, from the JSON of ZMPI_REPORT or zmpi run --report: in the terminal, or "
     "as one HTML page\n"
     "without network or scripts, several runs side by side.",
     "zmpi report -o page.html run.json"},
    {"advise", tool_advise, "[--psnr DB | --max-error V] REPORT.json",
     "Write rules (ZMPI_CONFIG) from the report of a dry run (zmpi run --dry-run --report FILE) to "
     "standard output: for names that\n"
     "differ only in digits, the largest bound tried that keeps DB decibels (80), or errors up to "
     "V; lossless for what looks\n"
     "like restart files or holds only whole numbers; nothing if the ratio stays below 1.1. "
     "Decibels are those of\n"
     "errors spread evenly up to the bound.",
     "zmpi advise --psnr 80 dry.json >rules.conf"},
    {"options", tool_options, "[--file NAME] [--json] [SETTING...]",
     "Show all settings, or some: their values here, and where the values come from. --file: those "
     "of a file of\n"
     "this name, and what they override.",
     "zmpi options --file out.bin error_bound"},
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

/* Names the command that was probably meant, if one is similar. */
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

/* Runs one command, or its help. */
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
    if (!starts && asks_for_help(argc - 1, argv + 1)) /* else the program gets it */
        return tool_help();
    return command->run(argc - 1, argv + 1);
}

/* If a standard stream is closed, the next open file would get its number. So it is opened here, in
 * a way that reads and writes fail. */
static void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    zmpi_real_files++; /* containers stay containers, also under zmpi view */
    open_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* a file that exceeds the size limit is an error like others */
    int status = run(argc, argv);
    if (fflush(stdout) || ferror(stdout))
        return tool_fail("standard output: cannot be written");
    return status;
}
