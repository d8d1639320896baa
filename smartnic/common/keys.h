/*
 * keys.h - the job's secret, and the proof that a sender has it: HMAC-SHA256 (RFC 2104) from
 * Nettle. XXH3, the hash of the formats, has no key.
 */
#ifndef ZMPI_NIC_KEYS_H
#define ZMPI_NIC_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum { NIC_KEY = 32, NIC_NONCE = 16, NIC_MAC = 32 };

/* Bytes that nobody can guess. False if the system has none. */
bool nic_random(void *dst, size_t size);
void nic_mac(const unsigned char key[NIC_KEY], const void *src, size_t size,
             unsigned char mac[NIC_MAC]);
/* Compares in a time that does not depend on where the first difference is. */
bool nic_mac_equal(const unsigned char a[NIC_MAC], const unsigned char b[NIC_MAC]);
/* The key of one session. Both sides contribute a fresh nonce, so that no message of an earlier
 * session fits. */
void nic_session_key(const unsigned char secret[NIC_KEY], const unsigned char client[NIC_NONCE],
                     const unsigned char server[NIC_NONCE], unsigned char key[NIC_KEY]);

#endif
