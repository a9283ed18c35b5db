/* Instructions of x86-64 with AVX2 and FMA, or with AVX-512.

An operand may be in memory. The pool is at rbx, for its first places, and rbp points into its temporary values; r14 points
to the aids. Registers of vectors are not preserved across calls. */

#if defined(__x86_64__) && (LANES == 8 ? defined(__AVX512F__) : LANES == 4 && defined(__AVX2__) && defined(__FMA__))

#define MACHINE_CODE
#define READS_POOL 1         /* an instruction may have its last operand in the pool */
#define OVERWRITES_FACTORS 1 /* a fused one may overwrite a factor */
#define REGISTERS (LANES == 8 ? 32 : 16)

/* An instruction takes at most 10 bytes. For one of a function's there are two loads, a copy and the operation, and each
value is stored at most once: no more than 50 bytes on average. A single one may be followed by the stores of all
registers, before a call. */
#define MOST_BYTES (10 * (REGISTERS + 8))

#define MIDDLE 64 /* places of temporary values before that at which rbp points: nearby ones have short addresses */
enum { RBX = 3, RBP = 5, R14 = 14, REGISTER = -1 };

/* Opcodes of vectors of doubles, 0x100 more in the second table; of fused ones those that overwrite the addend. */
static const int opcodes[] = {
    [MOVE] = 0x28, [STORE] = 0x29, [SQRT] = 0x51, [ADD] = 0x58, [MULTIPLY] = 0x59, [SUBTRACT] = 0x5c, [DIVIDE] = 0x5e,
    [NEGATE] = 0xef, [MAGNITUDE] = 0xdb, /* exclusive or with the sign; and with all other bits */
    [INVERSE] = 0x5e, /* divide one */
    [FUSED_ADD] = 0x1b8, [FUSED_SUBTRACT] = 0x1ba, [FUSED_SUBTRACT_FROM] = 0x1bc,
};

static void bytes(struct encoder *e, int count, const void *values) { memcpy(e->to, values, count), e->to += count; }

static void number(struct encoder *e, int32_t n) { bytes(e, 4, &n); }

/* One instruction in VEX or EVEX: opcode, result, first operand, second operand: a register, or memory at an address in a
register and so many vectors further. */
static void encode(struct encoder *e, int opcode, int result, int first, int base, int32_t place)
{
    int memory = base != REGISTER, r = memory ? base : place, table = 1 + (opcode >> 8);
    int high = (~result & 8) << 4 | (memory ? 64 : (~r & 16) << 2) | (~r & 8) << 2, middle = 0x85 | (~first & 15) << 3;
    int near = place * (LANES == 8 ? 1 : 32), small = near >= -128 && near < 128; /* EVEX counts in vectors */
    if (LANES == 8) bytes(e, 4, (uint8_t[]){0x62, high | (~result & 16) | table, middle, 0x40 | (~first & 16) >> 1});
    else bytes(e, 3, (uint8_t[]){0xc4, high | table, middle});
    *e->to++ = opcode;
    *e->to++ = (!memory ? 0xc0 : small ? 0x40 : 0x80) | (result & 7) << 3 | (r & 7);
    if (memory && small) *e->to++ = near;
    else if (memory) number(e, place * (int32_t)sizeof(V));
}

static void encode_operand(struct encoder *e, int opcode, int result, int first, struct operand last)
{
    if (!last.pool) encode(e, opcode, result, first, REGISTER, last.place);
    else if (last.place < 128) encode(e, opcode, result, first, RBX, last.place);
    else encode(e, opcode, result, first, RBP, last.place - e->first - MIDDLE);
}

static void put(struct encoder *e, enum instruction name, int result, int first, struct operand last)
{
    int opcode = opcodes[name];
    switch (name) {
        case NEGATE: encode(e, opcode, result, last.place, R14, offsetof(struct aids, sign) / sizeof(V)); return;
        case MAGNITUDE: encode(e, opcode, result, last.place, R14, offsetof(struct aids, magnitude) / sizeof(V)); return;
        case INVERSE: encode(e, opcodes[MOVE], result, 0, R14, offsetof(struct aids, one) / sizeof(V)); first = result;
        default: encode_operand(e, opcode, result, first, last);
    }
}

static void put_fused(struct encoder *e, enum instruction name, enum over over, int result, int first,
                      struct operand last)
{
    static const int less[] = {[ADDEND_BY_FACTOR] = 0, [FACTOR_BY_FACTOR] = 0x20, [FACTOR_BY_ADDEND] = 0x10};
    encode_operand(e, opcodes[name] - less[over], result, first, last);
}

static void put_call(struct encoder *e, int operation)
{
    bytes(e, 3, "\x41\xff\x96"); /* call [r14 + ...] */
    number(e, (int32_t)(offsetof(struct aids, call) + sizeof(void *) * operation));
}

static void enter(struct encoder *e)
{
    bytes(e, 4, "\x53\x55\x41\x56");             /* push rbx, rbp, r14 */
    bytes(e, 6, "\x48\x89\xfb\x49\x89\xf6");     /* mov rbx, rdi; mov r14, rsi */
    bytes(e, 3, "\x48\x8d\xaf");                 /* lea rbp, [rdi + ...] */
    number(e, (int32_t)((e->first + MIDDLE) * sizeof(V)));
}

static void leave(struct encoder *e)
{
    bytes(e, 8, "\xc5\xf8\x77\x41\x5e\x5d\x5b\xc3"); /* vzeroupper; pop r14, rbp, rbx; ret */
}

static void synchronize(void) {} /* a jump is enough */

#endif
