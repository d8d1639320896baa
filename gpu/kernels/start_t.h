/* start_t.h - template: the launches of the kernels with their parameters. After the kernels. */

/* The smallest number of the type that is not below x >= 0. */
static T F(not_below)(double x)
{
    const T t = (T)x;
    return (double)t < x ? (T)nextafterf((float)t, INFINITY) : t;
}

static struct F(rule) F(rule_of)(const struct zmpi_cuda_rule *rule)
{
    struct F(rule) r;
    r.is_float = rule->is_float;
    r.levels = rule->levels;
    r.bound = (T)rule->abs_bound;
    r.shift = rule->shift;
    r.rounded = (U)rule->magnitudes - NORMAL;
    for (int i = 0; i < 3; i++) {
        r.level[i].step = (T)rule->level[i].step;
        r.level[i].inverse = (T)rule->level[i].inverse;
        r.level[i].limit = (T)rule->level[i].limit;
    }
    return r;
}

static zmpi_cuda_error F(start_range)(const T *src, uint64_t count, double threshold,
                                      void *workspace, cudaStream_t stream)
{
    const uint64_t blocks = count / (16 * THREADS) + 1;
    struct F(range_args) a;
    a.src = src;
    a.count = count;
    a.threshold = threshold > 0 ? F(not_below)(threshold) : (T)INFINITY;
    a.state = (struct range_state *)workspace;
    return LAUNCH(F(range), (unsigned)(blocks < 2048 ? blocks : 2048), THREADS, 0, stream, a);
}

/* axes: as zmpi_cuda_compress_begin. */
static zmpi_cuda_error F(start_sample)(const struct zmpi_cuda_plan *plan, const void *src, int axes,
                                       void *workspace, cudaStream_t stream)
{
    size_t chunks;
    struct F(sample_args) s;
    s.tiles = zmpi_cuda_tiles_of(&plan->layout);
    s.src = src;
    s.result = (struct zmpi_cuda_result *)workspace;
    s.ticket = (uint32_t *)workspace + TICKET_AT / 4;
    s.state = (uint64_t *)workspace + STATE_AT / 8;
    s.samples = (uint32_t)zmpi_plan_samples(&plan->layout, &chunks);
    s.chunks = chunks;
    s.chosen = axes < 0 ? 0 : 8 | (uint32_t)axes;
    s.rule = F(rule_of)(&plan->rule);
    return LAUNCH(F(sample), 1 + clear_blocks(s.tiles.chunks), THREADS, 0, stream, s);
}

static zmpi_cuda_error F(start_compress)(const struct zmpi_cuda_plan *plan, const void *src,
                                         void *dst, size_t capacity, size_t chunks, void *workspace,
                                         cudaStream_t stream)
{
    struct F(compress_args) a;
    a.tiles = zmpi_cuda_tiles_of(&plan->layout);
    a.src = src;
    a.dst = (uint32_t *)dst;
    a.capacity = capacity;
    a.head = zmpi_plan_head(&plan->layout);
    a.result = (struct zmpi_cuda_result *)workspace;
    a.ticket = (uint32_t *)workspace + TICKET_AT / 4;
    a.state = (uint64_t *)workspace + STATE_AT / 8;
    a.errors_scale = plan->rmse > 0 ? (T)(2048.0 / plan->job.abs_bound) : 0;
    a.errors_below = F(not_below)(plan->job.keep);
    a.rule = F(rule_of)(&plan->rule);
    return LAUNCH(F(compress), (unsigned)chunks, THREADS, 0, stream, a);
}

static zmpi_cuda_error F(start_decompress)(const struct zmpi_cuda_decode_plan *plan,
                                           const void *src, const unsigned char *need, void *dst,
                                           size_t chunks, void *workspace, cudaStream_t stream)
{
    struct F(decompress_args) a;
    a.tiles = plan->tiles;
    a.is_float = plan->is_float;
    a.src = (const uint32_t *)src;
    a.need = need;
    a.dst = dst;
    a.head = ZMPI_CUDA_HEADER + 8 * plan->tiles.chunks;
    a.length = plan->length;
    a.answer = (uint64_t *)workspace;
    a.ticket = (uint32_t *)workspace + TICKET_AT / 4;
    a.state = (uint64_t *)workspace + STATE_AT / 8;
    return LAUNCH(F(decompress), (unsigned)chunks, THREADS, 0, stream, a);
}
