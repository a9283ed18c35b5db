/* Evaluation of kernels at many slices: slices into lanes and back, passes, threads, shapes for CasADi. Nothing here keeps state between two evaluations, nor allocates memory. */

#include <pthread.h>

typedef long long casadi_int;
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#define UNUSED __attribute__((unused))
#define MOST_THREADS 256
#define WORTH_A_THREAD 200e3 /* ns; creating one takes about 15e3, but on a busy machine it is long in coming */

/* Machine code has the calling convention of System V, on Windows too: vectors in registers, of which the caller saves
what it needs. */
#if defined(_WIN32) && defined(__x86_64__)
#define SYSTEM_V __attribute__((sysv_abi))
#else
#define SYSTEM_V
#endif
typedef void SYSTEM_V machine_code(V *pool, const void *aids);

struct kernel {
    casadi_int n_in, n_out;
    const casadi_int *rows;   /* values per slice of every input, then of every result */
    const casadi_int *shared; /* for every input: the same for every slice? */
    casadi_int result;        /* place of the first result in the pool; the others follow */
    casadi_int size;          /* vectors of the pool, and of the values that live from chunk to chunk */
    double cost;              /* ns of LANES slices, roughly */
    const void *program;
    const double *constants;       /* values that are set before the first evaluation */
    casadi_int n_constants, place; /* the number of them, and where in the pool they begin */
    machine_code *code;            /* of the program, if there is any */
};

static void interpret(const struct kernel *kernel, V *pool);

/* Transposition -------------------------------------------------------------------------------------------------- */

/* Vectors in arrays of doubles, at any address. */
typedef double U __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (M){__VA_ARGS__})
#endif

/* Exchange the blocks off the diagonal between rows i and j of a square. */
#define EXCHANGE(i, j, low, high) { V x = v[i], y = v[j]; v[i] = SHUFFLE(x, y, low); v[j] = SHUFFLE(x, y, high); }
#define LIST(...) __VA_ARGS__

static inline void transpose(UNUSED V v[LANES])
{
#if LANES == 8
#define BY_1(i, j) EXCHANGE(i, j, LIST(0, 8, 2, 10, 4, 12, 6, 14), LIST(1, 9, 3, 11, 5, 13, 7, 15))
#define BY_2(i, j) EXCHANGE(i, j, LIST(0, 1, 8, 9, 4, 5, 12, 13), LIST(2, 3, 10, 11, 6, 7, 14, 15))
#define BY_4(i, j) EXCHANGE(i, j, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15))
    BY_1(0, 1) BY_1(2, 3) BY_1(4, 5) BY_1(6, 7)
    BY_2(0, 2) BY_2(1, 3) BY_2(4, 6) BY_2(5, 7)
    BY_4(0, 4) BY_4(1, 5) BY_4(2, 6) BY_4(3, 7)
#elif LANES == 4
#define BY_1(i, j) EXCHANGE(i, j, LIST(0, 4, 2, 6), LIST(1, 5, 3, 7))
#define BY_2(i, j) EXCHANGE(i, j, LIST(0, 1, 4, 5), LIST(2, 3, 6, 7))
    BY_1(0, 1) BY_1(2, 3)
    BY_2(0, 2) BY_2(1, 3)
#elif LANES == 2
    EXCHANGE(0, 1, LIST(0, 2), LIST(1, 3))
#endif
}

/* Rows of LANES slices into vectors; lanes after `last` repeat it. */
static void pack(V *pool, const double *x, casadi_int rows, casadi_int last)
{
    const double *lane[LANES];
    for (int l = 0; l < LANES; l++) lane[l] = x + rows * (l < last ? l : last);
    for (casadi_int r = 0; r < rows && rows < LANES; r++)
        for (int l = 0; l < LANES; l++) pool[r][l] = lane[l][r];
    for (casadi_int r = 0; r < rows && rows >= LANES; r += LANES) {
        if (r > rows - LANES) r = rows - LANES; /* the last square overlaps the one before */
        V v[LANES];
        for (int l = 0; l < LANES; l++) v[l] = *(const U *)(lane[l] + r);
        transpose(v);
        for (int l = 0; l < LANES; l++) pool[r + l] = v[l];
    }
}

/* Vectors into the rows of `count` slices. */
static void unpack(double *y, const V *pool, casadi_int rows, int count)
{
    for (casadi_int r = 0; r < rows && rows < LANES; r++)
        for (int l = 0; l < count; l++) y[rows * l + r] = pool[r][l];
    for (casadi_int r = 0; r < rows && rows >= LANES; r += LANES) {
        if (r > rows - LANES) r = rows - LANES;
        V v[LANES];
        for (int l = 0; l < LANES; l++) v[l] = pool[r + l];
        transpose(v);
        for (int l = 0; l < count; l++) *(U *)(y + rows * l + r) = v[l];
    }
}

/* The same with neighbouring slices of one column added up: column numbers, and the first row of column 0. */
static void unpack_sums(double *y, const V *pool, casadi_int rows, int count, const double *column)
{
    for (casadi_int r = 0; r < rows; r += LANES) {
        V v[LANES];
        int width = LANES;
        if (rows < LANES) width = (int)rows;
        else if (r > rows - LANES) r = rows - LANES;
        for (int l = 0; l < width; l++) v[l] = pool[r + l];
        for (int l = width; l < LANES; l++) v[l] = K(0.0);
        transpose(v);
        for (int l = 0; l < count;) {
            double *to = y + rows * (casadi_int)column[l] + r;
            V sum = v[l];
            for (l++; l < count && column[l] == column[l - 1]; l++) sum += v[l];
            if (width == LANES) *(U *)to = sum;
            else for (int k = 0; k < width; k++) to[k] = sum[k];
        }
    }
}

static void broadcast(V *pool, const double *x, casadi_int rows)
{
    for (casadi_int r = 0; r < rows; r++) pool[r] = K(x ? x[r] : 0.0);
}

/* Passes --------------------------------------------------------------------------------------------------------- */

/* A table is a sequence of runs, each `fours, ones, terms`, then the targets: four at a time, which hides the latency
of the additions, with their terms interleaved, and those left over one by one. */
#define PASS(name, index)                                                                      \
    static inline __attribute__((unused)) void name(V *pool, const index *t, const index *end) \
    {                                                                                          \
        while (t < end) {                                                                      \
            casadi_int fours = t[0], ones = t[1], terms = t[2];                                \
            for (t += 3; fours > 0; fours--) {                                                 \
                const index *to = t;                                                           \
                V a = K(0.0), b = a, c = a, d = a;                                             \
                t += 4;                                                                        \
                for (casadi_int k = 0; k < terms; k++, t += 8) {                               \
                    a += pool[t[0]] * pool[t[1]];                                              \
                    b += pool[t[2]] * pool[t[3]];                                              \
                    c += pool[t[4]] * pool[t[5]];                                              \
                    d += pool[t[6]] * pool[t[7]];                                              \
                }                                                                              \
                pool[to[0]] = a, pool[to[1]] = b, pool[to[2]] = c, pool[to[3]] = d;            \
            }                                                                                  \
            for (; ones > 0; ones--) {                                                         \
                V a = K(0.0), *to = pool + *t++;                                               \
                for (casadi_int k = 0; k < terms; k++, t += 2) a += pool[t[0]] * pool[t[1]];   \
                *to = a;                                                                       \
            }                                                                                  \
        }                                                                                      \
    }
PASS(pass16, uint16_t)
PASS(pass32, uint32_t)

/* Evaluation ----------------------------------------------------------------------------------------------------- */

/* One call: what all of its threads share. */
struct call {
    const struct kernel *kernel;
    const double **arg;
    double **res;
    const double *column;     /* of every slice in the results; null if each has its own */
    casadi_int slices, grain; /* batches of LANES slices that a thread takes at a time */
    casadi_int next;          /* the first batch that nobody has taken */
};

struct worker {
    struct call *call;
    V *pool;
};

static casadi_int batches(casadi_int slices) { return (slices + LANES - 1) / LANES; }

static void evaluate_batch(const struct call *call, casadi_int batch, V *pool)
{
    const struct kernel *kernel = call->kernel;
    const casadi_int *rows = kernel->rows;
    casadi_int first = batch * LANES, rest = call->slices - first;
    V *place = pool;
    for (casadi_int i = 0; i < kernel->n_in; place += rows[i++])
        if (!kernel->shared[i] && call->arg[i]) pack(place, call->arg[i] + first * rows[i], rows[i], rest - 1);
    interpret(kernel, pool);
    place = pool + kernel->result;
    rows += kernel->n_in;
    int count = rest < LANES ? (int)rest : LANES;
    for (casadi_int i = 0; i < kernel->n_out; place += rows[i++])
        if (!call->res[i]) continue;
        else if (call->column) unpack_sums(call->res[i], place, rows[i], count, call->column + first);
        else unpack(call->res[i] + first * rows[i], place, rows[i], count);
}

/* Batches are taken until there are none: a thread whose core is shared with others takes fewer. */
static void *run(void *given)
{
    const struct worker *worker = given;
    struct call *call = worker->call;
    const struct kernel *kernel = call->kernel;
    casadi_int count = batches(call->slices), batch;
    V *place = worker->pool;
    for (casadi_int i = 0; i < kernel->n_in; place += kernel->rows[i++])
        if (kernel->shared[i] || !call->arg[i]) broadcast(place, call->arg[i], kernel->rows[i]);
    broadcast(worker->pool + kernel->place, kernel->constants, kernel->n_constants);
    while ((batch = __atomic_fetch_add(&call->next, call->grain, __ATOMIC_RELAXED)) < count)
        for (casadi_int end = batch + call->grain; batch < end && batch < count; batch++)
            evaluate_batch(call, batch, worker->pool);
    return 0;
}

static casadi_int useful_threads(const struct kernel *kernel, casadi_int slices, casadi_int threads)
{
    double worth = batches(slices) * kernel->cost / WORTH_A_THREAD;
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    if (threads > batches(slices)) threads = batches(slices);
    if (threads > worth) threads = (casadi_int)worth;
    return threads < 1 ? 1 : threads;
}

/* Doubles of work memory. */
static casadi_int work_size(const struct kernel *kernel, casadi_int slices, casadi_int threads)
{
    return LANES * (kernel->size * useful_threads(kernel, slices, threads) + 1);
}

static int evaluate(const struct kernel *kernel, const double **arg, double **res, casadi_int slices,
                    casadi_int threads, const double *column, double *work)
{
    pthread_t thread[MOST_THREADS];
    struct worker worker[MOST_THREADS];
    V *pool = (V *)(((uintptr_t)work + sizeof(V) - 1) / sizeof(V) * sizeof(V));
    casadi_int n = useful_threads(kernel, slices, threads), created = 0;
    struct call call = {kernel, arg, res, column, slices, 1 + batches(slices) / (16 * n), 0};
    for (casadi_int k = 0; k < n; k++) worker[k] = (struct worker){&call, pool + kernel->size * k};
    while (created + 1 < n && !pthread_create(&thread[created], 0, run, &worker[created + 1])) created++;
    run(&worker[0]); /* also what no thread could be had for */
    while (created > 0) pthread_join(thread[--created], 0);
    return 0;
}

/* Slices that are vectors already, one for every lane: input i of a batch is block (batch / every[i]) % blocks[i]. */
static void evaluate_vectors(const struct kernel *kernel, const double **arg, double **res, casadi_int count,
                                    const casadi_int *every, const casadi_int *blocks, double *work)
{
    V *pool = (V *)(((uintptr_t)work + sizeof(V) - 1) / sizeof(V) * sizeof(V));
    const casadi_int *rows = kernel->rows, *results = rows + kernel->n_in;
    broadcast(pool + kernel->place, kernel->constants, kernel->n_constants);
    for (casadi_int batch = 0; batch < count; batch++) {
        V *place = pool;
        for (casadi_int i = 0; i < kernel->n_in; place += rows[i++]) {
            const U *from = (const U *)arg[i] + batch / every[i] % blocks[i] * rows[i];
            for (casadi_int r = 0; r < rows[i]; r++) place[r] = from[r];
        }
        interpret(kernel, pool);
        place = pool + kernel->result;
        for (casadi_int i = 0; i < kernel->n_out; place += results[i++]) {
            U *to = (U *)res[i] + batch * results[i];
            for (casadi_int r = 0; r < results[i]; r++) to[r] = place[r];
        }
    }
}

/* Faces ---------------------------------------------------------------------------------------------------------- */

/* CasADi asks for shapes once, in the thread that constructs an external, and copies the answers. The numbers of
slices, of threads and of columns to add up to come back as the last argument of every evaluation, followed by the
column of every slice unless there are no columns. */
static _Thread_local casadi_int shape_slices, shape_threads, shape_columns, shape[3];

EXPORT void set_shape(casadi_int slices, casadi_int threads, casadi_int columns)
{
    shape_slices = slices, shape_threads = threads, shape_columns = columns;
}

static const casadi_int *dense(casadi_int rows, casadi_int columns)
{
    shape[0] = rows, shape[1] = columns, shape[2] = 1;
    return shape;
}

static const casadi_int *shape_in(const struct kernel *kernel, casadi_int i)
{
    if (i == kernel->n_in) return dense(3 + (shape_columns ? shape_slices : 0), 1);
    return dense(kernel->rows[i], kernel->shared[i] ? 1 : shape_slices);
}

static const casadi_int *shape_out(const struct kernel *kernel, casadi_int i)
{
    return dense(kernel->rows[kernel->n_in + i], shape_columns ? shape_columns : shape_slices);
}

static int work(const struct kernel *kernel, casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw,
                casadi_int *sz_w)
{
    *sz_arg = kernel->n_in + 1, *sz_res = kernel->n_out, *sz_iw = 0;
    *sz_w = work_size(kernel, shape_slices, shape_threads);
    return 0;
}
