/* dry_run.c - see dry_run.h. */
#include "calls/dry_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "dry/dry_rows.h"
#include "judge/judgement.h"
#include "mpi/runtime.h"
#include "transfer/write_plan.h"

/* f is never written: its view, its settings, what its data are like. */
struct dry {
    struct dry *next;
    struct zfile *f;
    struct zdry_row row;
};

atomic_int zdry_files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dry *list;

/* The link of the list that points to it. With the lock. */
static struct dry **place_of(MPI_File fh)
{
    struct dry **at = &list;
    while (*at && (*at)->f->fh != fh)
        at = &(*at)->next;
    return at;
}

/* With the lock of its file. */
static struct dry *find(MPI_File fh)
{
    if (atomic_load_explicit(&zdry_files, memory_order_acquire) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    struct dry *d = *place_of(fh);
    pthread_mutex_unlock(&lock);
    if (d)
        pthread_mutex_lock(&d->f->lock);
    return d;
}

static void drop(struct zfile *f)
{
    f->references = 1;
    zfile_done(f);
}

static void name_row(struct zdry_row *row, const struct zfile *f, bool bound)
{
    const size_t length = strlen(f->path), most = sizeof row->name - 1;
    snprintf(row->name, sizeof row->name, "%s", f->path + (length > most ? length - most : 0));
    if (bound)
        zmpi_bound_format(&f->file_bound, row->bound);
    row->ranks = f->ranks;
}

void zdry_opened(struct zfile *f, MPI_Comm comm, MPI_File fh, bool bound)
{
    struct dry *d = calloc(1, sizeof *d);
    PMPI_Comm_rank(comm, &f->rank);
    PMPI_Comm_size(comm, &f->ranks);
    if (!zruntime_all(comm, d && !zview_default(&f->view)) || zruntime_comm(comm, &f->comm)) {
        free(d);
        drop(f);
        return;
    }
    f->fh = f->handle = fh;
    name_row(&d->row, f, bound);
    f->options.bound = (struct zmpi_bound){ZMPI_REL, 1e-3}; /* one that needs the range */
    f->options.bound_set = true;
    d->f = f;
    pthread_mutex_lock(&lock);
    d->next = list;
    list = d;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add_explicit(&zdry_files, 1, memory_order_release);
    zfile_done(f);
}

void zdry_set_view(MPI_File fh, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype)
{
    struct dry *d = find(fh);
    struct zview view;
    if (!d)
        return;
    if (!zview_make(&view, displacement, etype, filetype)) {
        zview_free(&d->f->view);
        d->f->view = view;
    }
    pthread_mutex_unlock(&d->f->lock);
}

/* ---- what is written ---- */

/* In bytes of the view. */
static uint64_t position_of(const struct zfile *f, MPI_Offset offset)
{
    if (offset == ZDRY_POINTER &&
        (f->amode & MPI_MODE_SEQUENTIAL || PMPI_File_get_position(f->fh, &offset)))
        offset = 0;
    return offset < 0 ? 0 : (uint64_t)offset * f->view.etype_size;
}

/* A plan of what may be sampled, or an empty one. */
static void make_plan(struct zfile *f, struct zplan *p, const void *buf, MPI_Count count,
                      MPI_Datatype datatype)
{
    if (zmemory_pack(&p->memory, buf, count, datatype)) {
        p->memory = (struct zmemory){0};
        return;
    }
    if (p->memory.bytes == 0 || p->memory.holder ||
        zview_runs(&f->view, p->position, p->memory.bytes, &p->run, &p->runs) ||
        (p->runs && f->view.increasing && zmpi_extent_from_runs(&p->extent, p->run, p->runs))) {
        zplan_free(p);
        return;
    }
    const struct zmemory *m = &p->memory;
    const size_t n = m->bytes / zmpi_type_size(m->element);
    f->data.mistyped = !m->known && (m->element == ZMPI_F32 || m->element == ZMPI_F64) &&
                       zmpi_is_wrong(m->element, m->data, n);
    zplan_find_shape(f, p);
    zplan_look_for_shape(f, p);
}

/* The range of all ranks' data, as in a collective call. */
static void find_range(struct zfile *f, struct zplan *p, bool together, struct zmpi_range *range)
{
    struct zmpi_fill fill = ZMPI_FILL_NONE;
    *range = ZMPI_RANGE_EMPTY;
    if (p->memory.bytes)
        zplan_range(f, p, range, &fill);
    if (together) {
        enum { NUMBERS = 3 + ZMPI_FILL_SAID };
        double mine[NUMBERS] = {range->min, -range->max, range->fill}, all[NUMBERS];
        zmpi_fill_say(fill, mine + 3);
        if (PMPI_Allreduce(mine, all, NUMBERS, MPI_DOUBLE, MPI_MIN, f->comm))
            return;
        *range = (struct zmpi_range){all[0], -all[1], all[2]};
        fill = zmpi_fill_heard(all + 3);
    }
    zplan_exclude(f, p, fill, together ? f->comm : MPI_COMM_NULL, range);
}

static void sample(struct dry *d, const struct zplan *p, const struct zmpi_range *range,
                   bool together, double left)
{
    const struct zfile *f = d->f;
    const double ranks = together ? f->ranks : 1;
    const struct zmpi_bound bound = zfile_bound(f, p->memory.element);
    const struct zmpi_trial_array a = {
        .array = {p->memory.element, {p->shape[0], p->shape[1], p->shape[2]}},
        .data = p->memory.data,
        .bytes = (double)p->memory.bytes,
        .exact = bound.mode == ZMPI_LOSSLESS ||
                 (double)zplan_floats(p) * ranks <= (double)f->options.exact_below,
        .user = d->row.bound[0] ? &f->file_bound : NULL,
        .range = range,
        .threshold = f->options.threshold};
    d->row.sampled += a.bytes;
    zmpi_trials_add(&d->row.trials, &d->row.most, &a, left);
}

void zdry_write(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                MPI_Datatype datatype, bool together)
{
    struct dry *d = find(fh);
    MPI_Count size = 0;
    if (!d)
        return;
    const struct zmpi_floats program = zmpi_floats_begin();
    const bool fine = !ztype_size(datatype, &size) && size > 0 && count > 0;
    struct zplan p = {.most_runs = SIZE_MAX, .position = position_of(d->f, offset)};
    struct zmpi_range range;
    const double start = zmpi_thread_seconds(); /* waiting is not counted */
    const double left = zdry_left();
    d->row.calls++;
    d->row.bytes += fine ? (double)count * (double)size : 0;
    if (fine && left > 0)
        make_plan(d->f, &p, buf, count, datatype);
    find_range(d->f, &p, together, &range);
    if (p.memory.bytes)
        sample(d, &p, &range, together, left - (zmpi_thread_seconds() - start));
    zplan_free(&p);
    zdry_spent(zmpi_thread_seconds() - start);
    zmpi_floats_end(program);
    pthread_mutex_unlock(&d->f->lock);
}

/* ---- its end ---- */

void zdry_close(MPI_File fh)
{
    struct dry *d = find(fh);
    if (!d)
        return;
    pthread_mutex_lock(&lock);
    *place_of(fh) = d->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub_explicit(&zdry_files, 1, memory_order_release);
    struct zfile *f = d->f;
    if (!zdry_sum(&d->row, f->comm) && f->rank == 0 && d->row.bytes > 0)
        zdry_keep(&d->row);
    PMPI_Comm_free(&f->comm);
    drop(f);
    free(d);
}
