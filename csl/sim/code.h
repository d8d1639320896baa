/*
 * code.h - byte code, and the program of a PE: what the compiler makes and the run time uses.
 *
 * A register holds an integer extended to 64 bits, the bits of an f32, an address, or a packed DSD
 * (dsd.h). Each function has its own registers; the caller puts arguments into the callee's first
 * ones.
 */
#ifndef CSL_CODE_H
#define CSL_CODE_H

#include "base.h"
#include "costs.h"

/* What a value is in memory and in arithmetic. */
enum type_code { TC_I8, TC_I16, TC_I32, TC_I64, TC_U8, TC_U16, TC_U32, TC_U64, TC_F16, TC_F32 };
extern const uint8_t csl_code_bytes[];

/* half.c: binary16, rounded to nearest even */
uint16_t csl_half_of(double f);
float csl_float_of(uint16_t half);

enum op {
    OP_CONST,  /* a = imm */
    OP_CONST2, /* a = imm | wide << 32: a packed DSD, a 64-bit integer */
    OP_MOVE,   /* a = b */
    /* tc says of what type; b and c are operands */
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_SHL,
    OP_SHR,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_NEG,     /* b */
    OP_INVERT,  /* b */
    OP_NOT,     /* a = !b, bool */
    OP_CONVERT, /* a = b of type imm as type tc */
    OP_MATH,    /* a = imm(b, c), enum math */
    OP_BOUND,   /* traps unless 0 <= a < imm */
    OP_INDEX,   /* a = b * imm + c */
    OP_LOAD,    /* a = memory of type tc at b + imm */
    OP_STORE,   /* memory at b + imm = a */
    OP_LOAD_AT, /* a = memory at imm */
    OP_STORE_AT,
    OP_SAME,  /* traps unless addresses a and b are of one variable */
    OP_COPY,  /* imm bytes from b to a */
    OP_CLEAR, /* imm bytes at a */
    OP_JUMP,  /* to imm */
    OP_JUMP_IF,
    OP_JUMP_UNLESS,
    OP_CALL,       /* function imm; arguments at a.., result to b if c */
    OP_RETURN,     /* a if b */
    OP_ASSERT,     /* traps unless a; x: about a length of @map */
    OP_DSD,        /* program.dsd_sites[imm] */
    OP_DSD_MAKE,   /* a = memory DSD: base b, extent c; stride at register imm, offset at x; element
                      bytes tc */
    OP_DSD_BASE,   /* a = DSD b with base address c */
    OP_DSD_OFFSET, /* a = DSD b moved by c elements of imm bytes */
    OP_DSD_LENGTH, /* a = DSD b with length c */
    OP_DSD_STRIDE, /* a = DSD b with stride c */
    OP_DSD_COUNT,  /* a = length of DSD b */
    OP_DSR_LOAD,   /* DSR imm = DSD a; x: it moves on with each operation */
    OP_DSR_GET,    /* a = the DSD in DSR imm */
    OP_DSR_NEXT,   /* DSR imm after an operation on it */
    OP_DSD_GET,    /* a = element c of DSD b, of type tc */
    OP_DSD_PUT,    /* element c of DSD b = a */
    OP_ACTIVATE,   /* local task a */
    OP_BLOCK,      /* task a; imm: enum id_kind */
    OP_UNBLOCK,
    OP_UNBLOCK_CMD,
    OP_TIMER, /* imm 0: enable, 1: disable, 2: reset, 3: store at address a */
    OP_RANDOM,
    OP_RANDOM_IN,  /* a = a number from b on, less than c, of type tc */
    OP_COLLECTIVE, /* call imm on axis b; arguments from register a on */
    OP_PRINT,      /* register or text a in form imm; if c a record of key text b */
    OP_CONTROL,    /* a = control payload imm with the data b */
    OP_COORD       /* a = x if imm is 0, else y */
};

enum math { MATH_SQRT, MATH_FLOOR, MATH_CEIL, MATH_ABS, MATH_MIN, MATH_MAX, MATH_SIGN, MATH_INV };

/* What OP_PRINT writes. */
enum print_form { PRINT_TEXT, PRINT_DECIMAL, PRINT_HEX, PRINT_BINARY, PRINT_TIME };

/* The calls of <collectives_2d/pe>. */
enum collective_op {
    COLLECTIVE_INIT,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_SCATTER,
    COLLECTIVE_GATHER,
    COLLECTIVE_REDUCE
};

/* What @block, @unblock and .unblock take. */
enum id_kind { ID_LOCAL, ID_COLOR, ID_QUEUE };

struct insn {
    uint16_t op, a, b, c;
    int32_t imm;
    uint16_t cost; /* cycles */
    uint8_t tc, x;
    uint32_t wide;
};

struct func {
    const char *name;
    struct insn *code;
    struct pos *places; /* of each instruction */
    size_t count, capacity, place_capacity;
    uint16_t registers;
};

#define NO_ID UINT16_MAX

/* An operand of a DSD operation. */
enum operand_kind { OPERAND_DSD, OPERAND_POINTER, OPERAND_SCALAR, OPERAND_FIFO /* reg: which */ };

struct dsd_operand {
    enum operand_kind kind;
    uint16_t reg;
    bool fabric;
    uint16_t dsr; /* 0, or 1 and the number of the DSR it is in */
};

struct dsd_site {
    enum csl_dsd_op op;
    struct dsd_operand to, from[3];
    unsigned from_count;
    bool async;
    uint16_t activate; /* local task, or NO_ID */
    uint16_t unblock;  /* or NO_ID */
    enum id_kind unblock_kind;
    uint16_t thread; /* WSE-3's .ut_id, or NO_ID */
    uint16_t index;  /* register of .index, or NO_ID */
    struct pos pos;
};

/* A FIFO's buffer, and its elements. */
struct fifo {
    uint32_t address;
    uint16_t capacity;
    uint8_t size;
};

/* A variable in memory. A pointer to it may reach all of it and nothing else. */
struct object {
    uint32_t start, end;
    const char *name;
    bool is_const; /* never written, so the compiler may know its elements */
};

#define FIFOS_MAX   8
#define DSRS        16 /* of each file; how many there are is not documented */
#define STREAMS     4  /* colors that memcpy has in one direction */
#define OBJECT_MAX  255
#define COLORS      24
#define LOCAL_TASKS 31
#define QUEUES      8

struct export
{
    const char *name;
    uint16_t func;    /* of a function */
    uint32_t address; /* of a variable: where its pointer is */
    bool is_func, is_pointer;
    unsigned param_count;
    uint8_t params[15]; /* type codes */
    uint8_t tc;         /* of a variable, or what it points to */
};

/* The routing of one color in one PE. Directions are bits. */
enum direction { DIR_NORTH, DIR_SOUTH, DIR_EAST, DIR_WEST, DIR_RAMP, DIR_COUNT };

#define POSITIONS 4

enum pop_mode { POP_NEVER, POP_ALWAYS, POP_ON_ADVANCE, POP_ON_ADVANCE_NOP };
enum filter_kind { FILTER_NONE, FILTER_COUNTER, FILTER_RANGE };

/* What the ramp to the processor lets through. */
struct filter {
    enum filter_kind kind;
    bool count_data, count_control, only_control;
    uint16_t counter, limit, max; /* FILTER_COUNTER */
    uint16_t min_index, max_index;
};

/* rx and tx are those of position `at`. Positions beyond the first belong to switches. */
struct route {
    uint8_t rx, tx;
    bool set, ring, swap_x, swap_y, valid[POSITIONS];
    uint8_t at, rx_of[POSITIONS], tx_of[POSITIONS];
    enum pop_mode pop;
    struct filter filter;
};

/*
 * A control wavelet's payload. Its bits are not published, and programs make them by <control>.
 * Here it holds eight commands of three bits, the first one lowest; or one command, and 16 bits of
 * data from bit 8 on.
 */
#define CONTROL_COMMANDS 8
#define CONTROL_IGNORE   4u /* a command: do not deliver it to the processor */
#define CONTROL_DATA_AT  8
#define CONTROL_TASK_AT  24
#define CONTROL_HAS_TASK (1u << 30)
#define CONTROL_HAS_DATA (1u << 31)
#define CONTROL_TASKS    64
enum control_op { CONTROL_NOP, CONTROL_ADVANCE, CONTROL_RESET, CONTROL_TEARDOWN };

struct program {
    struct func **funcs;
    size_t func_count, func_capacity;
    struct dsd_site *dsd_sites;
    size_t dsd_site_count, dsd_site_capacity;
    uint8_t *data; /* the image, data_end bytes */
    uint32_t data_end;
    uint8_t *object_of; /* by address / 2 */
    struct object objects[OBJECT_MAX + 1];
    unsigned object_count;
    struct fifo fifos[FIFOS_MAX];
    unsigned fifo_count;
    uint16_t dsr_taken[3];
    const char **texts; /* of OP_PRINT */
    size_t text_count, text_capacity;
    struct export *exports;
    size_t export_count, export_capacity;
    uint16_t local_task[LOCAL_TASKS]; /* function, or NO_ID */
    uint16_t control_task[CONTROL_TASKS];
    uint8_t control_codes[CONTROL_TASKS]; /* of the data */
    uint16_t data_task[QUEUES];           /* by input queue */
    uint8_t data_task_params[QUEUES];     /* 1 or 2 */
    uint8_t data_task_codes[QUEUES][2];
    int8_t in_color[QUEUES]; /* -1: not initialized */
    int8_t out_color[QUEUES];
    bool out_ready[QUEUES];      /* initialized */
    uint32_t activated, blocked; /* local tasks, at the start */
    uint8_t queue_blocked;
    struct route routes[COLORS]; /* @set_local_color_config */
    uint32_t registers;          /* of the deepest calls */
    uint32_t code_bytes;
};

#endif
