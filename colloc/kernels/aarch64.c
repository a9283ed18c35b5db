/* Instructions of 64-bit ARM, whose NEON registers hold two doubles.

Operands are in registers; only moves and stores reach the pool. It is at x19, its temporary values are at x20, and the
aids at x21; places beyond 4095 vectors from both take two instructions more. A function preserves the lower halves of
v8 to v15, and x19 to x29. */

#if defined(__aarch64__) && defined(__AARCH64EL__) && !defined(_WIN32) && LANES == 2

#define MACHINE_CODE
#define READS_POOL 0
#define OVERWRITES_FACTORS 0
#define REGISTERS 31
#define SPARE 31 /* the last register is for put_fused */

/* For one instruction of a function's there are three loads and a store of at most 12 bytes each, a copy or two and two
operations of 4: no more than 60 bytes. A call comes after the stores of all registers. */
#define MOST_BYTES (12 * (REGISTERS + 8))

#define NEAR 4096 /* places that a load or store can tell apart */
enum { X16 = 16, X19 = 19, X20 = 20, X21 = 21, LOAD = 0x400000 };

static void encode(struct encoder *e, uint32_t word) { memcpy(e->to, &word, 4), e->to += 4; }

/* A number of 31 bits in a register of addresses. */
static void constant(struct encoder *e, int32_t value, int x)
{
    encode(e, 0x52800000 | (value & 0xffff) << 5 | x); /* movz */
    encode(e, 0x72a00000 | value >> 16 << 5 | x);      /* movk, shifted by 16 */
}

/* A load of the vector register r from a place of the pool, or a store, by a bit of the instruction. */
static void reach(struct encoder *e, uint32_t load, int r, int32_t place)
{
    int32_t further = place - e->first;
    if (place < NEAR) encode(e, 0x3d800000 | load | place << 10 | X19 << 5 | r);
    else if (further >= 0 && further < NEAR) encode(e, 0x3d800000 | load | further << 10 | X20 << 5 | r);
    else constant(e, place, X16), encode(e, 0x3ca07800 | load | X16 << 16 | X19 << 5 | r); /* [x19, x16, lsl 4] */
}

static const uint32_t opcodes[] = {
    [MOVE] = 0x4ea01c00, /* or with itself */
    [SQRT] = 0x6ee1f800, [NEGATE] = 0x6ee0f800, [MAGNITUDE] = 0x4ee0f800, [ADD] = 0x4e60d400, [SUBTRACT] = 0x4ee0d400,
    [MULTIPLY] = 0x6e60dc00, [DIVIDE] = 0x6e60fc00, [FUSED_ADD] = 0x4e60cc00, [FUSED_SUBTRACT_FROM] = 0x4ee0cc00,
};

static void three(struct encoder *e, enum instruction name, int result, int first, int last)
{
    encode(e, opcodes[name] | last << 16 | first << 5 | result);
}

static void put(struct encoder *e, enum instruction name, int result, int first, struct operand last)
{
    if (name == STORE || last.pool) {
        reach(e, name == STORE ? 0 : LOAD, result, last.place);
    } else if (name == MOVE) {
        three(e, name, result, last.place, last.place);
    } else if (name == SQRT || name == NEGATE || name == MAGNITUDE) {
        three(e, name, result, last.place, 0);
    } else if (name == INVERSE) {
        encode(e, 0x6f03f600 | result); /* fmov 1.0 */
        three(e, DIVIDE, result, result, last.place);
    } else {
        three(e, name, result, first, last.place);
    }
}

static void put_fused(struct encoder *e, enum instruction name, UNUSED enum over over, int result, int first,
                      struct operand last)
{
    if (name != FUSED_SUBTRACT) {
        three(e, name, result, first, last.place);
    } else if (result != first && result != last.place) {
        three(e, NEGATE, result, result, 0);
        three(e, FUSED_ADD, result, first, last.place);
    } else { /* the addend is a factor as well */
        three(e, NEGATE, SPARE, result, 0);
        three(e, FUSED_ADD, SPARE, first, last.place);
        three(e, MOVE, result, SPARE, SPARE);
    }
}

static void put_call(struct encoder *e, int operation)
{
    uint32_t words = offsetof(struct aids, call) / sizeof(void *) + operation;
    encode(e, 0xf9400000 | words << 10 | X21 << 5 | X16); /* ldr x16, [x21, ...] */
    encode(e, 0xd63f0200);                                /* blr x16 */
}

static void enter(struct encoder *e)
{
    static const uint32_t save[] = {
        0xa9b97bfd, 0xa90153f3, 0xf90013f5, /* stp x29, x30, [sp, -112]!; stp x19, x20, [sp, 16]; str x21, [sp, 32] */
        0x6d0327e8, 0x6d042fea, 0x6d0537ec, 0x6d063fee, /* stp d8, d9, [sp, 48]; and so on to d15 */
        0x910003fd, 0xaa0003f3, 0xaa0103f5,             /* mov x29, sp; mov x19, x0; mov x21, x1 */
    };
    for (size_t k = 0; k < sizeof save / sizeof *save; k++) encode(e, save[k]);
    constant(e, e->first, X20);
    encode(e, 0x8b141274); /* add x20, x19, x20, lsl 4 */
}

static void leave(struct encoder *e)
{
    static const uint32_t restore[] = {
        0x6d4327e8, 0x6d442fea, 0x6d4537ec, 0x6d463fee, /* ldp d8, d9, [sp, 48]; and so on */
        0xf94013f5, 0xa94153f3, 0xa8c77bfd, 0xd65f03c0, /* ldr x21, ldp x19, x20, ldp x29, x30, [sp], 112; ret */
    };
    for (size_t k = 0; k < sizeof restore / sizeof *restore; k++) encode(e, restore[k]);
}

/* A core may have read the instructions that were at an address before, until it is told to read them again. */
static void synchronize(void) { __asm__ volatile("isb" ::: "memory"); }

#endif
