/*
 * place.h - the file by which clients find their daemon and prove that they may use it: provider,
 * address, and the job's secret (docs/internals/smartnic.md part 1). ZMPI_NIC names it.
 */
#ifndef ZMPI_NIC_PLACE_H
#define ZMPI_NIC_PLACE_H

#include "common/protocol.h"

struct nic_place {
    char provider[64]; /* libfabric's name */
    unsigned format;   /* of addresses, FI_SOCKADDR_IN, ... */
    unsigned char address[NIC_ADDRESS_MAX];
    size_t address_size;
    unsigned char secret[NIC_KEY];
    double timeout; /* seconds without a sign of life */
    bool starting;  /* this daemon crashed; the next one will make the file again */
};

/* Both return false on failure, with the reason in `message`. */
/* This user must own the file, and nobody else may read it. */
bool nic_place_read(const char *path, struct nic_place *place, char message[256]);
/* Makes the file, or atomically replaces the one of an earlier daemon; its mode is 0600. */
bool nic_place_write(const char *path, const struct nic_place *place, char message[256]);

#endif
