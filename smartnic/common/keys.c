/* keys.c - secrets and keyed hashes (keys.h). */
#include "common/keys.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>

bool nic_random(void *dst, size_t size)
{
    return getrandom(dst, size, 0) == (ssize_t)size; /* whole up to 256 bytes */
}

void nic_mac(const unsigned char key[NIC_KEY], const void *src, size_t size,
             unsigned char mac[NIC_MAC])
{
    struct hmac_sha256_ctx state;
    hmac_sha256_set_key(&state, NIC_KEY, key);
    hmac_sha256_update(&state, size, src);
    hmac_sha256_digest(&state, NIC_MAC, mac);
}

bool nic_mac_equal(const unsigned char a[NIC_MAC], const unsigned char b[NIC_MAC])
{
    return nettle_memeql_sec(a, b, NIC_MAC) != 0;
}

void nic_session_key(const unsigned char secret[NIC_KEY], const unsigned char client[NIC_NONCE],
                     const unsigned char server[NIC_NONCE], unsigned char key[NIC_KEY])
{
    unsigned char both[8 + 2 * NIC_NONCE] = "session";
    memcpy(both + 8, client, NIC_NONCE);
    memcpy(both + 8 + NIC_NONCE, server, NIC_NONCE);
    nic_mac(secret, both, sizeof both, key);
}
