/*
 * flare_traffic.c - moves of whole arrays off the chip (FLARE Fig. 11). The baseline: each module
 * reads what the one before has written, in words of 4 bytes for a point:
 *
 *   prediction     reads the original, writes reconstruction and codes
 *   codec          reads the codes
 *   normalization  reads the reconstruction for its range; reads and writes it to subtract the
 *                  minimum; reads and writes it to scale it
 *   network        reads what is normalized
 *
 * FLARE reads the original. The bits that the codec makes, and what the network moves inside, are
 * the same in both, and left out, as in the paper.
 */
#include "flare_model.h"

struct flare_traffic flare_traffic(const struct flare_baseline *b)
{
    struct flare_traffic t = {.left = 1};
    const double code = b->narrow_codes ? 0.25 : 1;
    t.saved[FLARE_PREDICT] = 1 + code;
    if (b->rereads) /* of each level's points 1/8, 1/4 and 1/2 are there before its directions */
        for (double level = 1; level > 1.0 / 64; level /= 8)
            t.saved[FLARE_PREDICT] += level * (1.0 / 8 + 1.0 / 4 + 1.0 / 2);
    t.saved[FLARE_CODEC] = code;
    t.saved[FLARE_NORMALIZE] = b->fused_sweep ? 3 : 5;
    t.saved[FLARE_NETWORK] = 1;
    t.baseline = t.left;
    for (int i = 0; i < FLARE_PARTS; i++)
        t.baseline += t.saved[i];
    return t;
}
