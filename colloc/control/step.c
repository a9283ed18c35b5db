/* One step of a receding horizon: functions at a decision vector, a quadratic program, the next decision vector.

  minimise    d'H d/2 + g'd + w's
  subject to  A d = b, C d - s <= u, s >= 0                    (C and u with the signs of lower limits)

in natural sizes. Every limit may be exceeded at the price w of its excess s, an exact penalty, so that there is always
an answer. Where few limits hold at the solution, it is that of a small program in their multipliers, which starts from
those of the last step. Else it is found by a primal-dual interior-point method with Mehrotra's corrector. Limits are
eliminated from its system

  | H + C'Z C   A' |      Z = 1/(t/z + s/(w - z)) for a limit with distance t, multiplier z and excess s,
  | A           -r |      r a small regularisation,

with variables and equations in the order of time. Of a convex program it is quasi-definite, so that its L D L' exists in
this order without pivoting (Vanderbei 1995). It is factorised within its envelope: row i has the columns from first[i]
on, no more.

Nothing here allocates memory. All arrays belong to the caller. Rows of the Jacobian are segments: runs of neighbouring
places in the order of time; places of equations within a segment have zeros. Rows side by side with the same segments
are a group, such as the torques of one node. Segments, vectors, and the envelope's rows behind their diagonals are
padded to whole registers: with zeros, limits with ones that hold. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double V __attribute__((vector_size(8 * LANES), aligned(8), may_alias)); /* at any address */
typedef int64_t M __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#define AT(x, k) (*(V *)((x) + (k)))
#define READ(x, k) (*(const V *)((x) + (k)))

enum { SOLVED, TOO_MANY, INDEFINITE, NOT_FINITE, LATE, NO_NUMBERS };
#define REGULAR 1e-10      /* r, and what every variable's diagonal is raised by */
#define TINY 1e-12         /* pivot that counts as zero */
#define TO_THE_LIMIT 0.995 /* longest step, as a fraction of that to the nearest limit */
#define LATE_GAP 1e-2      /* residual of a quadratic program up to which its d is used at the deadline */
#define ENOUGH 1e-4        /* residual and sum of products that will do at the last iteration */
#define RAISE 1e-3         /* of the diagonal of a Hessian that is not convex, at first */
#define MOST 1e6           /* at last */
#define LOOSER 100         /* tolerance of residuals, relative to that of the products */
#define HAND 128           /* most limits at hand */
#define EXACT 1e-9         /* excess of a limit, in natural sizes, that is none */
#define SOFT 1e9           /* inverse pivot of a program that its limits have to hold */
#define ROUNDED 1e-12      /* share of w that is no multiplier */
#define TAKEN 64           /* most limits that are taken to hand at a time */
#define FIRST 32           /* most if none were at hand: many more would follow */
#define STIFF 1e2          /* weight of squares of limits that hold, where they make a program convex */
#define TRIES 12           /* most steps to find these limits */
#define WORK 3e7           /* of changes of limits at hand, cubes of how many hold, before the primal-dual method */
#define SHARE 0.2          /* of the best limit to let hold, from which on others come with it */
#define FEW 1e5            /* that of a change where few hold */
#define LENGTH 0.1         /* by which a measured quaternion may differ from length one */
#define GROUP 16           /* most rows of a group */
#define SPARE 512          /* longest segment */

/* The program, in natural sizes: constants of a controller. Entries of CasADi's matrices are in its order. */
struct program {
    int32_t size;                  /* N: unknowns of the linear system */
    int32_t variables;             /* n: free variables */
    int32_t rows, equations;       /* m; those of them that are equations */
    int32_t groups;                /* of the rows that have limits */
    int32_t limits;                /* whole registers of them */
    int32_t jacobian, hessian;     /* nonzeros of CasADi's matrices */
    int32_t starts;                /* equations of the start, the last ones of `equation` */
    int32_t envelope, values;      /* numbers in the envelope and in all segments */
    int32_t unknowns, parameters;  /* entries of x and of p */
    int32_t measured;              /* first entry in p of the measured state, which goes on to the end */
    int32_t torques, curves;       /* rows of torques; tables of control points */
    const int32_t *variable;       /* (n) entry of x */
    const int32_t *place;          /* (n) in the linear system */
    const double *size_x;          /* (N) natural sizes of variables by place, zeros of equations */
    const double *size_g;          /* (m) natural sizes of rows */
    const int32_t *group;          /* (groups + 1) first row of every group, by number among the limited rows */
    const int32_t *limited;        /* rows that have limits, group after group */
    const int32_t *segment;        /* (m + 1) first segment of every row */
    const int32_t *segment_first;  /* place */
    const int32_t *segment_length; /* padded */
    const int32_t *segment_value;  /* first value */
    const int32_t *jacobian_to;    /* (jacobian) value of a segment, -1 of a fixed variable */
    const int32_t *hessian_to;     /* (hessian) entry of the envelope, -1 of a fixed variable */
    const int32_t *equation;       /* (equations) row */
    const int32_t *equation_place; /* (equations) */
    const int32_t *first;          /* (N) first column of every row of the envelope */
    const int32_t *row_start;      /* (N) entry (i, j) of the envelope is at row_start[i] + j */
    const int32_t *limit_of;       /* (limits) row; or m and the place of a variable */
    const int32_t *limit_after;    /* that of the same kind at the next time, or -1 */
    const double *limit_sign;      /* 1 of an upper limit, -1 of a lower one, 0 of padding */
    const double *limit;           /* in natural sizes */
    const double *weight;
    const int32_t *torque;         /* (torques) row */
    const double *least, *most;    /* (torques) limits of the actuators */
    const double *low, *high;      /* (unknowns) */
    const int32_t *points, *width; /* (curves) control points of a curve, and their size */
    const int32_t *point;          /* their entries of x, point after point, curve after curve */
    const double *shift;           /* of every curve the map from its points to those a tick later, by rows */
    const double *rest;            /* (unknowns) a plan that stays, but for the points of the first table, positions */
    double cost;                   /* scale of the cost */
};

/* The memory of a controller: what functions read and write; the linear system; limits; rows and places, (m + N). */
struct memory {
    double *x, *trial, *p, *f, *gradient, *g, *jacobian, *hessian, *lam_f, *lam_g;
    double *value, *base, *K, *inverse, *slope, *d, *centre, *scaled, *rhs, *step, *gap;
    double *t, *z, *s, *b, *residual, *rt, *rs, *dt, *dz, *ds, *by, *side;
    double *item, *x_before, *lam_before, *p_before, *tau, *gains;
    double *column, *schur, *cholesky; /* of the limits at hand: inv(L) C'; S; factors of S of those that hold */
    double *dual, *beyond, *small, *next; /* of the limits at hand: multipliers, C d0 - b; work */
    int32_t *hand, *kind, *place; /* their numbers and kinds; which of them hold */
    int32_t *count; /* of the limits at hand; of those that hold, or -1 after the primal-dual method */
};

struct result {
    int32_t status, iterations, steps;
    int32_t raised, many; /* factors that were not convex; quadratic programs with all limits */
    double mu, residual, excess, gap, change, cost, work, seconds, processor; /* s, by the clock and of this thread */
};

typedef void evaluator(void *buffer);
struct functions {
    evaluator *evaluate;
    void *all, *values; /* buffers: cost, gradient, rows, Jacobian and Hessian; cost and rows at `trial` */
};

/* How a plan and its multipliers a tick later follow from those of now. */
struct move {
    int32_t maps, runs;
    const int32_t *size;  /* (maps, 3) points of a curve later and now, and the size of a point */
    const int32_t *point; /* of every map entries of x later, then now, point after point */
    const double *map;    /* from points now to those later, by rows */
    const int32_t *run;   /* (runs, 4) first row later, the first ones of two runs of rows now, and their length */
    const double *share;  /* (runs, 2) of either run now */
};

/* A program, its first plan, and of a schedule of phases the one that the horizon begins with. */
struct horizon {
    const struct program *program; /* whose `rest` is the x of the first plan */
    struct memory *memory;
    const struct functions *functions;
    const double *target;     /* (equations) in natural sizes */
    const double *p, *lam_g;  /* of the first plan */
    const int32_t *duration;  /* (phases + 1) entries of x: durations, the last one of the phase that comes again */
    const int32_t *turning;   /* (width[0]) whether a position belongs to a quaternion */
    const struct move *moves; /* (ticks) the last one leads to the next phase */
    int32_t ticks;            /* of the phase */
};

/* Phases that are repeated without end. */
struct schedule {
    int32_t phases;
    int32_t elapsed; /* entry of p: the time since the phase began; parameters that all programs share come before it */
    double tick;     /* s */
    double lost;     /* residual of equations of a plan that is given up */
    const struct horizon *horizons;
};

/* The present phase, the ticks since it began, and whether the last plan is given up. */
struct place {
    int32_t phase, gone, lost;
};

struct settings {
    double small;     /* step, in natural sizes, after which no further one is made */
    double barrier;   /* at the start of a quadratic program */
    double tolerance; /* of a quadratic program: the sum of all products that are to vanish */
    double seconds;   /* from now to the deadline */
    double lost;      /* residual of equations of a plan from which no further step is made */
    int32_t steps, iterations;
};

/* Seconds by the clock, and of the processor in this thread. */
#ifdef _WIN32
static double now(void)
{
    LARGE_INTEGER count, rate;
    QueryPerformanceCounter(&count), QueryPerformanceFrequency(&rate);
    return (double)count.QuadPart / (double)rate.QuadPart;
}

static double processor_time(void)
{
    FILETIME begun, ended, kernel, user;
    GetThreadTimes(GetCurrentThread(), &begun, &ended, &kernel, &user);
    return 1e-7 * (4294967296.0 * ((double)kernel.dwHighDateTime + user.dwHighDateTime)
                   + ((double)kernel.dwLowDateTime + user.dwLowDateTime));
}
#else
static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return read_clock(CLOCK_MONOTONIC); }

static double processor_time(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
#endif

/* Linear algebra -------------------------------------------------------------------------------------------------- */

static inline double total(V v)
{
    double sum = 0;
    for (int l = 0; l < LANES; l++) sum += v[l];
    return sum;
}

static inline V larger(V x, V y) { M m = (M)(x > y); return (V)((m & (M)x) | (~m & (M)y)); }

static inline double largest(V v)
{
    double most = v[0];
    for (int l = 1; l < LANES; l++) most = v[l] > most ? v[l] : most;
    return most;
}

static inline double dot(const double *x, const double *y, int n)
{
    V a = {0}, b = {0};
    int k = 0;
    for (; k + 2 * LANES <= n; k += 2 * LANES)
        a += READ(x, k) * READ(y, k), b += READ(x, k + LANES) * READ(y, k + LANES);
    for (; k + LANES <= n; k += LANES) a += READ(x, k) * READ(y, k);
    double sum = total(a + b);
    for (; k < n; k++) sum += x[k] * y[k];
    return sum;
}

static inline void add(double *y, double by, const double *x, int n)
{
    int k = 0;
    for (; k + LANES <= n; k += LANES) AT(y, k) += by * READ(x, k);
    for (; k < n; k++) y[k] += by * x[k];
}

/* L D L' of K in place, row by row: y = D L of a row by dot products with the rows above. Returns whether as many pivots
are negative as there are equations: then, by Sylvester's law, the quadratic program is convex where its equations hold.
A pivot next to zero counts as wrong. */
static int factorise(const struct program *p, double *K, double *inverse)
{
    int negative = 0, wrong = 0;
    for (int i = 0; i < p->size; i++) {
        int low = p->first[i];
        double *y = K + p->row_start[i];
        for (int j = low; j < i; j++) {
            int from = p->first[j] > low ? p->first[j] : low;
            if (from < j) y[j] -= dot(y + from, K + p->row_start[j] + from, j - from);
        }
        double pivot = y[i];
        for (int j = low; j < i; j++) {
            double l = y[j] * inverse[j];
            pivot -= l * y[j], y[j] = l;
        }
        if (!(fabs(pivot) > TINY)) wrong = 1, pivot = 1;
        negative += pivot < 0;
        inverse[i] = 1 / pivot;
    }
    return !wrong && negative == p->equations;
}

/* x becomes inv(L) x; it is zero before `from`. */
static void substitute_forward(const struct program *p, const double *K, double *x, int from)
{
    for (int i = from + 1; i < p->size; i++) {
        int low = p->first[i] > from ? p->first[i] : from;
        if (low < i) x[i] -= dot(K + p->row_start[i] + low, x + low, i - low);
    }
}

/* x becomes inv(D L') x. */
static void substitute_back(const struct program *p, const double *K, const double *inverse, double *x)
{
    for (int i = 0; i < p->size; i++) x[i] *= inverse[i];
    for (int i = p->size - 1; i >= 0; i--) {
        int low = p->first[i];
        add(x + low, -x[i], K + p->row_start[i] + low, i - low);
    }
}

static void substitute(const struct program *p, const double *K, const double *inverse, double *x)
{
    substitute_forward(p, K, x, 0);
    substitute_back(p, K, inverse, x);
}

/* y = base x, of the symmetric matrix in the envelope. */
static void times_base(const struct program *p, const double *base, const double *x, double *y)
{
    memset(y, 0, p->size * sizeof(double));
    for (int i = 0; i < p->size; i++) {
        int low = p->first[i];
        const double *row = base + p->row_start[i];
        y[i] += dot(row + low, x + low, i - low) + row[i] * x[i];
        add(y + low, x[i], row + low, i - low);
    }
}

static double row_times(const struct program *p, const double *value, int row, const double *d)
{
    V sum = {0};
    for (int k = p->segment[row]; k < p->segment[row + 1]; k++) {
        const double *c = value + p->segment_value[k], *at = d + p->segment_first[k];
        for (int j = 0; j < p->segment_length[k]; j += LANES) sum += READ(c, j) * READ(at, j);
    }
    return total(sum);
}

static void add_row(const struct program *p, const double *value, int row, double by, double *d)
{
    for (int k = p->segment[row]; k < p->segment[row + 1]; k++) {
        const double *c = value + p->segment_value[k];
        double *at = d + p->segment_first[k];
        for (int j = 0; j < p->segment_length[k]; j += LANES) AT(at, j) += by * READ(c, j);
    }
}

/* Rows i to i + 3 of K += the sum of factor c over the rows c of a group, whose columns are a segment. */
static inline void add_four(double *const to[4], double factor[4][GROUP], const double *const *c, int count, int length)
{
    for (int j = 0; j < length; j += LANES) {
        V v0 = AT(to[0], j), v1 = AT(to[1], j), v2 = AT(to[2], j), v3 = AT(to[3], j);
        for (int r = 0; r < count; r++) {
            V x = READ(c[r], j);
            v0 += factor[0][r] * x, v1 += factor[1][r] * x, v2 += factor[2][r] * x, v3 += factor[3][r] * x;
        }
        AT(to[0], j) = v0, AT(to[1], j) = v1, AT(to[2], j) = v2, AT(to[3], j) = v3;
    }
}

/* K += the sum of by c c' over the rows c of a group. What is written behind the diagonal is padding. */
static void add_squares(const struct program *p, const double *value, const int32_t *rows, int count, const double *by,
                        double *K)
{
    int32_t first = p->segment[rows[0]], end = p->segment[rows[0] + 1], start = p->segment_value[first];
    double factor[4][GROUP], spare[SPARE], *to[4];
    const double *c[GROUP];
    for (int a = first; a < end; a++)
        for (int i = 0; i < p->segment_length[a] && p->segment_first[a] + i < p->size; i += 4) {
            double size = 0;
            for (int r = 0; r < count; r++) {
                const double *row = value + p->segment_value[p->segment[rows[r]]] + p->segment_value[a] - start + i;
                for (int q = 0; q < 4; q++) factor[q][r] = by[rows[r]] * row[q], size += fabs(row[q]);
            }
            for (int b = first; b <= a && size > 0; b++) {
                int length = b < a ? p->segment_length[b] : i + 4;
                for (int q = 0; q < 4; q++) {
                    int place = p->segment_first[a] + i + q;
                    to[q] = place < p->size ? K + p->row_start[place] + p->segment_first[b] : spare;
                }
                for (int r = 0; r < count; r++)
                    c[r] = value + p->segment_value[p->segment[rows[r]]] + p->segment_value[b] - start;
                add_four(to, factor, c, count, length);
            }
        }
}

/* Functions ------------------------------------------------------------------------------------------------------- */

static int all_finite(const double *x, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += x[k] * 0;
    return sum == 0;
}

/* Values, the Jacobian as segments, and the matrix of H and A. 0 if something is not finite. */
static int linearise(const struct program *p, struct memory *m, const struct functions *f)
{
    f->evaluate(f->all);
    if (!all_finite(m->f, 1) || !all_finite(m->g, p->rows) || !all_finite(m->gradient, p->variables)
        || !all_finite(m->jacobian, p->jacobian) || !all_finite(m->hessian, p->hessian))
        return 0;
    for (int k = 0; k < p->jacobian; k++)
        if (p->jacobian_to[k] >= 0) m->value[p->jacobian_to[k]] = m->jacobian[k];
    for (int row = 0; row < p->rows; row++)
        for (int k = p->segment[row]; k < p->segment[row + 1]; k++) {
            double *c = m->value + p->segment_value[k], by = 1 / p->size_g[row];
            const double *size = p->size_x + p->segment_first[k];
            for (int j = 0; j < p->segment_length[k]; j += LANES) AT(c, j) *= by * READ(size, j);
        }
    memset(m->base, 0, p->envelope * sizeof(double));
    for (int k = 0; k < p->hessian; k++)
        if (p->hessian_to[k] >= 0) m->base[p->hessian_to[k]] = m->hessian[k];
    for (int i = 0; i < p->size; i++) {
        double *row = m->base + p->row_start[i], by = p->size_x[i] / p->cost;
        for (int j = p->first[i]; j <= i; j += LANES) AT(row, j) *= by * READ(p->size_x, j);
    }
    memset(m->slope, 0, p->size * sizeof(double));
    for (int k = 0; k < p->variables; k++) {
        int i = p->place[k];
        m->base[p->row_start[i] + i] += REGULAR;
        m->slope[i] = m->gradient[p->variable[k]] * p->size_x[i] / p->cost;
    }
    for (int e = 0; e < p->equations; e++) {
        int row = p->equation[e], i = p->equation_place[e];
        m->base[p->row_start[i] + i] = -REGULAR;
        for (int k = p->segment[row]; k < p->segment[row + 1]; k++)
            for (int j = 0; j < p->segment_length[k]; j++) {
                int at = p->segment_first[k] + j;
                double v = m->value[p->segment_value[k] + j];
                if (v != 0) m->base[at < i ? p->row_start[i] + at : p->row_start[at] + i] = v;
            }
    }
    return 1;
}

/* The quadratic program ------------------------------------------------------------------------------------------- */

/* Of every limit its row times d, with its sign. */
static void limits_times(const struct program *p, struct memory *m, const double *d, double *v)
{
    for (int k = 0; k < p->group[p->groups]; k++)
        m->item[p->limited[k]] = row_times(p, m->value, p->limited[k], d);
    memcpy(m->item + p->rows, d, p->size * sizeof(double));
    for (int k = 0; k < p->limits; k++) v[k] = p->limit_sign[k] * m->item[p->limit_of[k]];
}

/* The sum of limits' v, with their signs or squared signs, by row and place, to m->item. */
static void collect(const struct program *p, struct memory *m, const double *v, int squared)
{
    memset(m->item, 0, (p->rows + p->size) * sizeof(double));
    for (int k = 0; k < p->limits; k++) {
        double sign = squared ? p->limit_sign[k] * p->limit_sign[k] : p->limit_sign[k];
        m->item[p->limit_of[k]] += sign * v[k];
    }
}

/* y += the limits' rows, transposed, times v. */
static void add_limits(const struct program *p, struct memory *m, const double *v, double *y)
{
    collect(p, m, v, 0);
    for (int k = 0; k < p->group[p->groups]; k++)
        if (m->item[p->limited[k]] != 0) add_row(p, m->value, p->limited[k], m->item[p->limited[k]], y);
    for (int i = 0; i < p->size; i++) y[i] += m->item[p->rows + i];
}

static void raise_diagonal(const struct program *p, double *K, double by)
{
    for (int k = 0; k < p->variables; k++) K[p->row_start[p->place[k]] + p->place[k]] += by;
}

/* Factors of base + the sum of by c c' over all limits. Returns whether the program is convex with these squares. */
static int factorise_with_squares(const struct program *p, struct memory *m)
{
    collect(p, m, m->by, 1);
    memcpy(m->K, m->base, p->envelope * sizeof(double));
    for (int i = 0; i < p->size; i++) m->K[p->row_start[i] + i] += m->item[p->rows + i];
    for (int k = 0; k < p->groups; k++) {
        const int32_t *rows = p->limited + p->group[k];
        int count = p->group[k + 1] - p->group[k], used = 0;
        for (int i = 0; i < count; i++) used += m->item[rows[i]] != 0;
        if (used) add_squares(p, m->value, rows, count, m->item, m->K);
    }
    return factorise(p, m->K, m->inverse);
}

/* Factors of the linear system at the limits' present multipliers; the quadratic program is made convex
by raising the diagonal of its Hessian. */
static int eliminate(const struct program *p, struct memory *m, struct result *r)
{
    for (int k = 0; k < p->limits; k += LANES) {
        V t = AT(m->t, k), z = AT(m->z, k), s = AT(m->s, k), rest = READ(p->weight, k) - z;
        AT(m->by, k) = z * rest / (t * rest + s * z);
    }
    for (double raise = RAISE; raise < MOST; raise *= 10, r->raised++) {
        if (factorise_with_squares(p, m)) return 1;
        raise_diagonal(p, m->base, raise);
    }
    return 0;
}

/* The Newton step for t dz + z dt = rt and s d(w - z) + (w - z) ds = rs. m->rhs is minus the gradient of the Lagrangian,
and minus the residuals of equations. */
static void newton(const struct program *p, struct memory *m)
{
    for (int k = 0; k < p->limits; k += LANES) {
        V z = AT(m->z, k), rest = READ(p->weight, k) - z;
        AT(m->side, k) = AT(m->by, k) * (AT(m->rt, k) / z - AT(m->rs, k) / rest - AT(m->residual, k));
        AT(m->dz, k) = -AT(m->side, k);
    }
    memcpy(m->step, m->rhs, p->size * sizeof(double));
    add_limits(p, m, m->dz, m->step);
    substitute(p, m->K, m->inverse, m->step);
    limits_times(p, m, m->step, m->dz);
    for (int k = 0; k < p->limits; k += LANES) {
        V z = AT(m->z, k), rest = READ(p->weight, k) - z;
        V dz = AT(m->dz, k) = AT(m->by, k) * AT(m->dz, k) + AT(m->side, k);
        AT(m->dt, k) = (AT(m->rt, k) - AT(m->t, k) * dz) / z;
        AT(m->ds, k) = (AT(m->rs, k) + AT(m->s, k) * dz) / rest;
    }
}

/* The longest step up to 1 that keeps t, s, z and w - z positive. */
static double longest(const struct program *p, const struct memory *m)
{
    V most = {0};
    for (int k = 0; k < p->limits; k += LANES) {
        V z = AT(m->z, k), dz = AT(m->dz, k);
        most = larger(-AT(m->dt, k) / AT(m->t, k), most);
        most = larger(-AT(m->ds, k) / AT(m->s, k), most);
        most = larger(-dz / z, most);
        most = larger(dz / (READ(p->weight, k) - z), most);
    }
    double step = TO_THE_LIMIT / largest(most);
    return step < 1 ? step : 1;
}

/* The sum of all products that are to vanish, after a step. */
static double products(const struct program *p, const struct memory *m, double step)
{
    V sum = {0};
    for (int k = 0; k < p->limits; k += LANES) {
        V z = AT(m->z, k) + step * AT(m->dz, k);
        sum += (AT(m->t, k) + step * AT(m->dt, k)) * z;
        sum += (AT(m->s, k) + step * AT(m->ds, k)) * (READ(p->weight, k) - z);
    }
    return total(sum);
}

/* A start with all products equal to the barrier at d = 0. */
static void begin(const struct program *p, struct memory *m, double barrier)
{
    memset(m->d, 0, p->size * sizeof(double));
    for (int k = 0; k < p->limits; k++) {
        double w = p->weight[k], t = fmax(m->b[k], sqrt(barrier)), z = fmin(barrier / t, 0.5 * w);
        m->t[k] = t, m->z[k] = z, m->s[k] = barrier / (w - z);
    }
}

/* Minus the gradient of the Lagrangian and the residuals of equations at d, to m->rhs; the largest one. */
static double gradients(const struct program *p, struct memory *m)
{
    times_base(p, m->base, m->d, m->rhs);
    for (int i = 0; i < p->size; i++) m->rhs[i] = -m->rhs[i] - m->slope[i];
    for (int e = 0; e < p->equations; e++) m->rhs[p->equation_place[e]] -= m->gap[e];
    for (int k = 0; k < p->limits; k++) m->side[k] = -m->z[k];
    add_limits(p, m, m->side, m->rhs);
    double most = 0;
    for (int i = 0; i < p->size; i++) most = fmax(most, fabs(m->rhs[i]));
    return most;
}

/* The residuals at d; the largest one. */
static double residuals(const struct program *p, struct memory *m)
{
    double most = gradients(p, m);
    limits_times(p, m, m->d, m->residual);
    V v = {0};
    for (int k = 0; k < p->limits; k += LANES) {
        V off = AT(m->residual, k) = AT(m->b, k) + AT(m->s, k) - AT(m->residual, k) - AT(m->t, k);
        v = larger(larger(off, -off), v);
    }
    return fmax(most, largest(v));
}

/* Solve the quadratic program with all limits. */
static int solve(const struct program *p, struct memory *m, const struct settings *s, double deadline,
                 struct result *r)
{
    begin(p, m, s->barrier);
    for (int it = 0;; it++) {
        r->residual = residuals(p, m);
        memset(m->dz, 0, p->limits * sizeof(double));
        double sum = products(p, m, 0), count = fmax(2 * p->limits, 1);
        r->mu = sum / count;
        if (!(r->residual < 1e100) || !(sum < 1e100)) return NOT_FINITE;
        if (r->residual < LOOSER * s->tolerance && sum < s->tolerance) return SOLVED;
        if (it >= s->iterations) return r->residual < ENOUGH && sum < ENOUGH ? SOLVED : TOO_MANY;
        if (now() > deadline) return LATE;
        r->iterations++;
        if (!eliminate(p, m, r)) return INDEFINITE;
        for (int k = 0; k < p->limits; k += LANES) {
            AT(m->rt, k) = -AT(m->t, k) * AT(m->z, k);
            AT(m->rs, k) = -AT(m->s, k) * (READ(p->weight, k) - AT(m->z, k));
        }
        newton(p, m);
        double ratio = products(p, m, longest(p, m)) / sum, target = r->mu * ratio * ratio * ratio;
        target = fmax(target, 0.1 * s->tolerance / count);
        for (int k = 0; k < p->limits; k += LANES) {
            AT(m->rt, k) += target - AT(m->dt, k) * AT(m->dz, k);
            AT(m->rs, k) += target + AT(m->ds, k) * AT(m->dz, k);
        }
        newton(p, m);
        double step = longest(p, m);
        add(m->d, step, m->step, p->size);
        for (int k = 0; k < p->limits; k += LANES) {
            AT(m->t, k) += step * AT(m->dt, k);
            AT(m->z, k) += step * AT(m->dz, k);
            AT(m->s, k) += step * AT(m->ds, k);
        }
    }
}

/* Few limits at hand ---------------------------------------------------------------------------------------------- */

/* With d = d0 - inv(K) C'z the program is one in the multipliers z of few limits, minimise z'S z/2 - (C d0 - b)'z for
0 <= z <= w, with S = C inv(K) C'. A limit is met (z = 0), holds (C d = b), or is exceeded (z = w): an active-set method
for bounds (Lawson and Hanson 1974, chapter 23). Limits that d exceeds are taken to hand until there are none. */
enum { MEETS, HOLDS, EXCEEDS };

static double limit_times(const struct program *p, const struct memory *m, int k, const double *d)
{
    int of = p->limit_of[k];
    return p->limit_sign[k] * (of < p->rows ? row_times(p, m->value, of, d) : d[of - p->rows]);
}

/* One more limit at hand. */
static void take(const struct program *p, struct memory *m, int limit, int kind, double dual)
{
    int n = m->count[0]++, of = p->limit_of[limit], width = p->size + LANES, from = 0;
    double *column = m->column + (size_t)n * width, *scaled = m->scaled;
    memset(column, 0, width * sizeof(double));
    if (of < p->rows) add_row(p, m->value, of, p->limit_sign[limit], column);
    else column[of - p->rows] = p->limit_sign[limit];
    while (from < p->size && column[from] == 0) from++;
    substitute_forward(p, m->K, column, from);
    for (int i = from; i < p->size; i++) scaled[i] = m->inverse[i] * column[i];
    m->hand[n] = limit, m->kind[n] = kind, m->dual[n] = dual;
    for (int j = 0; j <= n; j++)
        m->schur[j * HAND + n] = m->schur[n * HAND + j]
            = dot(m->column + (size_t)j * width + from, scaled + from, p->size - from);
}

/* d -= inv(K) C'z of a limit's multiplier for every one at hand. */
static void subtract_columns(const struct program *p, struct memory *m, const double *z, double *d)
{
    double *sum = m->scaled;
    memset(sum, 0, p->size * sizeof(double));
    for (int i = 0; i < m->count[0]; i++)
        if (z[i] != 0) add(sum, z[i], m->column + (size_t)i * (p->size + LANES), p->size);
    substitute_back(p, m->K, m->inverse, sum);
    add(d, -1, sum, p->size);
}

/* v of the limits that hold becomes inv(S) v. */
static void solve_small(const struct memory *m, double *v)
{
    int n = m->count[1];
    for (int i = 0; i < n; i++) {
        const double *row = m->cholesky + i * HAND;
        v[i] = (v[i] - dot(row, v, i)) / row[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = m->cholesky + i * HAND;
        v[i] /= row[i];
        add(v, -v[i], row, i);
    }
}

/* Factors of S of the limits that hold: in the order of the last ones, whose rows stay up to the first that is gone, then
others. Adds to the work. */
static int factorise_small(struct memory *m, struct result *r)
{
    int n = 0, same = 0, known[HAND] = {0};
    for (int i = 0; i < m->count[1]; i++) {
        int at = m->place[i];
        if (m->kind[at] != HOLDS) continue;
        same += n == i, known[at] = 1, m->place[n++] = at;
    }
    for (int i = 0; i < m->count[0]; i++)
        if (m->kind[i] == HOLDS && !known[i]) m->place[n++] = i;
    m->count[1] = n;
    r->work += FEW + (double)n * n * n - (double)same * same * same;
    for (int i = same; i < n; i++) {
        double *row = m->cholesky + i * HAND;
        for (int j = 0; j <= i; j++) {
            const double *other = m->cholesky + j * HAND;
            double v = m->schur[m->place[i] * HAND + m->place[j]] - dot(row, other, j);
            if (j < i) row[j] = v / other[j];
            else {
                double size = m->schur[m->place[i] * HAND + m->place[i]];
                if (!(size > 0)) return 0;
                row[i] = sqrt(fmax(v, 0) + REGULAR * size);
            }
        }
    }
    return 1;
}

/* The cost of the multipliers z at hand. */
static double cost_at_hand(const struct memory *m, const double *z)
{
    int n = m->count[0];
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (z[i] != 0) sum += z[i] * (0.5 * dot(m->schur + i * HAND, z, n) - m->beyond[i]);
    return sum;
}

/* Moves the multipliers of limits that hold to their optimum, and those that are then outside of 0 to w to their ends;
if that costs more than before, all of them as far as the first one's end. Returns whether all were inside; `moved` is
the length of the step. */
static int move_multipliers(const struct program *p, struct memory *m, double *moved)
{
    int n = m->count[0], held = m->count[1];
    double length = 1;
    for (int i = 0; i < n; i++) m->small[i] = m->kind[i] == EXCEEDS ? m->dual[i] : 0;
    for (int i = 0; i < held; i++)
        m->next[i] = m->beyond[m->place[i]] - dot(m->schur + m->place[i] * HAND, m->small, n);
    solve_small(m, m->next);
    for (int i = 0; i < held; i++) {
        double z = m->dual[m->place[i]], w = p->weight[m->hand[m->place[i]]], next = m->next[i];
        length = next < 0 ? fmin(length, z / (z - next)) : next > w ? fmin(length, (w - z) / (next - z)) : length;
        m->small[m->place[i]] = fmin(fmax(next, 0), w);
    }
    int inside = length == 1;
    if (!inside && cost_at_hand(m, m->small) < cost_at_hand(m, m->dual)) length = 1;
    for (int i = 0; i < held; i++) {
        int at = m->place[i];
        double w = p->weight[m->hand[at]], z = m->dual[at] + length * (m->next[i] - m->dual[at]);
        if (!inside) m->kind[at] = z <= ROUNDED * w ? MEETS : z >= (1 - ROUNDED) * w ? EXCEEDS : HOLDS;
        m->dual[at] = m->kind[at] == MEETS ? 0 : m->kind[at] == EXCEEDS ? w : z;
    }
    *moved = length;
    return inside;
}

/* Lets limits hold whose multipliers are at the wrong end: those that lower the cost by at least a share of what the
best one does. Returns how many. */
static int let_hold(struct memory *m, double share)
{
    int n = m->count[0], count = 0;
    double best = 0;
    for (int i = 0; i < n; i++) {
        double by = m->beyond[i] - dot(m->schur + i * HAND, m->dual, n), wrong = m->kind[i] == MEETS ? by : -by;
        m->next[i] = m->kind[i] != HOLDS && wrong > EXACT ? wrong * wrong / m->schur[i * HAND + i] : 0;
        best = fmax(best, m->next[i]);
    }
    for (int i = 0; i < n && best > 0; i++)
        if (m->next[i] >= share * best) m->kind[i] = HOLDS, count++;
    return count;
}

/* The multipliers of all limits at hand. */
static int settle(const struct program *p, struct memory *m, struct result *r)
{
    double share = SHARE;
    while (r->work < WORK) {
        if (!factorise_small(m, r)) return 0;
        double length = 1;
        int inside = move_multipliers(p, m, &length);
        if (inside && !let_hold(m, share)) return 1;
        if (!inside) share = length > 0 ? SHARE : 1;
    }
    return 0;
}

/* d of the multipliers at hand; m->step is d0. */
static void move_at_hand(const struct program *p, struct memory *m)
{
    memcpy(m->d, m->step, p->size * sizeof(double));
    memset(m->z, 0, p->limits * sizeof(double));
    for (int i = 0; i < m->count[0]; i++) m->z[m->hand[i]] = m->dual[i];
    subtract_columns(p, m, m->dual, m->d);
}

/* Takes limits to hand that d exceeds more than at the times before and after; their number, or -1 if they are too
many. */
static int take_exceeded(const struct program *p, struct memory *m, struct result *r)
{
    int taken = 0, room = m->count[0] ? TAKEN : FIRST;
    double *by = m->side, *most = m->residual;
    limits_times(p, m, m->d, by);
    for (int k = 0; k < p->limits; k += LANES) AT(by, k) -= AT(m->b, k);
    for (int i = 0; i < m->count[0]; i++) by[m->hand[i]] = -INFINITY;
    memcpy(most, by, p->limits * sizeof(double));
    for (int k = 0; k < p->limits; k++) {
        int after = p->limit_after[k];
        if (after >= 0) most[by[k] < by[after] ? k : after] = -INFINITY;
    }
    r->residual = 0;
    for (int k = 0; k < p->limits; k++) taken += most[k] > EXACT, r->residual = fmax(r->residual, most[k]);
    if (taken > room || taken > HAND - m->count[0]) return -1;
    for (int k = 0; k < p->limits; k++)
        if (most[k] > EXACT) take(p, m, k, MEETS, 0);
    return taken;
}

/* Solve the program of the factors of K, from the limits at hand. It has the squares of limits in m->by, and at a price
that of the distance from m->centre. -1 if too many limits hold, or if it is not convex without them. */
static int minimise_at_hand(const struct program *p, struct memory *m, double price, double deadline, struct result *r)
{
    int before = m->count[0], taken = 0;
    r->residual = INFINITY;
    m->count[0] = m->count[1] = 0;
    for (int i = 0; i < p->size; i++)
        if (m->inverse[i] > SOFT) return -1;
    memset(m->d, 0, p->size * sizeof(double)), memset(m->z, 0, p->limits * sizeof(double));
    gradients(p, m);
    for (int k = 0; k < p->limits; k++) m->side[k] = m->by[k] * m->b[k];
    add_limits(p, m, m->side, m->rhs);
    for (int k = 0; k < p->variables; k++) m->rhs[p->place[k]] += price * m->centre[p->place[k]];
    memcpy(m->step, m->rhs, p->size * sizeof(double));
    substitute(p, m->K, m->inverse, m->step);
    for (int i = 0; i < before; i++)
        if (m->kind[i] != MEETS) take(p, m, m->hand[i], m->kind[i], m->dual[i]);
    do {
        if (now() > deadline) return LATE;
        for (int i = 0; i < m->count[0]; i++)
            m->beyond[i] = limit_times(p, m, m->hand[i], m->step) - m->b[m->hand[i]];
        if (!settle(p, m, r)) return -1;
        move_at_hand(p, m);
        r->iterations++;
        taken = take_exceeded(p, m, r);
    } while (taken > 0);
    return taken < 0 ? -1 : SOLVED;
}

/* Brings the residuals of the program of `base` down to the tolerance; -1 if d is not its solution. */
static int refine(const struct program *p, struct memory *m, const struct settings *s, struct result *r)
{
    for (int k = 0; k < 3; k++) {
        r->residual = gradients(p, m);
        if (r->residual < LOOSER * s->tolerance) return SOLVED;
        substitute(p, m->K, m->inverse, m->rhs);
        add(m->d, 1, m->rhs, p->size);
    }
    return -1;
}

static void square_held(const struct program *p, struct memory *m)
{
    memset(m->by, 0, p->limits * sizeof(double));
    for (int i = 0; i < m->count[0]; i++)
        if (m->kind[i] == HOLDS) m->by[m->hand[i]] = STIFF;
}

/* Whether all limits whose squares are in K hold. */
static int all_hold(const struct program *p, const struct memory *m)
{
    int released = 0;
    for (int k = 0; k < p->limits; k++) released += m->by[k] != 0;
    for (int i = 0; i < m->count[0]; i++) released -= m->by[m->hand[i]] != 0 && m->kind[i] == HOLDS;
    return !released;
}

/* The price of a square of the distance from `centre` that makes the program convex; factors with it. */
static int factorise_with_price(const struct program *p, struct memory *m, double *price)
{
    for (; *price < MOST; *price *= 10) {
        memcpy(m->K, m->base, p->envelope * sizeof(double));
        raise_diagonal(p, m->K, *price);
        if (factorise(p, m->K, m->inverse)) return 1;
    }
    return 0;
}

/* Solve a program that is not convex without its limits. With squares of the excess of those that hold at its minimum it
is convex, and has the same minimum. They are found by proximal steps: minima with a price of the distance from the last
one. If there are none, the price of the distance from d = 0 stays. */
static int convexify(const struct program *p, struct memory *m, const struct settings *s, double deadline,
                     struct result *r)
{
    double price = RAISE, further = 0;
    int status = SOLVED, tries = 0;
    for (int squares = 0; tries < TRIES; tries++) {
        if (squares) square_held(p, m), squares = factorise_with_squares(p, m);
        if (!squares) {
            memset(m->by, 0, p->limits * sizeof(double));
            if (!factorise_with_price(p, m, &price)) return -1;
        }
        status = minimise_at_hand(p, m, squares ? 0 : price, deadline, r);
        if (status != SOLVED) return status;
        if (squares && all_hold(p, m)) return refine(p, m, s, r);
        if (!squares && m->count[1] == 0) break;
        further = squares ? 0 : fmin(2 * further + (tries > 0), 3);
        for (int i = 0; i < p->size; i++) m->centre[i] = m->d[i] + further * (m->d[i] - m->centre[i]);
        squares = 1;
    }
    raise_diagonal(p, m->base, price), r->raised++;
    if (tries > 0) { /* else d is that minimum */
        memset(m->by, 0, p->limits * sizeof(double));
        factorise_with_squares(p, m);
        status = minimise_at_hand(p, m, 0, deadline, r);
    }
    return status == SOLVED ? refine(p, m, s, r) : status;
}

/* Solve the quadratic program with few of its limits at hand; -1 if many hold. */
static int solve_at_hand(const struct program *p, struct memory *m, const struct settings *s, double deadline,
                         struct result *r)
{
    r->work = 0;
    memset(m->by, 0, p->limits * sizeof(double)), memset(m->centre, 0, p->size * sizeof(double));
    if (!factorise_with_squares(p, m)) return convexify(p, m, s, deadline, r);
    int status = minimise_at_hand(p, m, 0, deadline, r);
    return status == SOLVED ? refine(p, m, s, r) : status;
}

/* The limits that hold or are exceeded at the end of the primal-dual method are at hand next time. */
static void take_active(const struct program *p, struct memory *m)
{
    m->count[0] = 0, m->count[1] = -1;
    for (int k = 0; k < p->limits && m->count[0] < HAND; k++)
        if (p->limit_sign[k] != 0 && m->z[k] > m->t[k]) {
            int i = m->count[0]++;
            m->hand[i] = k, m->dual[i] = m->z[k], m->kind[i] = p->weight[k] - m->z[k] < m->s[k] ? EXCEEDS : HOLDS;
            if (m->kind[i] == EXCEEDS) m->dual[i] = p->weight[k];
        }
}

/* Solve the quadratic program: d and the multipliers of its equations in m->d, those of limits in m->z. */
static int solve_program(const struct program *p, struct memory *m, const struct settings *s, double deadline,
                         struct result *r)
{
    int status = solve_at_hand(p, m, s, deadline, r);
    if (status >= 0) return status;
    r->many++;
    status = solve(p, m, s, deadline, r);
    take_active(p, m);
    return status;
}

/* Steps ----------------------------------------------------------------------------------------------------------- */

/* The distances of x and its rows from their limits, to m->b, and the residuals of equations. Returns the sum of all
residuals and excesses by their weights; the largest ones in `r`. */
static double measure(const struct program *p, struct memory *m, const double *x, const double *target,
                      double of_equations, struct result *r)
{
    double sum = 0;
    r->gap = r->excess = 0;
    for (int k = 0; k < p->group[p->groups]; k++) {
        int row = p->limited[k];
        m->item[row] = m->g[row] / p->size_g[row];
    }
    for (int k = 0; k < p->variables; k++)
        m->item[p->rows + p->place[k]] = x[p->variable[k]] / p->size_x[p->place[k]];
    for (int e = 0; e < p->equations; e++) {
        int row = p->equation[e];
        m->gap[e] = m->g[row] / p->size_g[row] - target[e];
        r->gap = fmax(r->gap, fabs(m->gap[e])), sum += of_equations * fabs(m->gap[e]);
    }
    for (int k = 0; k < p->limits; k++) {
        int of = p->limit_of[k];
        m->b[k] = p->limit_sign[k] * (p->limit[k] - (p->limit_sign[k] != 0 ? m->item[of] : 0)) + (p->limit_sign[k] == 0);
        if (!(m->b[k] >= 0)) r->excess = fmax(r->excess, -m->b[k]), sum -= p->weight[k] * m->b[k]; /* also NaN */
    }
    return sum;
}

/* Multipliers of all rows in CasADi's terms, for the next Hessian. */
static void multipliers(const struct program *p, struct memory *m)
{
    collect(p, m, m->z, 0);
    memset(m->lam_g, 0, p->rows * sizeof(double));
    for (int k = 0; k < p->group[p->groups]; k++) {
        int row = p->limited[k];
        m->lam_g[row] = m->item[row] / p->size_g[row] * p->cost;
    }
    for (int e = 0; e < p->equations; e++) {
        int row = p->equation[e];
        m->lam_g[row] = m->d[p->equation_place[e]] / p->size_g[row] * p->cost;
    }
}

/* The next x along d: the whole step, or a shorter one where that would raise the merit. */
static int advance(const struct program *p, struct memory *m, const struct functions *f, const double *target,
                   struct result *r)
{
    double of_equations = 1, length = 1, merit = 0;
    for (int e = 0; e < p->equations; e++) of_equations = fmax(of_equations, 2 * fabs(m->d[p->equation_place[e]]));
    double before = *m->f / p->cost + measure(p, m, m->x, target, of_equations, r);
    r->change = 0;
    for (int k = 0; k < p->variables; k++) r->change = fmax(r->change, fabs(m->d[p->place[k]]));
    for (int tries = 0; tries < 4; tries++, length *= 0.3) {
        for (int k = 0; k < p->variables; k++) {
            int i = p->variable[k], at = p->place[k];
            m->trial[i] = m->x[i] + length * p->size_x[at] * m->d[at];
        }
        f->evaluate(f->values);
        merit = *m->f / p->cost + measure(p, m, m->trial, target, of_equations, r);
        if (merit <= before + 1e-3 * fabs(before)) break;
    }
    if (!(fabs(merit) < 1e100)) return 0;
    for (int k = 0; k < p->variables; k++) m->x[p->variable[k]] = m->trial[p->variable[k]];
    r->cost = *m->f;
    return 1;
}

/* Steps from x, which they replace; x is always that of the last whole step. */
static void make_steps(const struct program *p, struct memory *m, const struct functions *f, const double *target,
                       const struct settings *s, struct result *r)
{
    double begun = now(), deadline = begun + s->seconds, processor = processor_time();
    memset(r, 0, sizeof *r);
    while (r->steps < s->steps && r->status == SOLVED) {
        r->status = NOT_FINITE;
        if (!linearise(p, m, f)) break;
        measure(p, m, m->x, target, 1, r);
        r->status = solve_program(p, m, s, deadline, r);
        if (r->status == NOT_FINITE || r->status == INDEFINITE || (r->status == LATE && r->residual > LATE_GAP)) break;
        if (!advance(p, m, f, target, r)) {
            r->status = NOT_FINITE;
            break;
        }
        multipliers(p, m);
        r->steps++;
        if (r->change < s->small) break;
        if (now() > deadline && r->steps < s->steps) r->status = LATE;
    }
    r->seconds = now() - begun, r->processor = processor_time() - processor;
}

/* Derivatives of the torques by the measured state: (torques, starts). The limits are those of the end of the last
quadratic program, not of its last factors. */
static void find_gains(const struct program *p, struct memory *m, struct result *r)
{
    memset(m->gains, 0, (size_t)p->torques * p->starts * sizeof(double));
    if (m->count[1] < 0 && !eliminate(p, m, r)) return;
    for (int k = 0; k < p->starts; k++) {
        int at = p->equations - p->starts + k;
        memset(m->step, 0, p->size * sizeof(double));
        m->step[p->equation_place[at]] = 1 / p->size_g[p->equation[at]];
        substitute(p, m->K, m->inverse, m->step);
        if (m->count[1] > 0) {
            for (int i = 0; i < m->count[1]; i++) m->small[i] = limit_times(p, m, m->hand[m->place[i]], m->step);
            solve_small(m, m->small);
            memset(m->next, 0, m->count[0] * sizeof(double));
            for (int i = 0; i < m->count[1]; i++) m->next[m->place[i]] = m->small[i];
            subtract_columns(p, m, m->next, m->step);
        }
        for (int j = 0; j < p->torques; j++)
            m->gains[j * p->starts + k] = row_times(p, m->value, p->torque[j], m->step) * p->size_g[p->torque[j]];
    }
}

/* Ticks ----------------------------------------------------------------------------------------------------------- */

static void clip(const struct program *p, double *x)
{
    for (int k = 0; k < p->unknowns; k++) x[k] = fmin(fmax(x[k], p->low[k]), p->high[k]);
}

/* Points of a curve from other points by a map; returns its end. */
static const double *map_points(const double *map, const double *from, const int32_t *before, int many, double *to,
                                const int32_t *after, int n, int width)
{
    for (int i = 0; i < n; i++, map += many)
        for (int k = 0; k < width; k++) {
            double sum = 0;
            for (int j = 0; j < many; j++) sum += map[j] * from[before[j * width + k]];
            to[after[i * width + k]] = sum;
        }
    return map;
}

/* The plan so many ticks later. */
static void move_on(const struct program *p, struct memory *m, int ticks)
{
    for (; ticks > 0; ticks--) {
        const int32_t *point = p->point;
        const double *shift = p->shift;
        memcpy(m->trial, m->x, p->unknowns * sizeof(double));
        for (int c = 0; c < p->curves; point += p->points[c] * p->width[c], c++)
            shift = map_points(shift, m->trial, point, p->points[c], m->x, point, p->points[c], p->width[c]);
    }
    clip(p, m->x);
    memcpy(m->trial, m->x, p->unknowns * sizeof(double));
}

/* A plan that stays at the measured positions. */
static void stay(const struct program *p, struct memory *m, const double *state)
{
    memcpy(m->x, p->rest, p->unknowns * sizeof(double));
    for (int i = 0; i < p->points[0]; i++)
        for (int k = 0; k < p->width[0]; k++) m->x[p->point[i * p->width[0] + k]] = state[k];
    memset(m->lam_g, 0, p->rows * sizeof(double));
    m->count[0] = 0;
}

static void torques(const struct program *p, struct memory *m)
{
    for (int j = 0; j < p->torques; j++)
        if (fabs(m->g[p->torque[j]]) < 1e100) m->tau[j] = fmin(fmax(m->g[p->torque[j]], p->least[j]), p->most[j]);
}

/* The measured state, to m->p, with quaternions of length one; those that are nearly none are not numbers. */
static void take_state(const struct horizon *h, const double *state)
{
    const struct program *p = h->program;
    double *measured = h->memory->p + p->measured;
    memcpy(measured, state, (p->parameters - p->measured) * sizeof(double));
    for (int k = 0; k < p->width[0]; k++)
        if (h->turning[k]) {
            double *q = measured + k, length = sqrt(dot(q, q, 4));
            for (int i = 0; i < 4; i++) q[i] = fabs(length - 1) <= LENGTH ? q[i] / length : NAN;
            k += 3;
        }
}

static void take_first_plan(const struct horizon *h)
{
    memcpy(h->memory->x, h->program->rest, h->program->unknowns * sizeof(double));
    memcpy(h->memory->lam_g, h->lam_g, h->program->rows * sizeof(double));
}

/* The memory of a horizon before its first tick. */
EXPORT void begin_horizon(const struct horizon *h)
{
    const struct program *p = h->program;
    struct memory *m = h->memory;
    take_first_plan(h);
    memcpy(m->trial, m->x, p->unknowns * sizeof(double));
    memcpy(m->p, h->p, p->parameters * sizeof(double));
    memset(m->tau, 0, p->torques * sizeof(double));
    *m->lam_f = 1, m->count[0] = m->count[1] = 0;
}

/* Moves the plan on by so many ticks, and improves it from a measured state with some parameters (whose entries of the
measured state are not read). Torques and gains are in m->tau and m->gains: those of the last plan, and zeros, if no step
could be made. Returns the status. */
EXPORT int receding_tick(const struct horizon *h, const struct settings *s, int ticks, const double *state,
                         const double *parameters, struct result *r)
{
    const struct program *p = h->program;
    const struct functions *f = h->functions;
    struct memory *m = h->memory;
    memset(r, 0, sizeof *r);
    move_on(p, m, ticks);
    memcpy(m->x_before, m->x, p->unknowns * sizeof(double));
    memcpy(m->lam_before, m->lam_g, p->rows * sizeof(double));
    memcpy(m->p_before, m->p, p->parameters * sizeof(double));
    memcpy(m->p, parameters, p->parameters * sizeof(double));
    take_state(h, state);
    int numbers = all_finite(m->p, p->parameters);
    if (numbers) make_steps(p, m, f, h->target, s, r);
    else r->status = NO_NUMBERS;
    if (r->steps) {
        if (r->status == NOT_FINITE) memcpy(m->trial, m->x, p->unknowns * sizeof(double)), f->evaluate(f->values);
        torques(p, m);
        find_gains(p, m, r);
        if (r->gap > s->lost) stay(p, m, m->p + p->measured);
        return r->status;
    }
    memcpy(m->x, m->x_before, p->unknowns * sizeof(double));
    memcpy(m->trial, m->x_before, p->unknowns * sizeof(double));
    memcpy(m->lam_g, m->lam_before, p->rows * sizeof(double));
    for (int k = 0; k < p->parameters; k++) {
        double last = m->p_before[k];
        m->p_before[k] = m->p[k], m->p[k] = last;
    }
    memset(m->gains, 0, (size_t)p->torques * p->starts * sizeof(double));
    f->evaluate(f->values);
    torques(p, m);
    if (numbers && r->status != LATE) stay(p, m, m->p_before + p->measured);
    return r->status;
}

/* Schedules ------------------------------------------------------------------------------------------------------- */

/* The horizon of a phase has its rest, all other phases, and the phase again as far as it has gone, with one tick more:
every phase has a program, of which only the first and the last duration vary. The program of a phase serves for all of
its ticks. Then that of the next phase takes over the plan; the program after that of the last phase is the first. */

static void set_durations(const struct schedule *s, const struct place *at, double *x)
{
    const int32_t *entry = s->horizons[at->phase].duration;
    for (int i = 0; i <= s->phases; i++) {
        int ticks = i < s->phases ? s->horizons[(at->phase + i) % s->phases].ticks : at->gone + 1;
        x[entry[i]] = s->tick * (i == 0 ? ticks - at->gone : ticks);
    }
}

/* The next plan and its multipliers, which may be in the same memory, but for its durations. */
static void move_plan(const struct move *move, const struct horizon *h, const struct horizon *next)
{
    struct memory *m = h->memory, *later = next->memory;
    const int32_t *point = move->point;
    const double *map = move->map;
    memcpy(m->x_before, m->x, h->program->unknowns * sizeof(double));
    memcpy(m->lam_before, m->lam_g, h->program->rows * sizeof(double));
    for (int c = 0; c < move->maps; c++) {
        int n = move->size[3 * c], many = move->size[3 * c + 1], width = move->size[3 * c + 2];
        map = map_points(map, m->x_before, point + n * width, many, later->x, point, n, width);
        point += (n + many) * width;
    }
    memset(later->lam_g, 0, next->program->rows * sizeof(double));
    for (int k = 0; k < move->runs; k++) {
        const int32_t *run = move->run + 4 * k;
        const double *a = m->lam_before + run[1], *b = m->lam_before + run[2], *share = move->share + 2 * k;
        for (int j = 0; j < run[3]; j++) later->lam_g[run[0] + j] = share[0] * a[j] + share[1] * b[j];
    }
}

/* Goes on to the next tick, with the plan unless it is given up. */
static void next_tick(const struct schedule *s, struct place *at)
{
    const struct horizon *h = s->horizons + at->phase;
    const struct move *move = h->moves + at->gone++;
    if (at->gone == h->ticks) at->phase = (at->phase + 1) % s->phases, at->gone = 0;
    const struct horizon *next = s->horizons + at->phase;
    if (!at->lost) {
        move_plan(move, h, next);
        set_durations(s, at, next->memory->x);
        clip(next->program, next->memory->x);
    }
    memmove(next->memory->p, h->memory->p, s->elapsed * sizeof(double));
}

/* Goes on by so many ticks; after more than a cycle, to which no plan reaches, with the first plan of a phase. */
EXPORT void schedule_move(const struct schedule *s, struct place *at, int ticks)
{
    int cycle = 0;
    for (int k = 0; k < s->phases; k++) cycle += s->horizons[k].ticks;
    if (ticks > cycle) {
        struct memory *last = s->horizons[at->phase].memory;
        memcpy(last->p_before, last->p, s->elapsed * sizeof(double));
        ticks = at->gone + ticks % cycle, at->gone = 0;
        for (; ticks >= s->horizons[at->phase].ticks; at->phase = (at->phase + 1) % s->phases)
            ticks -= s->horizons[at->phase].ticks;
        const struct horizon *h = s->horizons + at->phase;
        begin_horizon(h);
        set_durations(s, at, h->memory->x);
        memcpy(h->memory->p, last->p_before, s->elapsed * sizeof(double));
    }
    for (; ticks > 0; ticks--) next_tick(s, at);
    const struct horizon *h = s->horizons + at->phase;
    h->memory->p[s->elapsed] = at->gone * s->tick;
    memcpy(h->memory->trial, h->memory->x, h->program->unknowns * sizeof(double));
}

/* The first plan of the present phase, at this tick and moved to the measured positions. */
static void begin_again(const struct schedule *s, const struct place *at, const double *state)
{
    const struct horizon *h = s->horizons + at->phase;
    const struct program *p = h->program;
    double *x = h->memory->x;
    take_first_plan(h);
    for (int k = 0; k < at->gone; k++) move_plan(h->moves + k, h, h);
    set_durations(s, at, x);
    for (int k = 0; k < p->width[0]; k++) {
        double by = state[k] - x[p->point[k]];
        if (h->turning[k] || !isfinite(by)) continue;
        for (int i = 0; i < p->points[0]; i++) x[p->point[i * p->width[0] + k]] += by;
    }
    clip(p, x);
    memcpy(h->memory->trial, x, p->unknowns * sizeof(double));
}

/* Improves the plan of the present tick, as `receding_tick` does. A plan whose equations are off by too much is given up:
the next tick begins with the first plan. */
EXPORT int schedule_tick(const struct schedule *s, struct place *at, const struct settings *settings,
                         const double *state, const double *parameters, struct result *r)
{
    if (at->lost) begin_again(s, at, state);
    receding_tick(s->horizons + at->phase, settings, 0, state, parameters, r);
    if (r->steps) at->lost = !(r->gap <= s->lost);
    else at->lost |= r->status != LATE && r->status != NO_NUMBERS;
    return r->status;
}
