/*
 * protocol.c - the messages of the SmartNIC service: back as they were; cut, changed and forged
 * ones; the file that names daemon and secret.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "common/place.h"

static bool accepted(const unsigned char *src, size_t size, struct nic_head *head)
{
    return nic_head_read(src, size, head) && nic_message_check(src, size, test_key);
}

Test(protocol, back_as_they_were)
{
    unsigned char m[NIC_MESSAGE_MAX];
    struct nic_head head;
    struct nic_request r;
    for (enum nic_type type = NIC_HELLO; (int)type <= (int)MESSAGE_KINDS; type++) {
        const size_t size = test_message(type, m);
        cr_assert(size <= sizeof m && accepted(m, size, &head), "kind %d", type);
        cr_assert_eq(head.type, type);
        cr_assert_eq(head.version, NIC_VERSION);
        cr_assert(test_read(type, m, &r), "kind %d", type);
        if (type >= NIC_REQUEST)
            cr_assert(head.session == 42 && head.id == 3);
    }
}

Test(protocol, request_back)
{
    unsigned char m[NIC_MESSAGE_MAX];
    struct nic_request r, was = test_request();
    test_message(NIC_REQUEST, m);
    memset(&r, 0xFF, sizeof r);
    cr_assert(nic_request_read(m, &r));
    cr_assert_arr_eq(&r.job.array, &was.job.array, sizeof r.job.array);
    cr_assert(r.job.bound.mode == was.job.bound.mode && r.job.bound.value == was.job.bound.value);
    cr_assert(r.job.abs_bound == was.job.abs_bound && r.job.keep == was.job.keep);
    cr_assert(r.job.finer[0] == was.job.finer[0] && r.job.finer[1] == was.job.finer[1]);
    cr_assert(r.job.encoder == 1 && r.job.top == 0 && r.job.threads == 1);
    cr_assert_eq(r.job.axes, was.job.axes);
    cr_assert_arr_eq(&r.raw, &was.raw, sizeof r.raw);
    cr_assert_arr_eq(&r.out, &was.out, sizeof r.out);
    cr_assert(r.raw_hash == was.raw_hash && r.file_bytes == was.file_bytes);
    cr_assert_not(r.decode || r.job.variant);
    was = test_decode();
    nic_request_write(m, 42, 3, &was, test_key);
    memset(&r, 0xFF, sizeof r);
    cr_assert(nic_request_read(m, &r) && r.decode && r.file_bytes == 0 && r.raw_hash == 0xDEADBEEF);
    cr_assert_arr_eq(&r.raw, &was.raw, sizeof r.raw);
    cr_assert_arr_eq(&r.out, &was.out, sizeof r.out);
}

Test(protocol, encoders_and_variants)
{
    unsigned char m[NIC_MESSAGE_MAX];
    struct nic_request r, was = test_request();
    was.job.encoder = 2;
    was.job.variant = ZMPI_VARIANT_APPROXIMATE;
    was.job.axes = 0;
    nic_request_write(m, 42, 3, &was, test_key);
    cr_assert(nic_request_read(m, &r) && r.job.encoder == 2 &&
              r.job.variant == ZMPI_VARIANT_APPROXIMATE);
    cr_assert_eq(r.job.axes, 0);
    was.job.variant = ZMPI_VARIANT_FLARE; /* is one of encoder 3 alone, which has no other */
    nic_request_write(m, 42, 3, &was, test_key);
    cr_assert_not(nic_request_read(m, &r));
    was.job.encoder = 3;
    nic_request_write(m, 42, 3, &was, test_key);
    cr_assert(nic_request_read(m, &r) && r.job.encoder == 3 && r.job.variant == ZMPI_VARIANT_FLARE);
    was.job.variant = ZMPI_VARIANT_NONE;
    nic_request_write(m, 42, 3, &was, test_key);
    cr_assert_not(nic_request_read(m, &r));
    m[37] |= 4; /* a bit beside the encoder's */
    cr_assert_not(nic_request_read(m, &r));
}

Test(protocol, reply_and_place_back)
{
    unsigned char m[NIC_MESSAGE_MAX];
    struct nic_reply reply;
    test_message(NIC_REPLY, m);
    cr_assert(nic_reply_read(m, &reply));
    cr_assert(reply.outcome == NIC_HELD && reply.status == ZMPI_OK && reply.size == 1234 &&
              reply.hash == 0x5678);
    cr_assert_str_eq((char *)reply.head, "head");
    cr_assert_str_eq((char *)reply.tail, "tail");

    struct nic_place_at at;
    test_message(NIC_PLACE, m);
    cr_assert(nic_place_at_read(m, &at) && at.offset == 512 && at.head_size == 100);
    cr_assert_str_eq((char *)at.head, "a record's head");
}

/* The sizes are those of the documentation: a change of the format must change its version. */
Test(protocol, sizes)
{
    static const size_t documented[] = {216, 104, 88, 208, 176, 64, 64, 216};
    unsigned char m[NIC_MESSAGE_MAX];
    for (enum nic_type type = NIC_HELLO; (int)type <= (int)MESSAGE_KINDS; type++)
        cr_assert_eq(test_message(type, m), documented[type - 1], "kind %d", type);
}

Test(protocol, every_truncation)
{
    unsigned char m[NIC_MESSAGE_MAX];
    struct nic_head head;
    for (enum nic_type type = NIC_HELLO; (int)type <= (int)MESSAGE_KINDS; type++) {
        const size_t size = test_message(type, m);
        for (size_t n = 0; n <= NIC_MESSAGE_MAX; n++) {
            unsigned char *cut = malloc(n ? n : 1); /* one byte too far is seen */
            cr_assert_not_null(cut);
            memcpy(cut, m, n);
            cr_assert_eq(accepted(cut, n, &head), n == size, "kind %d, %zu bytes", type, n);
            free(cut);
        }
    }
}

/* Flips any bit: the keyed hash tells. With the hash corrected, every message that is accepted must
 * make sense. */
Test(protocol, every_bit)
{
    unsigned char m[NIC_MESSAGE_MAX];
    struct nic_head head;
    for (enum nic_type type = NIC_HELLO; (int)type <= (int)MESSAGE_KINDS; type++) {
        const size_t size = test_message(type, m);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            struct nic_request r;
            size_t bytes;
            m[bit / 8] ^= (unsigned char)(1u << bit % 8);
            cr_assert_not(accepted(m, size, &head), "kind %d, bit %zu", type, bit);
            test_seal(m, size);
            if (accepted(m, size, &head) && test_read(head.type, m, &r) &&
                head.type == NIC_REQUEST) {
                cr_assert(!r.decode, "bit %zu", bit);
                cr_assert(nic_job_valid(&r.job), "bit %zu", bit);
                cr_assert(zmpi_array_bytes(&r.job.array, &bytes) == ZMPI_OK &&
                          bytes == r.raw.bytes &&
                          r.out.bytes <= zmpi_compress_capacity(&r.job.array) &&
                          r.file_bytes <= NIC_FILE_MAX);
            }
            test_message(type, m);
        }
    }
}

/* The same of a request to decode: no sizes that overflow, nothing else than a stream. */
Test(protocol, every_bit_to_decode)
{
    unsigned char m[NIC_MESSAGE_MAX];
    const struct nic_request was = test_decode();
    struct nic_request r;
    for (size_t bit = 8 * NIC_HEAD; bit < 8 * 176; bit++) {
        nic_request_write(m, 42, 3, &was, test_key);
        m[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (!nic_request_read(m, &r))
            continue;
        cr_assert(bit / 8 >= 112 && bit / 8 < 168, "bit %zu", bit);
        cr_assert(r.decode && r.file_bytes == 0 && r.raw.bytes >= 80 && r.out.bytes > 0);
        cr_assert(r.raw.bytes <= UINT64_C(1) << 48 && r.out.bytes <= UINT64_C(1) << 48);
    }
}

Test(protocol, other_versions)
{
    unsigned char m[NIC_MESSAGE_MAX];
    struct nic_head head;
    for (enum nic_type type = NIC_HELLO; (int)type <= (int)MESSAGE_KINDS; type++) {
        const size_t size = test_message(type, m);
        m[4] = NIC_VERSION + 1;
        test_seal(m, size);
        cr_assert_eq(accepted(m, size, &head), type == NIC_HELLO || type == NIC_REFUSED);
    }
}

Test(protocol, keys)
{
    unsigned char m[NIC_MESSAGE_MAX], other[NIC_KEY], k[4][NIC_KEY];
    static const unsigned char a[NIC_NONCE] = "a", b[NIC_NONCE] = "b";
    const size_t size = test_message(NIC_REQUEST, m);
    memcpy(other, test_key, NIC_KEY);
    other[NIC_KEY - 1] ^= 1;
    cr_assert(nic_message_check(m, size, test_key));
    cr_assert_not(nic_message_check(m, size, other));
    nic_session_key(test_key, a, b, k[0]);
    nic_session_key(test_key, b, a, k[1]);
    nic_session_key(other, a, b, k[2]);
    memcpy(k[3], test_key, NIC_KEY);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            cr_assert(memcmp(k[i], k[j], NIC_KEY) != 0, "keys %d and %d", i, j);
}

/* RFC 4231, test case 2 has a key of 4 bytes; with zeros behind it HMAC is the same. */
Test(protocol, keyed_hash_is_hmac_sha256)
{
    static const unsigned char key[NIC_KEY] = "Jefe";
    static const unsigned char is[] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e,
                                       0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
                                       0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83,
                                       0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
    unsigned char mac[NIC_MAC];
    nic_mac(key, "what do ya want for nothing?", 28, mac);
    cr_assert_arr_eq(mac, is, sizeof is);
}

static struct zmpi_job good_job(void)
{
    struct zmpi_job job = test_request().job;
    cr_assert(nic_job_valid(&job));
    return job;
}

Test(protocol, jobs_that_make_no_sense)
{
    const double nan = (double)NAN, inf = (double)INFINITY;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        struct zmpi_job j = good_job();                                                            \
        change;                                                                                    \
        cr_assert_not(nic_job_valid(&j), #change);                                                 \
    } while (0)
    REFUSED(j.array.type = 0);
    REFUSED(j.array.type = 6);
    REFUSED(j.array.type = ZMPI_I32);
    REFUSED(j.bound.mode = 6);
    REFUSED(j.bound.value = 0);
    REFUSED(j.bound.value = nan);
    REFUSED(j.bound.value = inf);
    REFUSED((j.bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0}));
    REFUSED((j.bound = (struct zmpi_bound){ZMPI_PW_REL, 0.5}));
    REFUSED((j.bound = (struct zmpi_bound){ZMPI_PW_REL, 0.5}, j.abs_bound = -inf));
    REFUSED(j.bound.value = 301);
    REFUSED(j.bound.mode = ZMPI_REL);
    REFUSED(j.bound.mode = ZMPI_LOSSLESS);
    REFUSED(j.abs_bound = -1);
    REFUSED(j.abs_bound = nan);
    REFUSED(j.abs_bound = inf);
    REFUSED(j.abs_bound = 1e300);
    REFUSED(j.abs_bound = 0.1); /* no float */
    REFUSED(j.finer[1] = nan);
    REFUSED(j.finer[0] = inf);
    REFUSED(j.keep = 0);
    REFUSED(j.keep = nan);
    REFUSED(j.top = 1);
    REFUSED(j.encoder = 0);
    REFUSED(j.encoder = 3);
    REFUSED(j.axes = 7);
    REFUSED(j.axes = 16);
#undef REFUSED
}

/* Sizes of a request to decode. */
Test(protocol, decodes_that_make_no_sense)
{
    const uint64_t most = UINT64_C(1) << 48;
    const struct {
        uint64_t raw, out;
        bool good;
    } sizes[] = {{80, 1, true},  {most, most, true},   {79, 1, false},
                 {80, 0, false}, {most + 1, 1, false}, {80, most + 1, false}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char m[NIC_MESSAGE_MAX];
        struct nic_request was = test_decode(), r;
        was.raw.bytes = sizes[i].raw;
        was.out.bytes = sizes[i].out;
        nic_request_write(m, 42, 3, &was, test_key);
        cr_assert_eq(nic_request_read(m, &r), sizes[i].good, "%zu", i);
    }
}

/* Every job that the codec makes may be sent. */
Test(protocol, jobs_of_the_codec)
{
    static const char *const bounds[] = {"abs=0.1",  "abs=1e300",   "rel=1e-3",
                                         "rel=0.99", "pw_rel=1e-2", "pw_rel=1e-12",
                                         "psnr=60",  "psnr=300",    "lossless"};
    static const struct zmpi_range ranges[] = {{-1, 1, 1e20},
                                               {0, 0, (double)INFINITY},
                                               {-1e-310, 1e-310, (double)INFINITY},
                                               {-3e38, 3e38, (double)INFINITY}};
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_BYTES; type++)
        for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
            for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
                struct zmpi_array a = {type, {1, 2, 3}};
                struct zmpi_bound bound;
                struct zmpi_job job;
                cr_assert_eq(zmpi_bound_parse(bounds[b], &bound), ZMPI_OK);
                cr_assert_eq(zmpi_job_make(&a, &bound, &ranges[r], &job), ZMPI_OK);
                zmpi_job_threshold(&job, r == 1 ? 1e10 : 0);
                cr_assert(nic_job_valid(&job), "type %d, %s, range %zu", type, bounds[b], r);
                zmpi_job_safe_bound(&job);
                cr_assert(nic_job_valid(&job), "type %d, %s, range %zu, settled", type, bounds[b],
                          r);
            }
}

/* ---- the file ---- */

static const char *name_of(const char *what)
{
    static char name[100];
    snprintf(name, sizeof name, "/tmp/zmpi-test-nic-%s-%d", what, (int)getpid());
    return name;
}

static struct nic_place some_place(void)
{
    struct nic_place p = {
        .provider = "tcp;ofi_rxm", .format = 2, .address_size = 20, .timeout = 2.5};
    for (int i = 0; i < 20; i++)
        p.address[i] = (unsigned char)(250 + i);
    memcpy(p.secret, test_key, NIC_KEY);
    return p;
}

Test(place, back_as_it_was)
{
    char message[256] = "";
    const char *path = name_of("back");
    struct nic_place p = some_place(), q;
    struct stat st;
    for (int i = 0; i < 2; i++) { /* the second takes the first one's place */
        cr_assert(nic_place_write(path, &p, message), "%s", message);
        cr_assert(nic_place_read(path, &q, message), "%s", message);
        cr_assert_arr_eq(&p, &q, sizeof p);
        cr_assert(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
    }
    unlink(path);
}

static void refused(const char *path, const char *why)
{
    char message[256] = "";
    struct nic_place p;
    cr_assert_not(nic_place_read(path, &p, message), "%s was taken", why);
    cr_assert_not_null(strstr(message, why), "\"%s\" does not say \"%s\"", message, why);
    cr_assert_not_null(strstr(message, path), "%s", message);
    cr_assert_null(strchr(message, '\n'));
}

Test(place, others_may_not_read_it)
{
    char message[256];
    const char *path = name_of("mode");
    struct nic_place p = some_place();
    static const unsigned modes[] = {0644, 0640, 0660, 0604, 0601, 0620};
    cr_assert(nic_place_write(path, &p, message), "%s", message);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        cr_assert_eq(chmod(path, modes[i]), 0);
        refused(path, "mode");
    }
    unlink(path);
    refused(path, "No such file");
    refused("/", "directory");
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
}

/* A good file with one line changed. */
Test(place, lines_that_make_no_sense)
{
    static const char *const lines[] = {
        "address 12345",
        "address 12x4",
        "address A0B1",
        "address ",
        "timeout 0",
        "timeout 1e7",
        "timeout nan",
        "secret 0011",
        "format",
        "color red",
        "provider 0123456789012345678901234567890123456789012345678901234567890123456789012345678"};
    char good[2048], message[256];
    const char *path = name_of("line");
    struct nic_place p = some_place();
    cr_assert(nic_place_write(path, &p, message), "%s", message);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    good[fread(good, 1, sizeof good - 1, file)] = 0;
    fclose(file);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[4096], key[20];
        snprintf(key, sizeof key, "\n%.*s ", (int)strcspn(lines[i], " "), lines[i]);
        char *at = strstr(good, key), *end = at ? strchr(at + 1, '\n') : good + strlen(good) - 1;
        at = at ? at : end; /* one more line */
        snprintf(text, sizeof text, "%.*s\n%s%s", (int)(at - good), good, lines[i], end);
        write_text(path, text);
        refused(path, "is not a file that zmpi-nicd has written");
    }
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    refused(path, "not a file of this user");
    unlink(path);
}

Test(place, what_is_none)
{
    char text[1024], message[256];
    const char *path = name_of("none");
    struct nic_place p = some_place(), q;
    cr_assert(nic_place_write(path, &p, message), "%s", message);
    FILE *file = fopen(path, "r");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    cr_assert(n > 100);
    fclose(file);
    for (size_t cut = 0; cut + 3 < n; cut++) {
        text[n] = 0;
        char part[1024];
        memcpy(part, text, cut);
        part[cut] = 0;
        write_text(path, part);
        refused(path, "zmpi-nicd");
    }
    write_text(path, "zmpi-nicd 2\nprovider tcp\n");
    refused(path, "zmpi-nicd");
    write_text(path, "precious\n");
    cr_assert_not(nic_place_write(path, &p, message));
    cr_assert_not_null(strstr(message, "another name"), "%s", message);
    cr_assert_not(nic_place_read(path, &q, message));
    unlink(path);
    cr_assert_not(nic_place_write("/nonexistent/nic", &p, message));
    cr_assert_not_null(strstr(message, "No such file"), "%s", message);
}
