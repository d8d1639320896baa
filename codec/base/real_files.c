/* real_files.c - see real_files.h. */
#include "base/real_files.h"

_Thread_local int zmpi_real_files;
