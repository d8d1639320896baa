/* policy.c - what MPI_Info hints say (zmpi_*: see `zmpi options`). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* One hint by key, if it is there. */
static int take_hint(struct zmpi_options *o, MPI_Info info, const struct zmpi_option_info *option,
                     char message[256])
{
    int length, found;
    char source[64];
    if (PMPI_Info_get_valuelen(info, option->info_key, &length, &found) || !found)
        return MPI_SUCCESS;
    char *value = malloc((size_t)length + 1);
    if (!value) {
        snprintf(message, 256, "out of memory");
        return MPI_ERR_NO_MEM;
    }
    snprintf(source, sizeof source, "hint %s", option->info_key);
    int rc = PMPI_Info_get(info, option->info_key, length, value, &found);
    if (!rc && found && zmpi_option_set(o, option->name, value, source, message))
        rc = MPI_ERR_INFO_VALUE;
    free(value);
    return rc;
}

int zpolicy_hints(struct zmpi_options *o, MPI_Info info, char message[256])
{
    const struct zmpi_option_info *option;
    if (info == MPI_INFO_NULL)
        return MPI_SUCCESS;
    for (size_t i = 0; (option = zmpi_option_info(i)); i++) {
        int rc = option->info_key ? take_hint(o, info, option, message) : MPI_SUCCESS;
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}
