/*
 * codec_choice.c - what ZMPI_CODEC=auto picks, on disks that are made up.
 *
 * zmpi-test: RANKS 1 ANYIO PLAIN
 */
#include "../../pmpi/codec_choice.c"
#include "check.h"

enum { RECORD = 4 << 20 };

/* Bytes per second of the disk, of each encoder; ratios. */
struct model {
    double disk, speed[2], ratio[2];
    bool behind;
};

static double seconds(const struct model *m, int i)
{
    double coding = RECORD / m->speed[i], writing = RECORD / m->ratio[i] / m->disk;
    return m->behind ? fmax(coding, writing) : coding + writing;
}

/* Seconds of n records; *huffman: how many were by it. */
static double run(struct zcodec_choice *c, const struct model *m, int n, int *huffman)
{
    double sum = 0;
    *huffman = 0;
    for (int k = 0; k < n; k++) {
        int i = zcodec_choose(c) - 1;
        CHECK(i == 0 || i == 1);
        zcodec_coded(c, i + 1, RECORD, RECORD / m->ratio[i], RECORD / m->speed[i]);
        zcodec_written(c, RECORD / m->ratio[i], RECORD / m->ratio[i] / m->disk, m->behind);
        sum += seconds(m, i);
        *huffman += i;
    }
    return sum;
}

static void settles(struct zcodec_choice *c, struct model m, int best)
{
    int huffman;
    check_say("disk %g, speeds %g %g, ratios %g %g%s", m.disk, m.speed[0], m.speed[1], m.ratio[0],
              m.ratio[1], m.behind ? ", behind" : "");
    run(c, &m, 2000, &huffman); /* from what was before */
    double sum = run(c, &m, 400, &huffman), least = 400 * seconds(&m, best - 1);
    CHECK(sum <= 1.07 * least);
    CHECK(best == 2 ? huffman > 300 : huffman < 100);
    CHECK(zcodec_estimate(c, best) <= zcodec_estimate(c, 3 - best));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int behind = 0; behind < 2; behind++) {
        struct zcodec_choice c = {.turns = 0};
        const bool b = behind;
        CHECK_EQUAL(zcodec_choose(&c), 1);
        settles(&c, (struct model){1e7, {8e9, 1.5e9}, {8, 12}, b}, 2);  /* a slow disk */
        settles(&c, (struct model){5e9, {8e9, 1.5e9}, {8, 12}, b}, 1);  /* it became fast */
        settles(&c, (struct model){4e7, {8e9, 1.5e9}, {8, 12}, b}, 2);  /* and slow again */
        settles(&c, (struct model){1e8, {8e9, 1e8}, {8, 8.5}, b}, 1);   /* nothing to gain */
        settles(&c, (struct model){2e7, {8e9, 1.5e9}, {30, 70}, b}, 2); /* much to gain */
    }
    MPI_Finalize();
    return 0;
}
