/* train_loops.c - training for any machine. */
#define FORWARD  train_forward_any
#define BACKWARD train_backward_any
#include "tool/enhance/train_loops_t.h"
