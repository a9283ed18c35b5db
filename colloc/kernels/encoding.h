/* The instructions of machine_code.c, and what the files of processors, x86_64.c and aarch64.c, share.

Such a file defines MACHINE_CODE on its processor, with REGISTERS, MOST_BYTES, READS_POOL and OVERWRITES_FACTORS, and the
functions `enter`, `leave`, `put`, `put_fused`, `put_call` and `synchronize`. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Instructions on vectors of doubles. */
enum instruction {
    MOVE,                             /* result = last */
    STORE,                            /* last = result; into the pool */
    SQRT, NEGATE, MAGNITUDE, INVERSE, /* result = f(last); for NEGATE and MAGNITUDE that is in a register */
    ADD, SUBTRACT, MULTIPLY, DIVIDE,  /* result = first op last */
    FUSED_ADD, FUSED_SUBTRACT, FUSED_SUBTRACT_FROM /* product + addend, product - addend, addend - product */
};

/* What the result of a fused instruction overwrites, and what its last operand is. */
enum over { ADDEND_BY_FACTOR, FACTOR_BY_FACTOR, FACTOR_BY_ADDEND };

struct operand {
    int32_t pool, place; /* 1 for a place of the pool, 0 for the number of a vector register */
};

struct encoder {
    uint8_t *to;
    int32_t first; /* place of the first temporary value in the pool */
};

/* What code reads besides the pool. */
struct aids {
    M sign, magnitude;
    V one;
    V(SYSTEM_V *call[PRODUCT_ADD])(V, V); /* of operations */
};
