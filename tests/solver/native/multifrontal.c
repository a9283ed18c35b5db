/* The linear solver of colloc/solver/multifrontal by itself: solutions, inertia, bits, forks and failing allocations, of
random systems. `.ci/sanitize` builds it with sanitizers. An argument is the number of systems. */

#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Allocations, of which one may fail ------------------------------------------------------------------------------ */

static long allocations, failing = -1;

static int fails(void) { return __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED) == failing; }
static void *test_malloc(size_t size) { return fails() ? 0 : malloc(size); }
static void *test_calloc(size_t count, size_t size) { return fails() ? 0 : calloc(count, size); }
static void *test_realloc(void *at, size_t size) { return fails() ? 0 : realloc(at, size); }
#define malloc test_malloc
#define calloc test_calloc
#define realloc test_realloc

/* Every pattern is dissected and shared out, and delayed columns soon are too many. */
#define WORTH_A_THREAD 1e3
#define COSTLY_ORDER 1e3
#define LEAF 12
#define FILL 1.05
#define UNUSED_BYTES 60000
#include "order.c"
#include "symbolic.c"
#include "dense.c"
#include "numeric.c"
#include "ma97.c"
#undef malloc
#undef calloc
#undef realloc

static const char *doing = "";
static int system_number;

#define CHECK(condition)                                                                                       \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            fprintf(stderr, "%s, system %d, line %d: %s\n", doing, system_number, __LINE__, #condition);       \
            exit(1);                                                                                           \
        }                                                                                                      \
    } while (0)

/* Random systems -------------------------------------------------------------------------------------------------- */

static _Thread_local uint64_t state = 1;

static double uniform(void) /* in [0, 1): xorshift */
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
    double sum = -6;
    for (int k = 0; k < 12; k++) sum += uniform();
    return sum;
}

static int below(int n) { return (int)(uniform() * n); }

struct matrix { /* dense, and its upper triangle by rows, counted from 1 */
    int n;
    double *a, *value;
    int *start, *row;
};

static void free_matrix(struct matrix *m) { free(m->a), free(m->value), free(m->start), free(m->row); }

static void set(struct matrix *m, int i, int j, double value) { m->a[m->n * i + j] = m->a[m->n * j + i] = value; }

/* [[H, J'], [J, 0]] at rows begin to end, with an indefinite H, half of its diagonal zero. */
static void random_kkt(struct matrix *m, int begin, int end, double density)
{
    int variables = begin + (end - begin) * 2 / 3;
    for (int i = begin; i < end; i++)
        for (int j = begin; j <= i && j < variables; j++)
            if (uniform() < density) set(m, i, j, normal());
    for (int i = begin; i < variables; i++)
        if (i - begin < end - variables) set(m, variables + i - begin, i, 1 + uniform());
    for (int i = begin; i < variables; i++) set(m, i, i, uniform() < 0.5 ? 0 : normal());
}

enum { SMALL, BLOCKS, FOREST, SADDLE, DENSE_ROW, DEPENDENT, SCALED, DIAGONAL, HUGE_HESSIAN, KINDS };

static void fill(struct matrix *m, int kind)
{
    int n = m->n, size = 6 + below(20);
    if (kind == SMALL || kind == SCALED || kind == DEPENDENT) random_kkt(m, 0, n, 0.02 + 0.3 * uniform());
    if (kind == BLOCKS || kind == FOREST || kind == DENSE_ROW || kind == HUGE_HESSIAN)
        for (int begin = 0; begin < n; begin += size) {
            random_kkt(m, begin, begin + size < n ? begin + size : n, 0.3);
            for (int k = 0; begin && kind != FOREST && k < 3; k++)
                set(m, begin + below(n - begin < size ? n - begin : size), begin - 1 - below(size), normal());
        }
    if (kind == DENSE_ROW)
        for (int i = 0; i < n - 1; i++) set(m, n - 1, i, normal());
    for (int i = 0; i < n && (kind == SADDLE || kind == DIAGONAL); i++) {
        set(m, i, i, kind == DIAGONAL ? normal() : 0);
        for (int j = 0; j < 3 && kind == SADDLE && i < n / 2; j++) set(m, n / 2 + below(n - n / 2), i, normal());
        if (kind == SADDLE && i < n / 2) set(m, n / 2 + i, i, 1 + uniform());
    }
    for (int i = 0; i < n && kind == DEPENDENT && n > 4; i++) set(m, n - 1, i, 2 * m->a[n * (n - 2) + i]);
    if (kind == DEPENDENT && n > 4) {
        double corner = m->a[n * (n - 2) + n - 2];
        set(m, n - 1, n - 1, 4 * corner), set(m, n - 1, n - 2, 2 * corner);
    }
    for (int i = 0; i < n && kind == HUGE_HESSIAN; i++)
        if (uniform() < 0.5) set(m, i, i, 1e11);
    for (int i = 0; i < n && kind == SCALED; i++) {
        double scale = uniform() < 0.5 ? 1e-6 : 1e6;
        for (int j = 0; j < n; j++) m->a[n * i + j] *= scale, m->a[n * j + i] *= scale;
    }
}

static struct matrix random_matrix(int kind)
{
    int n = kind == BLOCKS || kind == FOREST || kind == HUGE_HESSIAN ? 60 + below(140) : 1 + below(90), count = 0;
    struct matrix m = {n, calloc((size_t)n * n, sizeof(double)), 0, malloc((n + 1) * sizeof(int)), 0};
    fill(&m, kind);
    m.value = malloc(((size_t)n * (n + 1) / 2 + 1) * sizeof(double));
    m.row = malloc(((size_t)n * (n + 1) / 2 + 1) * sizeof(int));
    for (int i = 0; i < n; i++) {
        m.start[i] = count + 1;
        for (int j = i; j < n; j++)
            if (m.a[n * i + j] != 0 || (i == j && below(2))) m.value[count] = m.a[n * i + j], m.row[count++] = j + 1;
    }
    m.start[n] = count + 1;
    return m;
}

/* Inertia by dense elimination with complete pivoting (Bunch, Parlett 1971). Returns the number of negative
eigenvalues, or NONE where rounding may decide. */
static int negative_eigenvalues(const struct matrix *m)
{
    int n = m->n, negative = 0;
    long double *a = malloc((size_t)n * n * sizeof(long double)), least = INFINITY, most = 0;
    for (int k = 0; k < n * n; k++) a[k] = m->a[k];
#define A(i, j) a[n * (i) + (j)]
    for (int k = 0; k < n;) {
        int p = k, q = k, r = k;
        for (int i = k; i < n; i++) {
            if (fabsl(A(i, i)) > fabsl(A(p, p))) p = i;
            for (int j = k; j < i; j++)
                if (q == r || fabsl(A(i, j)) > fabsl(A(q, r))) q = i, r = j;
        }
        int two = q != r && fabsl(A(p, p)) < 0.64L * fabsl(A(q, r)), from[2] = {two ? r : p, q};
        for (int t = 0; t <= two; t++) {
            int to = k + t, f = t && from[1] == k ? from[0] : from[t];
            for (int j = 0; j < n && f != to; j++) { long double x = A(f, j); A(f, j) = A(to, j), A(to, j) = x; }
            for (int i = 0; i < n && f != to; i++) { long double x = A(i, f); A(i, f) = A(i, to), A(i, to) = x; }
        }
        long double x = A(k, k), y = two ? A(k + 1, k + 1) : 1, z = two ? A(k + 1, k) : 0, det = x * y - z * z;
        long double size = two ? fabsl(z) : fabsl(x);
        least = size < least ? size : least, most = size > most ? size : most;
        if (size == 0) break;
        negative += two ? 1 : x < 0;
        for (int i = k + 1 + two; i < n; i++) {
            long double b = A(i, k), c = two ? A(i, k + 1) : 0, u = (y * b - z * c) / det, v = (x * c - z * b) / det;
            for (int j = k + 1 + two; j < n; j++) A(i, j) -= u * A(k, j) + (two ? v * A(k + 1, j) : 0);
        }
        k += 1 + two;
    }
#undef A
    free(a);
    return least > 1e-7L * most ? negative : NONE;
}

/* Answers --------------------------------------------------------------------------------------------------------- */

struct instance {
    struct ma97_control control;
    struct ma97_info info;
    void *akeep, *fkeep;
};

static struct instance begin(const struct matrix *m, double u, int threads)
{
    struct instance s = {.akeep = 0};
    ma97_default_control_d(&s.control);
    s.control.f_arrays = 1, s.control.action = 0, s.control.nemin = threads, s.control.u = u, s.control.small = 1e-12;
    ma97_analyse_d(0, m->n, m->start, m->row, 0, &s.akeep, &s.control, &s.info, 0);
    return s;
}

static int factor(struct instance *s, const struct matrix *m)
{
    ma97_factor_d(4, m->start, m->row, m->value, &s->akeep, &s->fkeep, &s->control, &s->info, 0);
    return s->info.flag;
}

static void end(struct instance *s) { ma97_finalise_d(&s->akeep, &s->fkeep); }

/* The largest residual, relative to the sizes of its terms. */
static double residual(const struct matrix *m, const double *x, const double *b)
{
    double worst = 0;
    for (int i = 0; i < m->n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < m->n; j++) sum += m->a[m->n * i + j] * x[j], size += fabs(m->a[m->n * i + j] * x[j]);
        if (size > 0 && fabs(sum) / size > worst) worst = fabs(sum) / size;
    }
    return worst;
}

/* One system with 1, 2, 3 and 7 threads: the same flags, counts and bits; the right solution and inertia. Returns
whether several threads had something to do. */
static int try_system(int number)
{
    system_number = number, state = 88172645463325252u + 7919 * (uint64_t)number;
    int kind = number % KINDS, several = 0;
    struct matrix m = random_matrix(kind);
    double u = (double[]){1e-8, 1e-8, 1e-2, 0.1}[below(4)], *b = malloc(m.n * sizeof(double)), *x[4];
    struct ma97_info first = {0};
    for (int i = 0; i < m.n; i++) b[i] = normal();
    for (int t = 0; t < 4; t++) {
        struct instance s = begin(&m, u, (int[]){1, 2, 3, 7}[t]);
        CHECK(s.info.flag == 0);
        for (int again = 0; again < 2; again++) { /* in the memory of the first time */
            int flag = factor(&s, &m);
            CHECK(flag == 0 || flag == SINGULAR);
            if (!t && !again) first = s.info;
            CHECK(!memcmp(&first, &s.info, sizeof first));
        }
        several += ((struct factors *)s.fkeep)->parts > 1;
        x[t] = malloc(m.n * sizeof(double));
        memcpy(x[t], b, m.n * sizeof(double));
        struct ma97_info of_solve;
        ma97_solve_d(0, 1, x[t], m.n, &s.akeep, &s.fkeep, &s.control, &of_solve);
        CHECK(of_solve.flag == (first.flag ? OUT_OF_ORDER : 0));
        CHECK(!memcmp(x[t], x[0], m.n * sizeof(double)));
        m.value[0] = NAN;
        CHECK(m.start[m.n] == 1 || factor(&s, &m) == SINGULAR);
        m.value[0] = m.a[m.row[0] - 1];
        end(&s);
    }
    int negative = negative_eigenvalues(&m);
    if (kind == DEPENDENT && m.n > 4) CHECK(first.flag == SINGULAR);
    if (negative != NONE && kind != DEPENDENT) {
        CHECK(first.flag == 0 && first.num_neg == negative);
        CHECK(residual(&m, x[0], b) < (u > 1e-3 ? 1e-9 : 1e-6));
    }
    for (int t = 0; t < 4; t++) free(x[t]);
    free_matrix(&m), free(b);
    return several > 0;
}

/* Threads that solve at once, the same patterns and others, by shared analyses. */
static void *solve_some(void *argument)
{
    for (int k = 0; k < 12; k++) {
        state = 1 + (uint64_t)(k % 5);
        struct matrix m = random_matrix(k % 2 ? BLOCKS : SMALL);
        struct instance s = begin(&m, 1e-8, 1 + (int)(intptr_t)argument % 3);
        int flag = factor(&s, &m);
        CHECK(flag == 0 || flag == SINGULAR);
        end(&s), free_matrix(&m);
    }
    return 0;
}

static void try_threads(void)
{
    pthread_t thread[4];
    doing = "threads at once";
    for (intptr_t k = 0; k < 4; k++) CHECK(!pthread_create(thread + k, 0, solve_some, (void *)k));
    for (int k = 0; k < 4; k++) pthread_join(thread[k], 0);
}

/* Forks while another thread analyses: the child analyses, factorises and solves. */
static int stop;

static void *analyse_on(void *unused)
{
    (void)unused;
    for (uint64_t k = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); k++) {
        state = k;
        struct matrix m = random_matrix(BLOCKS);
        struct instance s = begin(&m, 1e-8, 1);
        end(&s), free_matrix(&m);
        take_lock(); /* as whoever looks a pattern up has it, for longer */
        usleep(300);
        give_lock();
    }
    return 0;
}

static void try_forks(int forks)
{
    pthread_t thread;
    doing = "forks";
    CHECK(!pthread_create(&thread, 0, analyse_on, 0));
    for (int k = 0; k < forks; k++) {
        usleep(1000 + 137 * k);
        pid_t child = fork();
        if (!child) {
            alarm(20);
            int start[] = {1, 3, 5, 6}, row[] = {1, 2, 2, 3, 3};
            double dense[] = {2, 1, 0, 1, -3, 1, 0, 1, 4}, value[] = {2, 1, -3, 1, 4}, x[] = {3, -1, 5};
            struct matrix m = {3, dense, value, start, row};
            struct instance s = begin(&m, 1e-8, 1);
            int flag = factor(&s, &m);
            ma97_solve_d(0, 1, x, 3, &s.akeep, &s.fkeep, &s.control, &s.info);
            _exit(flag != 0 || s.info.flag != 0 || fabs(x[0] - 1) + fabs(x[1] - 1) + fabs(x[2] - 1) > 1e-12);
        }
        int status;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, 0);
}

static struct matrix regular_matrix(int kind)
{
    for (;;) {
        struct matrix m = random_matrix(kind);
        if (negative_eigenvalues(&m) != NONE) return m;
        free_matrix(&m);
    }
}

/* Every allocation fails in turn: an error, and no harm to what is tried next. */
static void try_allocations(int kind, int threads)
{
    doing = "allocations";
    state = 4242;
    struct matrix m = regular_matrix(kind), other = random_matrix(kind);
    for (int k = 0, failed = 1; failed; k++) {
        system_number = k, allocations = 0, failing = k;
        struct instance s = begin(&m, 1e-8, threads);
        int flag = s.info.flag ? s.info.flag : factor(&s, &m);
        failed = allocations > k, failing = -1;
        CHECK(flag == 0 || (failed && flag == NO_MEMORY));
        if (s.akeep) CHECK(factor(&s, &m) == 0);
        end(&s);
        s = begin(&other, 1e-8, 1); /* pushes the first pattern out of what is kept */
        end(&s);
        take_lock();
        struct analysis *kept = known;
        known = 0;
        give_lock();
        for (struct analysis *a; (a = kept); free_analysis(a)) {
            CHECK(!a->users);
            kept = a->next;
        }
    }
    free_matrix(&m), free_matrix(&other);
}

/* What is kept without a user is bounded. */
static void try_bound(void)
{
    doing = "what is kept";
    for (int k = 0; k < 40; k++) {
        state = 1000 + (uint64_t)k;
        struct matrix m = random_matrix(BLOCKS);
        struct instance s = begin(&m, 1e-8, 1);
        end(&s), free_matrix(&m);
    }
    size_t bytes = 0, count = 0;
    for (const struct analysis *a = known; a; a = a->next) bytes += a->bytes, count++;
    CHECK(bytes <= UNUSED_BYTES && count > 0 && count < 40);
}

int main(int count, char **words)
{
    int systems = count > 1 ? atoi(words[1]) : 200, several = 0;
    doing = "systems";
    for (int k = 0; k < systems; k++) several += try_system(k);
    CHECK(several > systems / 10);
    try_threads();
    try_forks(systems < 200 ? 8 : 24);
    try_allocations(BLOCKS, 3);
    try_allocations(SMALL, 1);
    try_bound();
    printf("%d systems, %d of them on several threads\n", systems, several);
    return 0;
}
