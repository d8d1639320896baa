/* axes_choose.c - the choice of the axes by this machine's kernels. */
#include "device.h"
#include "judge/axes.h"
#include "kernels/kernels.h"

unsigned zmpi_plan_axes(const struct zmpi_plan *p, const struct zmpi_chunk_rule *rule,
                        const unsigned char *src)
{
    const struct zmpi_kernels *kernels = zmpi_kernels();
    return zmpi_plan_axes_by(p->width == 4 ? kernels->cost32 : kernels->cost64, p, rule, src);
}

unsigned zmpi_axes_choose(const struct zmpi_job *job, const void *src)
{
    struct zmpi_plan p;
    struct zmpi_chunk_rule rule;
    if (job->axes)
        return job->axes & 7;
    if (zmpi_plan_make(&job->array, &p))
        return 0;
    zmpi_plan_rule(job, &rule);
    return zmpi_plan_axes(&p, &rule, src);
}
