/* model_32.cpp - model.h for 32 lanes. */
#define LANES 32
#define MODEL Vceaz_32
#include "model_t.h"
