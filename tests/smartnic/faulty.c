/*
 * faulty.c - zmpi-nicd with a fault: linked around the daemon's own objects (ld --wrap). The
 * environment says which:
 *
 *     ZMPI_TEST_NICD=kill:N     dies at the Nth thing that it sends, reads or writes
 *     ZMPI_TEST_NICD=stop:N     stops (SIGSTOP) there
 *     ZMPI_TEST_NICD=noise      engine: any bytes
 *     ZMPI_TEST_NICD=other      engine: a good stream of other data and another bound
 *     ZMPI_TEST_NICD=large      engine: says that it made more than there is room for
 *     ZMPI_TEST_NICD=hash       replies with a wrong hash
 *     ZMPI_TEST_NICD=lost       says that the data did not arrive
 *     ZMPI_TEST_NICD=forged     replies with a wrong keyed hash
 *     ZMPI_TEST_NICD=version    welcomes by another version of the protocol
 *     ZMPI_TEST_NICD=codec      is of another zmpi
 *     ZMPI_TEST_NICD=full       has no place for another client
 *     ZMPI_TEST_NICD=stranger   welcomes somebody else
 *     ZMPI_TEST_NICD=astray     replies to what nobody has asked
 *     ZMPI_TEST_NICD=unwritten  says that it wrote to a file, and did not
 *     ZMPI_TEST_NICD=half       the same, of half a record
 *     ZMPI_TEST_NICD=cut:N      dies in the middle of its Nth write to a file
 *     ZMPI_TEST_NICD=nap:N      takes so many milliseconds for each
 *     ZMPI_TEST_NICD=garbled    decodes to any bytes, and says that they are right
 *     ZMPI_TEST_NICD=refused    says that no stream can be decoded
 *     ZMPI_TEST_NICD=slow       engine: takes two seconds
 *     ZMPI_TEST_NICD=nap        engine: takes 10 ms
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/nicd.h"

static bool fault(const char *name)
{
    const char *set = getenv("ZMPI_TEST_NICD");
    return set && strncmp(set, name, strlen(name)) == 0;
}

static int fault_number(void)
{
    return atoi(strchr(getenv("ZMPI_TEST_NICD"), ':') + 1);
}

/* ---- death ---- */

void __real_nic_post(struct nic_fabric *f, struct nic_op *op);
void __wrap_nic_post(struct nic_fabric *f, struct nic_op *op);

void __wrap_nic_post(struct nic_fabric *f, struct nic_op *op)
{
    static int n;
    __real_nic_post(f, op);
    if (op->kind == NIC_RECEIVE)
        return;
    n++;
    if (fault("kill:") && n == fault_number())
        raise(SIGKILL);
    if (fault("stop:") && n == fault_number())
        raise(SIGSTOP);
}

/* ---- lies ---- */

static enum zmpi_status bad_compress(const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                     const void *src, size_t *size)
{
    struct zmpi_job used = *job;
    if (fault("slow"))
        sleep(2);
    if (fault("nap") && !fault("nap:"))
        usleep(10000);
    if (fault("other"))
        used.bound = (struct zmpi_bound){ZMPI_LOSSLESS, used.abs_bound = 0};
    enum zmpi_status status = zmpi_device_cpu()->compress(&used, dst, dst_capacity, src, size);
    if (fault("noise") && !status)
        memset((char *)dst + *size / 2, 0x5A, *size - *size / 2);
    if (fault("noise") && !status)
        ((char *)dst)[60] ^= 1;
    if (fault("large") && !status)
        *size = dst_capacity + 1;
    return status;
}

static enum zmpi_status bad_decompress(void *dst, size_t dst_capacity, const void *src,
                                       size_t src_size, int threads)
{
    enum zmpi_status status =
        zmpi_device_cpu()->decompress(dst, dst_capacity, src, src_size, NULL, threads);
    if (fault("slow"))
        sleep(2);
    if (fault("garbled"))
        memset(dst, 0x5A, dst_capacity);
    return fault("refused") ? ZMPI_ERR_CORRUPT : status;
}

const struct nic_engine *__wrap_nic_engine(size_t i);

const struct nic_engine *__wrap_nic_engine(size_t i)
{
    static struct nic_engine bad;
    const struct nic_engine *good = nic_engine_find("cpu");
    bad = *good;
    bad.compress = bad_compress;
    bad.decompress = bad_decompress;
    return i == 0 ? &bad : NULL;
}

size_t __real_nic_reply_write(unsigned char *dst, uint64_t session, uint64_t id,
                              const struct nic_reply *m, const unsigned char key[NIC_KEY]);
size_t __wrap_nic_reply_write(unsigned char *dst, uint64_t session, uint64_t id,
                              const struct nic_reply *m, const unsigned char key[NIC_KEY]);

size_t __wrap_nic_reply_write(unsigned char *dst, uint64_t session, uint64_t id,
                              const struct nic_reply *m, const unsigned char key[NIC_KEY])
{
    struct nic_reply changed = *m;
    if (fault("hash"))
        changed.hash++;
    if (fault("lost"))
        changed.outcome = NIC_LOST;
    const size_t size =
        __real_nic_reply_write(dst, session, id + 1000 * fault("astray"), &changed, key);
    if (fault("forged"))
        dst[size - 1] ^= 1;
    return size;
}

struct nic_reply __real_nicd_file_write(struct nicd_request *r);
struct nic_reply __wrap_nicd_file_write(struct nicd_request *r);

struct nic_reply __wrap_nicd_file_write(struct nicd_request *r)
{
    static atomic_int n;
    const int now = atomic_fetch_add(&n, 1) + 1;
    const struct nic_reply lie = {.outcome = NIC_WRITTEN};
    if (fault("unwritten"))
        return lie;
    if (fault("half") || (fault("cut:") && now == fault_number())) {
        const off_t at = (off_t)(r->at.offset + r->at.head_size);
        const int fd = open(r->path, O_WRONLY | O_CLOEXEC);
        if (pwrite(fd, r->at.head, r->at.head_size, (off_t)r->at.offset) < 0 ||
            pwrite(fd, r->stream, r->stream_size / 2, at) < 0 || close(fd) != 0)
            abort();
        if (fault("cut:"))
            raise(SIGKILL);
        return lie;
    }
    if (fault("nap:"))
        usleep((useconds_t)fault_number() * 1000);
    return __real_nicd_file_write(r);
}

size_t __real_nic_welcome_write(unsigned char *dst, uint64_t session, const struct nic_welcome *m,
                                const unsigned char key[NIC_KEY]);
size_t __wrap_nic_welcome_write(unsigned char *dst, uint64_t session, const struct nic_welcome *m,
                                const unsigned char key[NIC_KEY]);

size_t __wrap_nic_welcome_write(unsigned char *dst, uint64_t session, const struct nic_welcome *m,
                                const unsigned char key[NIC_KEY])
{
    struct nic_refused refused = {.reason = NIC_OTHER_VERSION};
    struct nic_welcome changed = *m;
    memcpy(refused.client_nonce, m->client_nonce, NIC_NONCE);
    if (fault("full"))
        refused.reason = NIC_TOO_MANY_CLIENTS;
    changed.client_nonce[0] ^= fault("stranger");
    if (!fault("version") && !fault("full"))
        return __real_nic_welcome_write(dst, session, &changed, key);
    const size_t size = nic_refused_write(dst, &refused, key);
    dst[4] = (unsigned char)(NIC_VERSION + fault("version"));
    nic_mac(key, dst, size - NIC_MAC, dst + size - NIC_MAC);
    return size;
}

uint32_t __real_nic_codec(void);
uint32_t __wrap_nic_codec(void);

uint32_t __wrap_nic_codec(void)
{
    return __real_nic_codec() + fault("codec");
}
