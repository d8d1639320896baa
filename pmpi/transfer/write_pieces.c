/* write_pieces.c - decides where a write call is cut into pieces. */
#include "transfer/write_plan.h"

#include <stdlib.h>
#include <string.h>

/* Returns the bytes of the whole units that fit into `most`: at least one unit, but at most
 * `left`. */
static uint64_t whole(uint64_t unit, uint64_t most, uint64_t left)
{
    const uint64_t bytes = most > unit ? most / unit * unit : unit;
    return bytes < left ? bytes : left;
}

/* Cuts one row of elements of `width` bytes: at planes or rows of the component, or at elements. */
static uint64_t cut_row(const struct zplan *p, uint64_t width, uint64_t left)
{
    const uint64_t row = p->shape[2] * width, plane = p->shape[1] * row;
    return whole(plane <= p->most ? plane : row <= p->most ? row : width, p->most, left);
}

/* Cuts at whole points, and at whole rows or planes if these fit into a piece. */
static uint64_t cut_components(const struct zplan *p, uint64_t begin)
{
    const struct zmpi_extent *e = &p->extent;
    const uint64_t width = zmpi_type_size(p->memory.element);
    const uint64_t number = (uint64_t)abs(p->components);
    if (p->components < 0) {
        const uint64_t block = p->memory.bytes / number;
        return cut_row(p, width, block - begin % block);
    }
    /* Finds the largest unit of the view that fits: a run, all runs of a level... */
    uint64_t unit = e->run, above = e->run;
    unsigned level = 0;
    if (unit > p->most || begin % unit)
        return cut_row(p, width * number, unit - begin % unit);
    for (; level < e->levels; level++) {
        above = unit * e->count[level];
        if (above > p->most || begin % above)
            break;
        unit = above;
    }
    return level == e->levels ? p->memory.bytes - begin
                              : whole(unit, p->most, above - begin % above);
}

uint64_t zplan_cut(const struct zfile *f, const struct zplan *p, uint64_t begin)
{
    if (p->components)
        return cut_components(p, begin);
    uint64_t left = p->memory.bytes - begin, bytes = left < p->piece ? left : p->piece;
    if (!f->view.increasing) {
        uint64_t tile = f->view.file.size, rest = tile - (p->position + begin) % tile;
        bytes = bytes < rest ? bytes : rest;
    }
    return bytes;
}

uint64_t zplan_pieces(const struct zfile *f, const struct zplan *p)
{
    uint64_t n = 0;
    for (uint64_t at = 0; at < p->memory.bytes; at += zplan_cut(f, p, at))
        n++;
    return n;
}

int zplan_failed(struct zfile *f, struct zplan *p, enum zmpi_status status, const char *what)
{
    if (!status)
        return MPI_SUCCESS;
    const struct zmpi_device *device = p->memory.holder;
    const char *problem = device && device->problem ? device->problem() : NULL;
    zplan_free(p);
    return problem ? zfile_raise(f, zstatus_class(status), "%s: device %s: %s", what, device->name,
                                 problem)
                   : zfile_raise_status(f, status, what);
}

void zplan_free(struct zplan *p)
{
    zmemory_free(&p->memory);
    zmpi_extent_free(&p->extent);
    free(p->run);
    zplan_clear(p);
}
