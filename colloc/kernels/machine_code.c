/* Programs as machine code, which is written in milliseconds and needs no compiler.

The instructions of a function become straight-line code in CasADi's order, which keeps few values alive. A value lives in a
vector register from where it is computed to where it is last read. Where registers run out, the one that is read again
last makes room: it is stored in the pool, once, and read there from then on, as are inputs and constants. A product that
one sum alone reads is part of the sum. An operation that has no instruction is a call of a C function, across which all
values are in the pool.

This is the same for all processors; x86_64.c and aarch64.c encode the instructions of encoding.h. On both, the same sums
are rounded once, so that they have the same bits.

A program carries a number that tells it from all others, by its words and its code. Code is in a table by that number as
long as a program owns it, and a while longer: a program whose number is not there, as in another process, is interpreted,
and so are all on other machines and where the system gives no memory that can be executed. */

#ifdef MACHINE_CODE

/* Operations as functions ---------------------------------------------------------------------------------------- */

#define A x
#define B y
#define RUN(operation, operands, value) static V SYSTEM_V call_##operation(UNUSED V x, UNUSED V y) { return value; }
OPERATIONS
#undef RUN
#define RUN(operation, operands, value) [operation] = call_##operation,

static const struct aids aids = {KM(INT64_MIN), KM(INT64_MAX), K(1.0), {OPERATIONS}};
#undef A
#undef B
#undef RUN

/* Registers ------------------------------------------------------------------------------------------------------ */

#define NEVER INT32_MAX

struct writer {
    struct value *v;
    struct where {
        int32_t in, next, stored; /* register or -1; the next that reads it; whether the pool has it */
    } *where;
    int32_t held[REGISTERS], next[REGISTERS]; /* the value that a register has, and the next that reads it */
    int32_t *vacant;
    casadi_int vacancies, end;
    struct encoder e;
};

static struct operand in_register(int number) { return (struct operand){0, number}; }

static struct operand in_pool(int32_t place) { return (struct operand){1, place}; }

static struct operand operand(const struct writer *w, int y)
{
    return w->where[y].in >= 0 ? in_register(w->where[y].in) : in_pool(w->v[y].place);
}

static uint32_t bit(struct operand o) { return o.pool ? 0 : 1u << o.place; }

static void store(struct writer *w, int y)
{
    if (w->where[y].stored) return;
    if (w->v[y].place < 0) w->v[y].place = w->vacancies ? w->vacant[--w->vacancies] : (int32_t)w->end++;
    put(&w->e, STORE, w->where[y].in, 0, in_pool(w->v[y].place));
    w->where[y].stored = 1;
}

static void forget(struct writer *w, int y)
{
    int r = w->where[y].in;
    if (r >= 0) w->held[r] = -1, w->next[r] = NEVER, w->where[y].in = -1;
}

/* A register other than those to keep: a vacant one, or that of the value that is read again last. */
static int vacate(struct writer *w, uint32_t keep)
{
    int best = -1;
    for (int r = 0; r < REGISTERS; r++)
        if (!(keep >> r & 1) && (best < 0 || w->next[r] > w->next[best])) best = r;
    if (w->held[best] >= 0) store(w, w->held[best]), forget(w, w->held[best]);
    return best;
}

static void hold(struct writer *w, int y, int r)
{
    w->held[r] = y, w->next[r] = w->where[y].next, w->where[y].in = r;
}

static int load(struct writer *w, int y, uint32_t keep)
{
    if (w->where[y].in < 0) {
        int r = vacate(w, keep);
        put(&w->e, MOVE, r, 0, in_pool(w->v[y].place));
        hold(w, y, r);
    }
    return w->where[y].in;
}

/* The last operand of an instruction. */
static struct operand last(struct writer *w, int y, uint32_t keep)
{
    return READS_POOL ? operand(w, y) : in_register(load(w, y, keep));
}

/* The registers of operands that nobody reads any more are vacant. */
static void release(struct writer *w, const struct value *x)
{
    for (int r = 0; r < arity(x->op); r++) {
        int y = x->read[r];
        if (w->where[y].next == NEVER) forget(w, y);
        else if (w->where[y].in >= 0) w->next[w->where[y].in] = w->where[y].next;
    }
}

/* Instructions --------------------------------------------------------------------------------------------------- */

static int unary(struct writer *w, const struct value *x, enum instruction name)
{
    int y = x->read[0];
    struct operand o = name == MOVE ? operand(w, y) : name == SQRT ? last(w, y, 0) : in_register(load(w, y, 0));
    release(w, x);
    int r = vacate(w, 0);
    put(&w->e, name, r, 0, o);
    return r;
}

static int binary(struct writer *w, const struct value *x, enum instruction name, int a, int b)
{
    if ((name == ADD || name == MULTIPLY) && w->where[a].in < 0 && w->where[b].in >= 0) {
        int c = a;
        a = b, b = c;
    }
    int first = load(w, a, bit(operand(w, b)));
    struct operand second = last(w, b, 1u << first);
    release(w, x);
    int r = vacate(w, 0);
    put(&w->e, name, r, first, second);
    return r;
}

static int inverse(struct writer *w, const struct value *x)
{
    struct operand o = last(w, x->read[0], 0);
    int r = vacate(w, bit(o));
    put(&w->e, INVERSE, r, 0, o);
    release(w, x);
    return r;
}

/* The result overwrites an operand: the addend, or a factor if the processor can and nobody reads it any more, or a copy. */
static int fused(struct writer *w, const struct value *x, enum instruction name)
{
    const struct where *at = w->where;
    int a = x->read[0], b = x->read[1], c = x->read[2], over = c;
#define ENDS(y) (at[y].in >= 0 && at[y].next == NEVER)
    if (OVERWRITES_FACTORS && !ENDS(c) && (ENDS(a) || ENDS(b) || at[c].in >= 0)) {
        if (ENDS(b) || (!ENDS(a) && at[b].in < 0)) a = x->read[1], b = x->read[0];
        if (ENDS(a) || at[a].in < 0) over = a;
    }
    int first = b, second = a;
    enum over kind = ADDEND_BY_FACTOR;
    if (over == c && at[b].in < 0) first = a, second = b;
    if (over != c && at[c].in < 0) first = b, second = c, kind = FACTOR_BY_ADDEND;
    else if (over != c) first = c, second = b, kind = FACTOR_BY_FACTOR;
    int s = load(w, first, bit(operand(w, second)) | bit(operand(w, over)));
    struct operand o = last(w, second, 1u << s | bit(operand(w, over))), from = operand(w, over);
    int r = ENDS(over) ? at[over].in : vacate(w, 1u << s | bit(o));
    if (from.pool || from.place != r) put(&w->e, MOVE, r, 0, from);
    put_fused(&w->e, name, kind, r, s, o);
    release(w, x);
    return r;
}

static int call(struct writer *w, const struct value *x)
{
    int a = x->read[0], b = BINARY(x->op) ? x->read[1] : -1;
    for (int r = 0; r < REGISTERS; r++)
        if (w->held[r] >= 0 && (w->held[r] != a || a == b || w->where[a].next != NEVER)) store(w, w->held[r]);
    struct operand o = operand(w, a);
    if (o.pool || o.place != 0) put(&w->e, MOVE, 0, 0, o);
    if (b >= 0) put(&w->e, MOVE, 1, 0, in_pool(w->v[b].place));
    for (int r = 0; r < REGISTERS; r++)
        if (w->held[r] >= 0) forget(w, w->held[r]);
    put_call(&w->e, x->op);
    return 0;
}

static int instruction(struct writer *w, const struct value *x)
{
    int a = x->read[0], b = x->read[1];
    switch (x->op) {
        case OP_ASSIGN: return unary(w, x, MOVE);
        case OP_SQRT: return unary(w, x, SQRT);
        case OP_ADD: return binary(w, x, ADD, a, b);
        case OP_SUB: return binary(w, x, SUBTRACT, a, b);
        case OP_MUL: return binary(w, x, MULTIPLY, a, b);
        case OP_DIV: return binary(w, x, DIVIDE, a, b);
        case OP_TWICE: return binary(w, x, ADD, a, a);
        case OP_SQ: return binary(w, x, MULTIPLY, a, a);
        case OP_INV: return inverse(w, x);
        case OP_NEG: return unary(w, x, NEGATE);
        case OP_FABS: return unary(w, x, MAGNITUDE);
        case PRODUCT_ADD: return fused(w, x, FUSED_ADD);
        case PRODUCT_SUBTRACT: return fused(w, x, FUSED_SUBTRACT);
        case SUBTRACT_PRODUCT: return fused(w, x, FUSED_SUBTRACT_FROM);
    }
    return call(w, x);
}

/* Code of a function's instructions, as `schedule` takes them, in `room` bytes, of which 60 (n + 1) + 512 are enough.
Returns its length, or 0 where there is none or no room, and the end of the places; the work memory is of 10 n + registers
numbers. */
EXPORT casadi_int write_code(const int32_t (*in)[4], casadi_int n, UNUSED casadi_int registers, casadi_int first,
                             int64_t *work, uint8_t *code, casadi_int room, casadi_int *end)
{
    if (first + n > INT32_MAX / (casadi_int)sizeof(V) - 1000 || room < MOST_BYTES) return 0;
    struct writer w = {.v = (struct value *)work, .end = first, .e = {code, (int32_t)first}};
    int32_t(*later)[3] = (int32_t(*)[3])(work + 5 * n); /* of what an instruction reads, the next that reads it */
    w.where = (struct where *)(later + n), w.vacant = (int32_t *)(w.where + n);
    values(w.v, in, n, w.vacant);
    for (int k = 0; k < n; k++) w.where[k] = (struct where){-1, NEVER, w.v[k].op == OP_INPUT};
    for (int k = (int)n - 1; k >= 0; k--) {
        const struct value *x = w.v + k;
        for (int r = 0; r < arity(x->op); r++) later[k][r] = w.where[x->read[r]].next;
        for (int r = 0; r < arity(x->op); r++) w.where[x->read[r]].next = k;
    }
    for (int r = 0; r < REGISTERS; r++) w.held[r] = -1, w.next[r] = NEVER;
    enter(&w.e);
    for (int k = 0; k < n; k++) {
        struct value *x = w.v + k;
        if (arity(x->op) == 0) continue;
        if (w.e.to - code > room - MOST_BYTES) return 0;
        for (int r = 0; r < arity(x->op); r++) w.where[x->read[r]].next = later[k][r];
        hold(&w, k, instruction(&w, x));
        if (x->place >= 0) store(&w, k);
        if (w.where[k].next == NEVER) forget(&w, k);
        for (int r = 0; r < arity(x->op); r++) {
            int32_t *place = &w.v[x->read[r]].place;
            if (w.where[x->read[r]].next == NEVER && *place >= first) w.vacant[w.vacancies++] = *place, *place = -1;
        }
    }
    leave(&w.e);
    *end = w.end;
    return w.e.to - code;
}

/* The table ------------------------------------------------------------------------------------------------------ */

#define MOST_MEMORY (256 << 20) /* bytes of all code */
#define UNOWNED_MEMORY (8 << 20) /* bytes of code that no program owns, and number of codes: functions of CasADi's may */
#define UNOWNED 64               /* still have their words; those that ran last are kept */
#define LISTS 1024

struct kept {
    uint64_t number, latest; /* run or drop, counted */
    struct kept *next;
    machine_code *code;
    size_t length;
    int owners, running;
};

static struct kept *lists[LISTS];
static size_t used;
static uint64_t clock_of_code;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER; /* held for a look or a change, never across a fork */

static void take_table(void) { pthread_mutex_lock(&table); }
static void give_table(void) { pthread_mutex_unlock(&table); }
#ifndef _WIN32
__attribute__((constructor)) static void guard_forks(void) { pthread_atfork(take_table, give_table, give_table); }
#endif

/* Code by its number, null of none. A program's words may name any number, and would run its code: words are made in this
process or come with a pickle, which is trusted with more. That two honest programs have the same 64 bits of a hash is as
likely as 3e-8 among a million of them. The table is held. */
static struct kept *look_up(uint64_t number)
{
    struct kept *k = lists[number % LISTS];
    while (k && k->number != number) k = k->next;
    return k;
}

/* Code to be run, which stays until it is given back; null of none. */
static struct kept *find_code(uint64_t number)
{
    if (!number) return 0;
    take_table();
    struct kept *k = look_up(number);
    if (k) k->running++, k->latest = ++clock_of_code;
    give_table();
    synchronize();
    return k;
}

static void give_back(struct kept *k)
{
    if (!k) return;
    take_table();
    k->running--;
    give_table();
}

static machine_code *code_of(const struct kept *k) { return k ? k->code : 0; }

/* Unmaps code that no program owns and nobody runs, the one that ran longest ago first, until so many bytes and codes of
the kind are left. The table is held. */
static void trim(size_t bytes, int count)
{
    for (;;) {
        struct kept **oldest = 0, *k;
        size_t unowned = 0;
        int codes = 0;
        for (int l = 0; l < LISTS; l++)
            for (struct kept **place = lists + l; (k = *place); place = &k->next) {
                if (k->owners || k->running) continue;
                unowned += k->length, codes++;
                if (!oldest || k->latest < (*oldest)->latest) oldest = place;
            }
        if (!oldest || (unowned <= bytes && codes <= count)) return;
        k = *oldest, *oldest = k->next, used -= k->length;
        free_code(k->code, k->length), free(k);
    }
}

/* Code has one owner more under its number, where it is put unless it is there. Returns 1; 0 where the system gives no
memory for it, and -1 where other programs own too much code. */
EXPORT int keep_code(uint64_t number, const uint8_t *code, casadi_int length, const char *name)
{
    int kept = 1;
    take_table();
    struct kept *k = look_up(number);
    if (!k) {
        if (used + length > MOST_MEMORY) trim(0, 0);
        if (used + length > MOST_MEMORY) kept = -1;
        else if ((k = calloc(1, sizeof(struct kept))) && (k->code = new_code(code, length))) {
            k->number = number, k->length = length, k->next = lists[number % LISTS], lists[number % LISTS] = k;
            used += length;
            tell_perf(k->code, k->length, name);
        } else free(k), k = 0, kept = 0;
    }
    if (k) k->owners++;
    give_table();
    return kept;
}

/* Code has one owner less. */
EXPORT void drop_code(uint64_t number)
{
    take_table();
    struct kept *k = look_up(number);
    if (k && k->owners) k->owners--, k->latest = ++clock_of_code;
    trim(UNOWNED_MEMORY, UNOWNED);
    give_table();
}

static void run_code(machine_code *code, V *pool) { code(pool, &aids); }

#else

EXPORT casadi_int write_code(UNUSED const int32_t (*in)[4], UNUSED casadi_int n, UNUSED casadi_int registers,
                             UNUSED casadi_int first, UNUSED int64_t *work, UNUSED uint8_t *code,
                             UNUSED casadi_int room, UNUSED casadi_int *end)
{
    return 0;
}

EXPORT int keep_code(UNUSED uint64_t number, UNUSED const uint8_t *code, UNUSED casadi_int length,
                     UNUSED const char *name)
{
    return 0;
}

EXPORT void drop_code(UNUSED uint64_t number) {}

static struct kept *find_code(UNUSED uint64_t number) { return 0; }
static void give_back(UNUSED struct kept *k) {}
static machine_code *code_of(UNUSED const struct kept *k) { return 0; }
static void run_code(UNUSED machine_code *code, UNUSED V *pool) {}

#endif
