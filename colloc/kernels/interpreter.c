/* Programs: functions as data, evaluated without having been compiled.

CasADi's virtual machine decides at every instruction of every slice what to do. Here instructions of one operation are
brought together into runs, as far as what they read is there: what to do is decided once in a run, and every
instruction of it works on LANES slices. A product that one sum alone reads is part of the sum. */

/* Scheduling ------------------------------------------------------------------------------------------------------ */

#define WINDOW 2048   /* instructions among which runs are formed: in more of them, more values live at a time */
#define LONGEST 65535 /* run, as its length takes 16 bits */

static int ascending(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* Sort the instructions of a window by how many of it they wait for, then by operation. */
static void sort_window(struct value *v, uint64_t *order, int count, int window)
{
    for (int i = 0; i < count; i++) {
        struct value *x = v + order[i];
        x->window = window, x->level = 0;
        for (int r = 0; r < arity(x->op); r++) {
            const struct value *y = v + x->read[r];
            if (y->window == window && y->level >= x->level) x->level = y->level + 1;
        }
        order[i] |= (uint64_t)x->level << 44 | (uint64_t)x->op << 32;
    }
    qsort(order, count, sizeof(uint64_t), ascending);
    for (int i = 0; i < count; i++) order[i] &= UINT32_MAX;
}

/* Runs of the instructions of a function, each `operation, count` and then the places of every instruction: that of
the result and those that it reads. Temporary values have places from `first` on. Returns the length of the code, at
most 6 n + 1, for which there has to be room, and the end of the places; the work memory is of 7 n + registers numbers. */
EXPORT casadi_int schedule(const int32_t (*in)[4], casadi_int n, casadi_int registers, casadi_int first,
                           int64_t *work, int32_t *code, casadi_int room, casadi_int *end)
{
    if (room < 6 * n + 1) return 0;
    struct value *v = (struct value *)work;
    uint64_t *order = (uint64_t *)(work + 5 * n); /* a value takes five */
    int32_t *held = (int32_t *)(order + n), *vacant = held + registers;
    casadi_int live = 0, vacancies = 0, length = 0, start = 0;
    values(v, in, n, held);
    for (int k = 0; k < n; k++)
        if (v[k].op != OP_INPUT && v[k].op != NOTHING) order[live++] = k;
    for (casadi_int k = 0; k < live; k += WINDOW)
        sort_window(v, order + k, live - k < WINDOW ? (int)(live - k) : WINDOW, (int)(k / WINDOW));
    for (int i = 0; i < live; i++) {
        const struct value *x = v + order[i];
        for (int r = 0; r < arity(x->op); r++) v[x->read[r]].last = i;
    }
    *end = first;
    for (int i = 0, op = END; i < live; i++) {
        struct value *x = v + order[i];
        if (x->op != op || code[start] == LONGEST)
            code[length] = op = x->op, code[start = length + 1] = 0, length += 2;
        code[start]++;
        int32_t *to = code + length++;
        for (int r = 0; r < arity(op); r++) {
            struct value *y = v + x->read[r];
            code[length++] = y->place;
            if (y->last == i && y->place >= first) vacant[vacancies++] = y->place, y->last = -1;
        }
        if (x->place < 0) x->place = vacancies ? vacant[--vacancies] : (int32_t)(*end)++;
        if (x->last < 0 && x->place >= first) vacant[vacancies++] = x->place; /* nobody reads it */
        *to = x->place;
    }
    code[length++] = END;
    return length;
}

/* Evaluation ----------------------------------------------------------------------------------------------------- */

/* A program is 64-bit words: these, then `rows` and `shared` as a kernel has them, constants, code, table of passes.
It is an argument of the functions that evaluate it, so that it lives as long as they do. */
struct program {
    casadi_int n_in, n_out, result, size; /* as of a kernel */
    double cost;
    casadi_int constants, place;          /* number, and place of the first in the pool */
    casadi_int wide;                      /* whether places take 32 bits instead of 16 */
    casadi_int code, table;               /* first words of the code, and of the table of passes */
    casadi_int entries, end;              /* length of the table, and of it all in words */
    uint64_t number;                      /* of its machine code; 0 of none */
};

#define A pool[t[1]]
#define B pool[t[2]]
#define C pool[t[3]]
#define RUN(operation, operands, value) \
    case operation: for (; count > 0; count--, t += operands + 1) pool[t[0]] = value; break;
#define RUNS(name, index)                                            \
    static void name(V *pool, const index *t)                        \
    {                                                                \
        while (*t != END) {                                          \
            int operation = *t++, count = *t++;                      \
            switch (operation) {                                     \
                OPERATIONS                                           \
                RUN(PRODUCT_ADD, 3, A * B + C)                       \
                RUN(PRODUCT_SUBTRACT, 3, A * B - C)                  \
                RUN(SUBTRACT_PRODUCT, 3, C - A * B)                  \
            }                                                        \
        }                                                            \
    }
RUNS(runs16, uint16_t)
RUNS(runs32, uint32_t)

static void interpret(const struct kernel *kernel, V *pool)
{
    const casadi_int *words = kernel->program;
    const struct program *program = kernel->program;
    const void *code = words + program->code, *table = words + program->table;
    if (kernel->code) run_code(kernel->code, pool);
    else if (program->wide) runs32(pool, code);
    else runs16(pool, code);
    if (program->wide) pass32(pool, table, (const uint32_t *)table + program->entries);
    else pass16(pool, table, (const uint16_t *)table + program->entries);
}

static struct kernel kernel_of(const void *given)
{
    const struct program *p = given;
    const casadi_int *rows = (const casadi_int *)(p + 1), *shared = rows + p->n_in + p->n_out;
    const double *constants = (const double *)(shared + p->n_in);
    return (struct kernel){p->n_in, p->n_out, rows, shared, p->result, p->size, p->cost,
                           p, constants, p->constants, p->place, 0};
}

/* Evaluates a program with its machine code, if it is there; it is not unmapped meanwhile. */
static int evaluate_program(const void *given, const double **arg, double **res, casadi_int slices, casadi_int threads,
                            const double *column, double *work)
{
    struct kernel kernel = kernel_of(given);
    struct kept *kept = find_code(((const struct program *)given)->number);
    kernel.code = code_of(kept);
    int status = evaluate(&kernel, arg, res, slices, threads, column, work);
    give_back(kept);
    return status;
}

static void evaluate_program_vectors(const void *given, const double **arg, double **res, casadi_int count,
                                     const casadi_int *every, const casadi_int *blocks, double *work)
{
    struct kernel kernel = kernel_of(given);
    struct kept *kept = find_code(((const struct program *)given)->number);
    kernel.code = code_of(kept);
    evaluate_vectors(&kernel, arg, res, count, every, blocks, work);
    give_back(kept);
}

/* Faces ---------------------------------------------------------------------------------------------------------- */

static _Thread_local const struct program *shape_program; /* as the shapes are kept that CasADi asks for */

EXPORT casadi_int lanes(void) { return LANES; }
EXPORT void set_program(const void *program) { shape_program = program; }

/* To CasADi the program is the first argument. */
EXPORT casadi_int program_n_in(void) { return 1 + shape_program->n_in + 1; }
EXPORT casadi_int program_n_out(void) { return shape_program->n_out; }

EXPORT const casadi_int *program_sparsity_in(casadi_int i)
{
    struct kernel kernel = kernel_of(shape_program);
    return i == 0 ? dense(shape_program->end, 1) : shape_in(&kernel, i - 1);
}

EXPORT const casadi_int *program_sparsity_out(casadi_int i)
{
    struct kernel kernel = kernel_of(shape_program);
    return shape_out(&kernel, i);
}

EXPORT int program_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w)
{
    struct kernel kernel = kernel_of(shape_program);
    work(&kernel, sz_arg, sz_res, sz_iw, sz_w);
    ++*sz_arg;
    return 0;
}

EXPORT int program(const double **arg, double **res, UNUSED casadi_int *iw, double *w, UNUSED int memory)
{
    const struct program *p = (const void *)arg[0];
    const double *sizes = p ? arg[1 + p->n_in] : 0;
    if (!sizes) return 1;
    return evaluate_program(p, arg + 1, res, (casadi_int)sizes[0], (casadi_int)sizes[1], sizes[2] ? sizes + 3 : 0, w);
}

EXPORT casadi_int program_doubles(const void *program, casadi_int slices, casadi_int threads)
{
    struct kernel kernel = kernel_of(program);
    return work_size(&kernel, slices, threads);
}

EXPORT int program_evaluate(const void *program, const double **arg, double **res, casadi_int slices,
                            casadi_int threads, double *w)
{
    return evaluate_program(program, arg, res, slices, threads, 0, w);
}

EXPORT void program_vectors(const void *program, const double **arg, double **res, casadi_int count,
                            const casadi_int *every, const casadi_int *blocks, double *w)
{
    evaluate_program_vectors(program, arg, res, count, every, blocks, w);
}
