/* protocol.c - messages to bytes and back (docs/internals/smartnic.md part 2). */
#include "common/protocol.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "bound/ratio.h"
#include "layout/stream.h"

/* The word also has the job's encoder. */
enum { ENCODER = 0xFF, APPROXIMATE = 0x100, FLARE = 0x200, AXES_AT = 16 };

static const char magic[4] = {'Z', 'N', 'I', 'C'};

/* Bytes of a message of this type, with its keyed hash; 0: there is no such type. */
static size_t size_of(unsigned type)
{
    switch (type) {
    case NIC_HELLO:
        return 184 + NIC_MAC;
    case NIC_WELCOME:
        return 72 + NIC_MAC;
    case NIC_REFUSED:
        return 56 + NIC_MAC;
    case NIC_REQUEST:
        return 176 + NIC_MAC;
    case NIC_REPLY:
        return 56 + ZMPI_CODED_HEAD + ZMPI_CODED_TAIL + NIC_MAC;
    case NIC_PLACE:
        return 48 + NIC_RECORD_HEAD + NIC_MAC;
    case NIC_WAIT:
    case NIC_BYE:
        return NIC_HEAD + NIC_MAC;
    default:
        return 0;
    }
}

uint32_t nic_codec(void)
{
    return ZMPI_VERSION_MAJOR << 16 | ZMPI_VERSION_MINOR << 8 | ZMPI_VERSION_PATCH;
}

/* ---- writing ---- */

static void begin(unsigned char *dst, enum nic_type type, uint64_t session, uint64_t id)
{
    const size_t size = size_of(type);
    memset(dst, 0, size);
    memcpy(dst, magic, sizeof magic);
    zmpi_store16(dst + 4, NIC_VERSION);
    zmpi_store16(dst + 6, (uint16_t)type);
    zmpi_store32(dst + 8, (uint32_t)size);
    zmpi_store64(dst + 16, session);
    zmpi_store64(dst + 24, id);
}

static size_t end(unsigned char *dst, const unsigned char key[NIC_KEY])
{
    const size_t size = zmpi_load32(dst + 8);
    nic_mac(key, dst, size - NIC_MAC, dst + size - NIC_MAC);
    return size;
}

size_t nic_hello_write(unsigned char *dst, const struct nic_hello *m,
                       const unsigned char key[NIC_KEY])
{
    begin(dst, NIC_HELLO, 0, 0);
    memcpy(dst + 32, m->nonce, NIC_NONCE);
    zmpi_store32(dst + 48, m->codec);
    zmpi_store32(dst + 52, (uint32_t)m->address_size);
    memcpy(dst + 56, m->address, m->address_size);
    return end(dst, key);
}

size_t nic_welcome_write(unsigned char *dst, uint64_t session, const struct nic_welcome *m,
                         const unsigned char key[NIC_KEY])
{
    begin(dst, NIC_WELCOME, session, 0);
    memcpy(dst + 32, m->client_nonce, NIC_NONCE);
    memcpy(dst + 48, m->server_nonce, NIC_NONCE);
    zmpi_store64(dst + 64, m->most);
    return end(dst, key);
}

size_t nic_refused_write(unsigned char *dst, const struct nic_refused *m,
                         const unsigned char key[NIC_KEY])
{
    begin(dst, NIC_REFUSED, 0, 0);
    memcpy(dst + 32, m->client_nonce, NIC_NONCE);
    zmpi_store32(dst + 48, (uint32_t)m->reason);
    zmpi_store32(dst + 52, m->codec);
    return end(dst, key);
}

static void store_remote(unsigned char *dst, const struct nic_remote *r)
{
    zmpi_store64(dst, r->address);
    zmpi_store64(dst + 8, r->key);
    zmpi_store64(dst + 16, r->bytes);
}

static struct nic_remote load_remote(const unsigned char *src)
{
    return (struct nic_remote){zmpi_load64(src), zmpi_load64(src + 8), zmpi_load64(src + 16)};
}

size_t nic_request_write(unsigned char *dst, uint64_t session, uint64_t id,
                         const struct nic_request *m, const unsigned char key[NIC_KEY])
{
    const struct zmpi_job *job = &m->job;
    begin(dst, NIC_REQUEST, session, id);
    zmpi_store32(dst + 32, (uint32_t)job->array.type);
    zmpi_store32(dst + 36, (uint32_t)job->encoder |
                               (job->variant == ZMPI_VARIANT_APPROXIMATE ? APPROXIMATE : 0) |
                               (job->variant == ZMPI_VARIANT_FLARE ? FLARE : 0) |
                               (uint32_t)job->axes << AXES_AT);
    for (int i = 0; i < 3; i++)
        zmpi_store64(dst + 40 + 8 * i, job->array.extent[i]);
    zmpi_store32(dst + 64, (uint32_t)job->bound.mode);
    zmpi_store32(dst + 68, (uint32_t)m->file_bytes);
    zmpi_storef64(dst + 72, job->bound.value);
    zmpi_storef64(dst + 80, job->abs_bound);
    zmpi_storef64(dst + 88, job->finer[0]);
    zmpi_storef64(dst + 96, job->finer[1]);
    zmpi_storef64(dst + 104, job->keep);
    store_remote(dst + 112, &m->raw);
    store_remote(dst + 136, &m->out);
    zmpi_store64(dst + 160, m->raw_hash);
    zmpi_store32(dst + 168, m->decode);
    return end(dst, key);
}

size_t nic_reply_write(unsigned char *dst, uint64_t session, uint64_t id, const struct nic_reply *m,
                       const unsigned char key[NIC_KEY])
{
    begin(dst, NIC_REPLY, session, id);
    zmpi_store32(dst + 32, (uint32_t)m->outcome);
    zmpi_store32(dst + 36, (uint32_t)m->status);
    zmpi_store64(dst + 40, m->size);
    zmpi_store64(dst + 48, m->hash);
    memcpy(dst + 56, m->head, sizeof m->head);
    memcpy(dst + 56 + sizeof m->head, m->tail, sizeof m->tail);
    return end(dst, key);
}

size_t nic_place_at_write(unsigned char *dst, uint64_t session, uint64_t id,
                          const struct nic_place_at *m, const unsigned char key[NIC_KEY])
{
    begin(dst, NIC_PLACE, session, id);
    zmpi_store64(dst + 32, m->offset);
    zmpi_store32(dst + 40, (uint32_t)m->head_size);
    memcpy(dst + 48, m->head, m->head_size);
    return end(dst, key);
}

size_t nic_empty_write(unsigned char *dst, enum nic_type type, uint64_t session, uint64_t id,
                       const unsigned char key[NIC_KEY])
{
    begin(dst, type, session, id);
    return end(dst, key);
}

/* ---- reading ---- */

bool nic_head_read(const unsigned char *src, size_t size, struct nic_head *head)
{
    if (size < NIC_HEAD || memcmp(src, magic, sizeof magic) != 0)
        return false;
    const unsigned type = zmpi_load16(src + 6);
    if (size_of(type) != size || zmpi_load32(src + 8) != size || zmpi_load32(src + 12) != 0)
        return false;
    *head = (struct nic_head){zmpi_load16(src + 4), (enum nic_type)type, zmpi_load64(src + 16),
                              zmpi_load64(src + 24)};
    return head->version == NIC_VERSION || type == NIC_HELLO || type == NIC_REFUSED;
}

bool nic_message_check(const unsigned char *src, size_t size, const unsigned char key[NIC_KEY])
{
    unsigned char mac[NIC_MAC];
    if (size < NIC_HEAD + NIC_MAC)
        return false;
    nic_mac(key, src, size - NIC_MAC, mac);
    return nic_mac_equal(mac, src + size - NIC_MAC);
}

bool nic_hello_read(const unsigned char *src, struct nic_hello *m)
{
    memset(m, 0, sizeof *m);
    memcpy(m->nonce, src + 32, NIC_NONCE);
    m->codec = zmpi_load32(src + 48);
    m->address_size = zmpi_load32(src + 52);
    if (m->address_size == 0 || m->address_size >= NIC_ADDRESS_MAX)
        return false;
    memcpy(m->address, src + 56, m->address_size);
    return true;
}

bool nic_welcome_read(const unsigned char *src, struct nic_welcome *m)
{
    memcpy(m->client_nonce, src + 32, NIC_NONCE);
    memcpy(m->server_nonce, src + 48, NIC_NONCE);
    m->most = zmpi_load64(src + 64);
    return true;
}

bool nic_refused_read(const unsigned char *src, struct nic_refused *m)
{
    memcpy(m->client_nonce, src + 32, NIC_NONCE);
    const uint32_t reason = zmpi_load32(src + 48);
    m->reason = (enum nic_reason)reason;
    m->codec = zmpi_load32(src + 52);
    return reason >= NIC_OTHER_VERSION && reason <= NIC_TOO_MANY_CLIENTS;
}

static bool bound_valid(const struct zmpi_bound *b)
{
    if (b->mode == ZMPI_LOSSLESS)
        return b->value == 0;
    if (!(b->value > 0) || !isfinite(b->value))
        return false;
    switch (b->mode) {
    case ZMPI_REL:
    case ZMPI_PW_REL:
        return b->value < 1;
    case ZMPI_PSNR:
        return b->value <= 300;
    case ZMPI_RATIO:
        return b->value > 1;
    default:
        return b->mode == ZMPI_ABS;
    }
}

/* Is it a finite bound that a stream of this type can have? */
static bool number_valid(enum zmpi_type type, double v)
{
    return v >= 0 && isfinite(v) && zmpi_bound_round(type, v) == v;
}

bool nic_job_valid(const struct zmpi_job *job)
{
    const enum zmpi_type type = job->array.type;
    const bool is_float = type == ZMPI_F32 || type == ZMPI_F64;
    if (zmpi_type_size(type) == 0 || !bound_valid(&job->bound) || job->top != 0)
        return false;
    /* The result of interp may depend on arrays before this one, except with its profile FLARE. */
    if ((job->encoder == ZMPI_INTERP) != (job->variant == ZMPI_VARIANT_FLARE))
        return false;
    if (job->encoder < ZMPI_FLE || job->encoder > ZMPI_INTERP)
        return false;
    if (job->axes != 0 && job->axes >> 3 != 1) /* ZMPI_AXES_GIVEN and no more than three axes */
        return false;
    if (!(job->keep > 0) || !number_valid(type, job->finer[0]) ||
        !number_valid(type, job->finer[1]))
        return false;
    if (!is_float || job->bound.mode == ZMPI_LOSSLESS)
        return job->bound.mode == ZMPI_LOSSLESS && job->abs_bound == 0;
    return job->bound.mode == ZMPI_PW_REL ? job->abs_bound == 0 || isinf(job->abs_bound) == 1
                                          : number_valid(type, job->abs_bound);
}

/* Is it a stream with room for its array, and does no size overflow? */
static bool decode_valid(const unsigned char *src, const struct nic_request *m)
{
    static const unsigned char no_job[112 - 32];
    return memcmp(src + 32, no_job, sizeof no_job) == 0 &&
           m->raw.bytes >= ZMPI_STREAM_HEADER_BYTES && m->raw.bytes <= UINT64_C(1) << 48 &&
           m->out.bytes > 0 && m->out.bytes <= UINT64_C(1) << 48;
}

bool nic_request_read(const unsigned char *src, struct nic_request *m)
{
    size_t bytes;
    const uint32_t what = zmpi_load32(src + 168), type = zmpi_load32(src + 32),
                   mode = zmpi_load32(src + 64), encoder = zmpi_load32(src + 36);
    memset(m, 0, sizeof *m);
    struct zmpi_job *job = &m->job;
    job->array.type = (enum zmpi_type)type;
    job->encoder = (int)(encoder & ENCODER);
    job->variant = encoder & APPROXIMATE ? ZMPI_VARIANT_APPROXIMATE
                   : encoder & FLARE     ? ZMPI_VARIANT_FLARE
                                         : ZMPI_VARIANT_NONE;
    job->axes = encoder >> AXES_AT;
    for (int i = 0; i < 3; i++)
        job->array.extent[i] = (size_t)zmpi_load64(src + 40 + 8 * i);
    job->bound = (struct zmpi_bound){(enum zmpi_mode)mode, zmpi_loadf64(src + 72)};
    job->abs_bound = zmpi_loadf64(src + 80);
    job->finer[0] = zmpi_loadf64(src + 88);
    job->finer[1] = zmpi_loadf64(src + 96);
    job->keep = zmpi_loadf64(src + 104);
    job->threads = 1;
    m->raw = load_remote(src + 112);
    m->out = load_remote(src + 136);
    m->raw_hash = zmpi_load64(src + 160);
    m->file_bytes = zmpi_load32(src + 68);
    m->decode = what == 1;
    if (zmpi_load32(src + 172) != 0 || what > 1 ||
        encoder & 0xFFFF & ~(uint32_t)(ENCODER | APPROXIMATE | FLARE))
        return false;
    if (m->decode)
        return decode_valid(src, m);
    return nic_job_valid(job) &&
           (m->file_bytes == 0 || (m->file_bytes > NIC_FILE_ID && m->file_bytes <= NIC_FILE_MAX)) &&
           !zmpi_array_bytes(&job->array, &bytes) && bytes == m->raw.bytes && bytes > 0 &&
           m->out.bytes <= zmpi_compress_capacity(&job->array);
}

bool nic_reply_read(const unsigned char *src, struct nic_reply *m)
{
    const uint32_t outcome = zmpi_load32(src + 32), status = zmpi_load32(src + 36);
    *m = (struct nic_reply){.outcome = (enum nic_outcome)outcome,
                            .status = (enum zmpi_status)status,
                            .size = zmpi_load64(src + 40),
                            .hash = zmpi_load64(src + 48)};
    memcpy(m->head, src + 56, sizeof m->head);
    memcpy(m->tail, src + 56 + sizeof m->head, sizeof m->tail);
    return outcome >= NIC_DONE && outcome <= NIC_NOT_WRITTEN && status <= ZMPI_ERR_UNSUPPORTED;
}

bool nic_place_at_read(const unsigned char *src, struct nic_place_at *m)
{
    m->offset = zmpi_load64(src + 32);
    m->head_size = zmpi_load32(src + 40);
    if (m->head_size > sizeof m->head || zmpi_load32(src + 44) != 0)
        return false;
    memcpy(m->head, src + 48, m->head_size);
    return true;
}
