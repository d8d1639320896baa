/*
 * codec_choice.c - what ZMPI_CODEC=auto picks, on disks that are made up.
 *
 * zmpi-test: RANKS 1 ANYIO PLAIN
 */
#include "device/codec_choice.c"
#include "check.h"

enum { RECORD = 4 << 20 };

/* Bytes per second of the disk, of each encoder; ratios. */
struct model {
    double disk, speed[2], ratio[2];
    bool behind;
    enum zmpi_codec_place by; /* who codes and writes */
};

static double seconds(const struct model *m, int i)
{
    double coding = RECORD / m->speed[i], writing = RECORD / m->ratio[i] / m->disk;
    return m->behind ? fmax(coding, writing) : coding + writing;
}

/* Seconds of n records; *huffman: how many were by it. */
static double run(struct zmpi_codec_choice *c, const struct model *m, int n, int *huffman)
{
    double sum = 0;
    *huffman = 0;
    for (int k = 0; k < n; k++) {
        int i = zmpi_codec_choose(c) - 1;
        CHECK(i == 0 || i == 1);
        zmpi_codec_coded(c, i + 1, m->by, RECORD, RECORD / m->ratio[i], RECORD / m->speed[i]);
        zmpi_codec_written(c, m->by, RECORD / m->ratio[i], RECORD / m->ratio[i] / m->disk,
                           m->behind);
        sum += seconds(m, i);
        *huffman += i;
    }
    return sum;
}

static void converges(struct zmpi_codec_choice *c, struct model m, int best)
{
    int huffman;
    check_say("disk %g, speeds %g %g, ratios %g %g%s", m.disk, m.speed[0], m.speed[1], m.ratio[0],
              m.ratio[1], m.behind ? ", behind" : "");
    run(c, &m, 2000, &huffman); /* from what was before */
    double sum = run(c, &m, 400, &huffman), least = 400 * seconds(&m, best - 1);
    CHECK(sum <= 1.07 * least);
    CHECK(best == 2 ? huffman > 300 : huffman < 100);
    CHECK(zmpi_codec_estimate(c, best) <= zmpi_codec_estimate(c, 3 - best));
}

/* Whatever the device did, its first record after it is coded by what is best here, and what was
 * measured here before is what counts. */
static void comes_home(void)
{
    const struct model device = {2e8, {1e9, 1e9}, {8, 12}, false, ZMPI_CODEC_DEVICE};
    const struct model slow_here = {2e8, {8e9, 1e8}, {8, 12}, false, ZMPI_CODEC_HERE};
    const struct model fast_here = {2e8, {8e9, 1.5e9}, {8, 12}, false, ZMPI_CODEC_HERE};
    struct zmpi_codec_choice c = {.turns = 0}, here = c;
    int huffman;
    check_say("a device that fails");
    converges(&c, device, 2);
    zmpi_codec_coded(&c, 2, ZMPI_CODEC_HERE, RECORD, RECORD / 12.0, RECORD / slow_here.speed[1]);
    CHECK_EQUAL(zmpi_codec_choose(&c), 1);
    converges(&c, slow_here, 1);
    check_say("a device that is full now and then");
    c = (struct zmpi_codec_choice){.turns = 0};
    converges(&c, fast_here, 1);
    converges(&c, device, 2);
    run(&here, &fast_here, 2000, &huffman);
    zmpi_codec_coded(&c, 2, ZMPI_CODEC_HERE, RECORD, RECORD / 12.0, RECORD / fast_here.speed[1]);
    zmpi_codec_written(&c, ZMPI_CODEC_HERE, RECORD / 12.0, RECORD / 12.0 / fast_here.disk, false);
    for (int i = 1; i <= ZCODECS; i++)
        CHECK(fabs(zmpi_codec_estimate(&c, i) / zmpi_codec_estimate(&here, i) - 1) < 1e-6);
    zmpi_codec_coded(&c, 1, ZMPI_CODEC_DEVICE, RECORD, RECORD / 8.0, RECORD / device.speed[0]);
    CHECK_EQUAL(zmpi_codec_choose(&c), 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int behind = 0; behind < 2; behind++) {
        struct zmpi_codec_choice c = {.turns = 0};
        const bool b = behind;
        CHECK_EQUAL(zmpi_codec_choose(&c), 1);
        converges(&c, (struct model){1e7, {8e9, 1.5e9}, {8, 12}, b, ZMPI_CODEC_HERE},
                  2); /* a slow disk */
        converges(&c, (struct model){5e9, {8e9, 1.5e9}, {8, 12}, b, ZMPI_CODEC_HERE},
                  1); /* it became fast */
        converges(&c, (struct model){4e7, {8e9, 1.5e9}, {8, 12}, b, ZMPI_CODEC_HERE},
                  2); /* and slow again */
        converges(&c, (struct model){1e8, {8e9, 1e8}, {8, 8.5}, b, ZMPI_CODEC_HERE},
                  1); /* nothing to gain */
        converges(&c, (struct model){2e7, {8e9, 1.5e9}, {30, 70}, b, ZMPI_CODEC_HERE},
                  2); /* much to gain */
    }
    comes_home();
    MPI_Finalize();
    return 0;
}
