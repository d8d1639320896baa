/* policy.c - settings from MPI_Info hints (zmpi_*: see `zmpi options`). */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/policy.h"

/* One hint by key, if it is there. */
static int take_hint(struct zmpi_options *o, MPI_Info info, const char *key, const char *option,
                     char message[256])
{
    int length, found;
    char source[64];
    if (PMPI_Info_get_valuelen(info, key, &length, &found) || !found)
        return MPI_SUCCESS;
    char *value = malloc((size_t)length + 1);
    if (!value) {
        snprintf(message, 256, "out of memory");
        return MPI_ERR_NO_MEM;
    }
    snprintf(source, sizeof source, "hint %s", key);
    int rc = PMPI_Info_get(info, key, length, value, &found);
    if (!rc && found && zmpi_option_set(o, option, value, source, message))
        rc = MPI_ERR_INFO_VALUE;
    free(value);
    return rc;
}

/* MPI lets keys pass that nobody knows; a misspelt hint would silently do nothing. */
void zpolicy_look_for_misspelt(MPI_Info info)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char key[MPI_MAX_INFO_KEY + 1], message[256];
    int keys = 0;
    if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &keys))
        return;
    for (int i = 0; i < keys; i++)
        if (!PMPI_Info_get_nthkey(info, i, key) && !zmpi_hint_is_known(key, message) &&
            !atomic_flag_test_and_set(&said))
            zmpi_log(ZMPI_LOG_WARN, "%s", message);
}

static bool is_first_of_file(MPI_File fh)
{
    MPI_Group group;
    int rank = 0;
    if (PMPI_File_get_group(fh, &group))
        return true;
    PMPI_Group_rank(group, &rank);
    PMPI_Group_free(&group);
    return rank == 0;
}

void zpolicy_passed_over(MPI_File fh, MPI_Info info)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char key[MPI_MAX_INFO_KEY + 1];
    int keys = 0;
    if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &keys))
        return;
    for (int i = 0; i < keys; i++)
        if (!PMPI_Info_get_nthkey(info, i, key) && zmpi_hint_is_ours(key) && is_first_of_file(fh) &&
            !atomic_flag_test_and_set(&said))
            zmpi_log(
                ZMPI_LOG_WARN,
                "hint %s: ignored, because the file is not compressed: give it to MPI_File_open "
                "when the file is made",
                key);
}

int zpolicy_hints(struct zmpi_options *o, MPI_Info info, char message[256])
{
    const struct zmpi_option_info *option;
    if (info == MPI_INFO_NULL)
        return MPI_SUCCESS;
    for (size_t i = 0; (option = zmpi_option_info(i)); i++) {
        if (!option->info_key)
            continue;
        /* People also write the key as the variable is called; the hint's own name is stronger. */
        int rc = take_hint(o, info, option->environment, option->name, message);
        rc = rc ? rc : take_hint(o, info, option->info_key, option->name, message);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}
