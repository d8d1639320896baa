/*
 * place.h - the file by which clients find their daemon, and prove that they may: provider,
 * address, and the job's secret (docs/internals/smartnic.md part 1). ZMPI_NIC names it.
 */
#ifndef ZMPI_NIC_PLACE_H
#define ZMPI_NIC_PLACE_H

#include "common/protocol.h"

struct nic_place {
    char provider[64]; /* as libfabric calls it */
    unsigned format;   /* of addresses, FI_SOCKADDR_IN, ... */
    unsigned char address[NIC_ADDRESS_MAX];
    size_t address_size;
    unsigned char secret[NIC_KEY];
    double timeout; /* seconds without a sign of life */
    bool starting;  /* it crashed, and the next one will make the file anew */
};

/* Both: false, and why not in message. */
/* The file must be this user's own, and nobody else's to read. */
bool nic_place_read(const char *path, struct nic_place *place, char message[256]);
/* Makes the file or takes the place of one that an earlier daemon has left there, with mode 0600,
 * all at once. */
bool nic_place_write(const char *path, const struct nic_place *place, char message[256]);

#endif
