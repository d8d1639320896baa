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
     "Compress a raw field.\n"
     "\n"
     "  -e BOUND      how far a value x may be off:\n"
     "                  abs=V      V\n"
     "                  rel=V      V times max - min of the file, NaN and fill values\n"
     "                             left out\n"
     "                  pw_rel=V   V times |x|\n"
     "                  psnr=dB    peak signal-to-noise ratio of all values\n"
     "                  ratio=R    whatever makes the file R times smaller\n"
     "                  lossless   not at all\n"
     "                zmpi prints the absolute bound that psnr and ratio take. A small\n"
     "                file is lossy, too, although a program's call would be exact.\n"
     "  -t f32|f64    type of the numbers\n"
     "  -d NZxNYxNX   extents, slowest first; more than three: the first are multiplied\n"
     "  -T V          values with |x| >= V are exact and not part of the range\n"
     "                (ZMPI_THRESHOLD)\n"
     "  --fill V[,V]  so are these values (ZMPI_FILL)\n"
     "  --components N[:slow]\n"
     "                N interleaved variables, or with :slow one behind the other, each\n"
     "                with its own range (ZMPI_COMPONENTS), of which ratio=R takes the\n"
     "                same part for all; -d is of all or of one of them. 1: one array\n"
     "  --codec C     " ZMPI_ENCODER_NAMES "\n"
     "                (ZMPI_CODEC)\n"
     "  -v            say which device compressed, and why, and the shape\n"
     "\n"
     "Without -t and -d the name may tell them, as in x_41x128x128.f32; else zmpi looks\n"
     "for extents in the data. It also looks for interleaved variables there, and prints\n"
     "what it finds.",
     "zmpi compress -e rel=1e-3 x_41x128x128.f32 x.zmpi"},
    {"decompress", tool_decompress, "[-v] [-k] [--enhance] IN OUT",
     "Write the uncompressed bytes of a compressed file to OUT.\n"
     "\n"
     "  --enhance         values nearer to the original ones, by the network that\n"
     "                    zmpi enhance has put into the file\n"
     "  -k, --keep-going  save what can be read of a damaged file, as zmpi recover does,\n"
     "                    and report damage alone, on standard error\n"
     "  -v                say which device decompressed, and why",
     "zmpi decompress x.zmpi x.raw"},
    {"convert", tool_convert, "[-t f32|f64] [-d NZxNYxNX] IN OUT.npy|OUT.vti|OUT.h5",
     "Write the numbers of a compressed or raw file for other programs. The name of OUT\n"
     "chooses the format: .npy for NumPy, .vti for VTK's image data (one array, \"values\",\n"
     "of points 1 apart), .h5 for HDF5 (a dataset, \"values\"; attributes tell the bound).\n"
     "\n"
     "  -t f32|f64    type of the numbers\n"
     "  -d NZxNYxNX   extents, slowest first\n"
     "\n"
     "Without them the name may tell, as in x_41x128x128.f32, else the file's content;\n"
     "without any shape the array is one row.",
     "zmpi convert x.zmpi x.npy"},
    {"recover", tool_recover, "[--fill V [-t f32|f64]] [--json] [-a] | --plain [--size N] FILE OUT",
     "Write all that can be read of a damaged file to OUT, and list the rest. Lost bytes\n"
     "become zero. Where zmpi cannot tell what was lost, OUT has older data or zeros. If the\n"
     "header is damaged, zmpi searches the whole file for records.\n"
     "\n"
     "  --fill V     lost bytes become V: a number of the type -t, or a byte\n"
     "  -t f32|f64   type of V\n"
     "  -a           list all lost ranges, not only the first 20\n"
     "  --json       list them as JSON\n"
     "  --plain      a program without zmpi wrote over a compressed file: write the bytes\n"
     "               that are probably that program's, without the rest of the compressed\n"
     "               file behind them\n"
     "  --size N     with --plain: N bytes\n"
     "\n"
     "Exit status 0: nothing is lost; 1: a part is lost; 2: nothing was written.",
     "zmpi recover --fill nan -t f32 damaged.zmpi saved.raw"},
    {"cat", tool_cat, "FILE [-o OFFSET] [-n LENGTH]",
     "Write the uncompressed bytes of a compressed file to standard output.\n"
     "\n"
     "  -o OFFSET   begin at this byte\n"
     "  -n LENGTH   write so many",
     "zmpi cat x.zmpi -o 65536 -n 64 | od -t f4"},
    {"info", tool_info, "[--json] [-a] FILE",
     "Show what a file holds, its bounds and its ratio.\n"
     "\n"
     "  -a       list all records, not only the first 20, and the kinds of records: arrays\n"
     "           of one shape and bound, with the range of their values. For this zmpi\n"
     "           decodes the whole file. And the write calls, if the file tells them, by\n"
     "           the numbers that rules need ([NAME #7]), with their largest errors\n"
     "  --json   all of it as JSON",
     "zmpi info x.zmpi"},
    {"verify", tool_verify, "FILE",
     "Check every checksum and decode every chunk. Exit status 1 if anything is damaged.",
     "zmpi verify x.zmpi"},
    {"fsck", tool_fsck, "[--repair] FILE",
     "Scan a file for records and compare them with its index.\n"
     "\n"
     "  --repair   write a new index and header\n"
     "\n"
     "Exit status 1 if something is wrong and not repaired.",
     "zmpi fsck --repair x.zmpi"},
    {"trim", tool_trim, "FILE",
     "Remove overwritten data from a file: write it anew, and put it in the place of the\n"
     "old one.",
     "zmpi trim x.zmpi"},
    {"enhance", tool_enhance,
     "--train ORIGINAL [--weights OTHER] [--epochs N] [--bound 1x|2x] [--always] [--threads N] [-o "
     "OUT] FILE",
     "Train a small network that brings decoded values nearer to the original ones, and\n"
     "store it in FILE. interp must have coded FILE within an absolute bound. Then zmpi\n"
     "decompress --enhance uses the network; everything else reads the file as before.\n"
     "\n"
     "Values stay within the file's bound: a flag keeps those that the network would push\n"
     "beyond it. Chunks for which a smaller bound would gain more, for the same bytes, stay\n"
     "as they are; if that is all of them, zmpi writes nothing.\n"
     "\n"
     "  --train ORIGINAL   the raw field that FILE was made from\n"
     "  -o OUT             leave FILE alone, and store the network in a copy of it\n"
     "  --bound 1x|2x      2x: values stay within twice the bound, with next to no flags\n"
     "  --always           store the network even if a smaller bound would gain more\n"
     "  --weights OTHER    begin with the network of another file, such as an earlier time\n"
     "                     step; without --epochs, train no more\n"
     "  --epochs N         see all data N times (10), at most 4 million values each time\n"
     "  --threads N        threads to train with",
     "zmpi enhance --train x_41x128x128.f32 x.zmpi"},
    {"compare", tool_compare, "[-t f32|f64] [-d NZxNYxNX] [--components N[:slow]] [--json] A B",
     "Compare two files, raw or compressed: B with A. Prints the largest error, also\n"
     "relative to |x|, PSNR (of A's range), mean SSIM over 8x8 windows of 2-D slices\n"
     "(step 4), and the number of elements whose NaN or infinity differs.\n"
     "\n"
     "  -t f32|f64    type of the numbers\n"
     "  -d NZxNYxNX   extents, slowest first\n"
     "  --components N[:slow]\n"
     "                each of N interleaved variables by itself, too (:slow: one behind\n"
     "                the other)\n"
     "  --json        all of it as JSON\n"
     "\n"
     "Without -t the name tells the type, as in x_41x128x128.f32, or a compressed file's\n"
     "content. Exit status 1 if sizes, NaN or infinities differ.",
     "zmpi compare x_41x128x128.f32 x.zmpi"},
    {"bench", tool_bench,
     "[-t f32|f64] [-d NZxNYxNX] [-e BOUND] [-T THRESHOLD] [--fill V[,V]] [--components N[:slow]] "
     "[--codec C] [--threads "
     "N|A..B] [--size BYTES] "
     "[--repetitions N] [--peers] [--json] [-v] [FILE...]",
     "Measure speed and quality of the codec on raw fields, or on a smooth field that it\n"
     "makes, beside memcpy of the same array.\n"
     "\n"
     "  -t f32|f64        type of the numbers\n"
     "  -d NZxNYxNX       extents, slowest first\n"
     "  -e BOUND          as for zmpi compress (rel=1e-3)\n"
     "  -T V, --fill V[,V], --codec C\n"
     "                    as for zmpi compress\n"
     "  --components N[:slow]\n"
     "                    each of N interleaved variables by itself, or with :slow of N\n"
     "                    one behind the other\n"
     "  --threads N|A..B  N threads, or each number from A to B (1)\n"
     "  --size BYTES      repeat the field until it has so many bytes (256M)\n"
     "  --repetitions N   measure N times (7)\n"
     "  --peers           zfp, lz4 and zstd as well, if they were there when zmpi was built\n"
     "  --json            one object; for several files or thread counts a list, \"results\"\n"
     "  -v                say more: axes, ranges, bytes\n"
     "\n"
     "Without -t and -d names tell type and extents, as in wind_40x128x128.f32.",
     "zmpi bench -e rel=1e-4 --codec huffman --threads 1..4 x_41x128x128.f32"},
    {"check", tool_check, "[--json] [-a] PROGRAM",
     "List the MPI calls that libzmpi.so covers, of a program and the libraries that it is\n"
     "linked to, and those that it refuses on a compressed file.\n"
     "\n"
     "  -a       also list those that it passes on unchanged\n"
     "  --json   all of it as JSON\n"
     "\n"
     "Exit status 1 if it covers none.",
     "zmpi check ./simulation"},
    {"run", tool_run,
     "[-e BOUND] [--codec C] [--rules FILE] [--report FILE] [--mpi openmpi|mpich|abi] [--dry-run] "
     "[-v] [--] "
     "PROGRAM "
     "[ARGUMENT...]",
     "Run an MPI program with the libzmpi.so for its MPI in front of it (LD_PRELOAD).\n"
     "\n"
     "  -e BOUND        error bound (ZMPI_ERROR_BOUND): zmpi options error_bound\n"
     "  --codec C       encoder (ZMPI_CODEC)\n"
     "  --rules FILE    bounds and settings by file name (ZMPI_CONFIG)\n"
     "  --report FILE   write the report as JSON (ZMPI_REPORT)\n"
     "  --dry-run       compress nothing, report what compression would save (ZMPI_DRY_RUN)\n"
     "  --mpi NAME      openmpi, mpich or abi, if zmpi takes the wrong one. It looks at the\n"
     "                  program's file, else at the launcher.\n"
     "  -v              say which library it takes, and why\n"
     "\n"
     "Options override the environment. Programs that zmpi cannot help (static or setuid\n"
     "ones, an MPI that it was not built for) run without it, and one line says so.\n"
     "Exit status: the program's; 2: a setting is wrong; 127: there is no such program.",
     "mpirun -n 4 zmpi run -e rel=1e-3 --report run.json ./simulation"},
    {"view", tool_view, "[--max BYTES] [-v] [--] PROGRAM [ARGUMENT...]",
     "Run a program that knows nothing of zmpi, and the programs that it starts. When they\n"
     "open a compressed file for reading (by open, fopen, C++ or Fortran), they see its\n"
     "uncompressed bytes; stat tells their number.\n"
     "\n"
     "  --max BYTES   memory for the bytes of all open files together (ZMPI_VIEW_MAX; a\n"
     "                quarter of the machine's). What is beyond goes to a nameless file in\n"
     "                TMPDIR.\n"
     "  -v            say which library is put in front of the program\n"
     "\n"
     "An open decompresses the whole file. A compressed file that the program opens for\n"
     "writing becomes plain first, and one line says so. Static and setuid programs see\n"
     "compressed bytes, and one line says so. zmpi itself always sees the compressed file.\n"
     "Exit status: the program's; 2: a setting is wrong; 127: there is no such program.",
     "zmpi view python3 plot.py"},
    {"mount", tool_mount, "[-f] DIR MOUNTPOINT",
     "Show a folder with its compressed files as plain files, read-only (FUSE). DIR appears\n"
     "at MOUNTPOINT, an empty folder. zmpi returns when it is mounted; fusermount3 -u\n"
     "MOUNTPOINT ends it.\n"
     "\n"
     "  -f   stay in the foreground, and say what goes wrong\n"
     "\n"
     "zmpi decompresses what is read, by several threads (ZMPI_THREADS). MOUNTPOINT may be\n"
     "DIR itself, but not a folder inside it. Where FUSE is not allowed use zmpi view.",
     "zmpi mount /data/run1 /tmp/run1"},
    {"report", tool_report, "[-o PAGE.html] REPORT.json...",
     "Show what runs saved, from the JSON of zmpi run --report or ZMPI_REPORT: in the\n"
     "terminal, or as one HTML page without network or scripts, several runs side by side.\n"
     "\n"
     "  -o PAGE.html   write the page",
     "zmpi report -o page.html run.json"},
    {"advise", tool_advise, "[--psnr DB | --max-error V] REPORT.json",
     "Choose bounds, from the report of a dry run (zmpi run --dry-run --report FILE). It\n"
     "writes rules (ZMPI_CONFIG) to standard output: for names that differ only in digits,\n"
     "the largest bound tried that is good enough; lossless for what looks like restart\n"
     "files or holds only whole numbers; nothing if the ratio stays below 1.1.\n"
     "\n"
     "  --psnr DB       good enough: DB decibels (80), if errors are spread evenly up to\n"
     "                  the bound\n"
     "  --max-error V   good enough: no error is larger than V",
     "zmpi advise --psnr 80 dry.json >rules.conf"},
    {"options", tool_options, "[--file NAME] [--json] [SETTING...]",
     "Show all settings, or some: what they mean, their values here, and where the values\n"
     "come from.\n"
     "\n"
     "  --file NAME   for a file of this name: its values, and what they override\n"
     "  --json        all of it as JSON",
     "zmpi options --file out.bin error_bound"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

/* The length of what a help text begins with: its first words, up to a mark or a line's end. */
static int brief_length(const char *help)
{
    const char *p = help + strcspn(help, ".,;:(\n");
    while (*p == '.' && p[1] != '\n' && p[1] != ' ' && p[1] != 0) /* in a name */
        p += 1 + strcspn(p + 1, ".,;:(\n");
    while (p > help && p[-1] == ' ')
        p--;
    return (int)(p - help);
}

static void print_help(FILE *out)
{
    fprintf(out, "zmpi %s: look at, restore and make compressed files\n\n", zmpi_version());
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  zmpi %-11s %.*s\n", commands[i].name, brief_length(commands[i].help),
                commands[i].help);
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
