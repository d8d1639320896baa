/* tasks.c - which task runs next. */
#include "sim.h"

static bool queue_in_use(const struct pe *pe, unsigned queue)
{
    for (unsigned i = 0; i < QUEUES && pe->busy_threads > 0; i++) {
        const struct thread *t = &pe->threads[i];
        for (unsigned k = 0; t->busy && k < t->site->from_count; k++)
            if (t->site->from[k].fabric && t->from[k].base == queue)
                return true;
    }
    return false;
}

/* A wavelet's 32 bits as the arguments of a data task. */
static void pass_wavelet(struct pe *pe, unsigned queue, uint32_t value)
{
    const struct program *p = pe->program;
    unsigned count = p->data_task_params[queue];
    for (unsigned i = 0; i < count; i++) {
        uint32_t part = count == 1 ? value : i == 0 ? value & 0xffff : value >> 16;
        pe->regs[i] = csl_wrap_code((enum type_code)p->data_task_codes[queue][i], part);
    }
}

static void start_control(struct pe *pe, uint32_t payload)
{
    const struct program *p = pe->program;
    unsigned id = payload >> CONTROL_TASK_AT & (CONTROL_TASKS - 1);
    if (!(payload & CONTROL_HAS_TASK) || p->control_task[id] == NO_ID)
        csl_trap(pe, (struct pos){0},
                 payload & CONTROL_HAS_TASK
                     ? "a control wavelet is for control task %u, which is not bound"
                     : "a control wavelet without a task reaches the processor: ce_ignore",
                 id);
    uint16_t data = payload & CONTROL_HAS_DATA ? (uint16_t)(payload >> CONTROL_DATA_AT) : 0;
    pe->regs[0] = csl_wrap_code((enum type_code)p->control_codes[id], data);
    csl_call_func(pe, p->control_task[id], NULL);
}

static void start_call(struct pe *pe)
{
    const struct export *call = pe->call;
    pe->call_pending = false;
    for (unsigned i = 0; i < call->param_count; i++)
        pe->regs[i] = csl_wrap_code((enum type_code)call->params[i], pe->args[i]);
    csl_call_func(pe, call->func, call->name);
}

/* Chooses which of the ready tasks, in ascending order, runs. */
static unsigned next_of(const struct pe *pe, const uint8_t *ready, unsigned count)
{
    unsigned i = 0;
    if (pe->sim->options.order == CSL_ORDER_RANDOM)
        return count == 1 ? 0 : (unsigned)(csl_random(pe->sim) % count);
    while (i < count && ready[i] <= pe->last_task)
        i++;
    return i % count;
}

bool csl_pick_task(struct pe *pe)
{
    const struct program *p = pe->program;
    uint64_t now = pe->sim->now;
    uint8_t ready[LOCAL_TASKS + QUEUES + 1];
    unsigned count = 0;
    for (uint8_t id = 0; (pe->active & ~pe->blocked) >> id != 0; id++)
        if ((pe->active & ~pe->blocked) >> id & 1)
            ready[count++] = id;
    for (uint8_t q = 0; q < QUEUES; q++) {
        const struct wavelet *w = &pe->in[q].items[pe->in[q].head];
        if (pe->in[q].count > 0 && !(pe->queue_blocked >> q & 1) && w->ready <= now &&
            (p->data_task[q] != NO_ID || w->control) && !queue_in_use(pe, q))
            ready[count++] = (uint8_t)(LOCAL_TASKS + q);
    }
    if (pe->call_pending && pe->call_cycle <= now)
        ready[count++] = LOCAL_TASKS + QUEUES;
    if (count == 0)
        return false;
    uint8_t which = ready[next_of(pe, ready, count)];
    pe->last_task = which;
    pe->wake = now + TASK_START_CYCLES;
    if (which == LOCAL_TASKS + QUEUES) {
        start_call(pe);
    } else if (which >= LOCAL_TASKS) {
        struct queue *q = &pe->in[which - LOCAL_TASKS];
        struct wavelet w = q->items[q->head];
        csl_queue_pop(q);
        if (w.control) {
            start_control(pe, w.value);
        } else {
            pass_wavelet(pe, which - LOCAL_TASKS, w.value);
            csl_call_func(pe, p->data_task[which - LOCAL_TASKS], NULL);
        }
    } else {
        pe->active &= ~(1u << which);
        csl_call_func(pe, p->local_task[which], NULL);
    }
    return true;
}
