/* model_4.cpp - model.h for 4 lanes. */
#define LANES 4
#define MODEL Vceaz_4
#include "model_t.h"
