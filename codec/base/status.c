#include "zmpi_codec.h"

const char *zmpi_strerror(enum zmpi_status status)
{
    switch (status) {
#define X(name, number, text)                                                                      \
    case ZMPI_##name:                                                                              \
        return text;
        ZMPI_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *zmpi_version(void)
{
    return TEXT(ZMPI_VERSION_MAJOR) "." TEXT(ZMPI_VERSION_MINOR) "." TEXT(ZMPI_VERSION_PATCH);
}
