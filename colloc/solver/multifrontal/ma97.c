/* The entry points of HSL_MA97, as IPOPT calls them, and the analyses of patterns seen lately. Nothing here is code of
HSL's. */

#include "multifrontal.h"

#define UNUSED __attribute__((unused))

/* Analyses -------------------------------------------------------------------------------------------------------- */

#ifndef UNUSED_BYTES
#define UNUSED_BYTES ((size_t)64 << 20) /* of analyses that are kept although nobody uses them */
#endif

/* The restoration phase, a second run and the next round have patterns seen before. The lock is held while the list is
read or changed, not while a pattern is analysed, and never across a fork: a child would wait for ever. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct analysis *known;

static void take_lock(void) { pthread_mutex_lock(&lock); }
static void give_lock(void) { pthread_mutex_unlock(&lock); }
#ifndef _WIN32
__attribute__((constructor)) static void guard_forks(void) { pthread_atfork(take_lock, give_lock, give_lock); }
#endif

/* The known analysis of a pattern, as its user; null if there is none. The lock is held. */
static struct analysis *find_known(int n, const int *start, const int *row)
{
    for (struct analysis **place = &known, *a; (a = *place); place = &a->next)
        if (a->n == n && !memcmp(a->pattern, start, (n + 1) * sizeof(int))
            && !memcmp(a->pattern + n + 1, row, (start[n] - 1) * sizeof(int))) {
            *place = a->next, a->next = known, known = a; /* the latest first */
            a->users++;
            return a;
        }
    return 0;
}

/* The analysis of a pattern, as its user; null without memory. */
static struct analysis *acquire(int n, const int *start, const int *row)
{
    take_lock();
    struct analysis *a = find_known(n, start, row), *mine;
    give_lock();
    if (a || !(mine = analyse(n, start, row))) return a;
    take_lock();
    a = find_known(n, start, row); /* another thread may have been as quick */
    if (!a) a = mine, mine = 0, a->users = 1, a->next = known, known = a;
    give_lock();
    free_analysis(mine);
    return a;
}

/* One user less; of analyses without users the latest are kept. */
static void release(struct analysis *a)
{
    if (!a) return;
    struct analysis *old = 0;
    size_t bytes = 0;
    take_lock();
    assert(a->users > 0);
    a->users--;
    for (struct analysis **place = &known; (a = *place);) {
        if (a->users || (bytes += a->bytes) <= UNUSED_BYTES) {
            place = &a->next;
            continue;
        }
        *place = a->next, a->next = old, old = a;
    }
    give_lock();
    for (; (a = old); free_analysis(a)) old = a->next;
}

/* Entry points ---------------------------------------------------------------------------------------------------- */

/* How IPOPT's structures begin; what is behind is neither read nor written. */
struct ma97_control {
    int f_arrays, action, nemin; /* the last is the number of threads here */
    double multiplier;
    int ordering, print_level, scaling;
    double small, u;
};

struct ma97_info {
    int flag, flag68, flag77, matrix_dup, matrix_rank, matrix_outrange, matrix_missing_diag, maxdepth, maxfront;
    int num_delay;
    long num_factor, num_flops;
    int num_neg, num_sup, num_two, ordering, stat, maxsupernode;
};

/* Where rows differ in size by nine decades, as where much is added to the Hessian, delayed columns make fronts twenty
times as costly: beyond FILL times as many values of L as there are without, hardly any pivot is refused. Iterative
refinement does as well then, and where it does not, IPOPT raises the threshold. */
#define USUAL_THRESHOLD 1e-8
#define RELAXED_THRESHOLD 1e-12
#ifndef FILL
#define FILL 1.5
#endif
#define MULTIPLIER 1.1

EXPORT void ma97_default_control_d(struct ma97_control *control)
{
    *control = (struct ma97_control){
        .action = 1, .nemin = 1, .multiplier = MULTIPLIER, .small = 1e-20, .u = USUAL_THRESHOLD};
}

/* Whether IPOPT has set what it always sets, and left alone what it never sets: its structure is laid out as above. */
static int is_usual(const struct ma97_control *control)
{
    return control->f_arrays == 1 && control->action == 0 && control->nemin > 0 && control->multiplier == MULTIPLIER
        && control->small >= 0 && control->small < 1 && control->u >= 0 && control->u <= 0.5;
}

/* The upper triangle by rows, counted from 1, each row beginning with its diagonal or not. */
EXPORT void ma97_analyse_d(UNUSED int check, int n, const int *ptr, const int *row, UNUSED double *value, void **akeep,
                           const struct ma97_control *control, struct ma97_info *info, UNUSED int *order)
{
    int usual = is_usual(control);
    struct analysis *a = usual ? acquire(n, ptr, row) : 0;
    *info = (struct ma97_info){.flag = a ? 0 : usual ? NO_MEMORY : OUT_OF_ORDER, .ordering = 1};
    *akeep = a;
    if (a) info->num_factor = (long)a->entries, info->num_sup = a->supernodes;
}

static void discard(struct factors *f)
{
    struct analysis *a = f ? f->a : 0;
    free_factors(f);
    release(a);
}

/* The factors of an instance, made if it has none; null without memory. */
static struct factors *factors_of(struct analysis *a, void **fkeep, int threads)
{
    struct factors *f = *fkeep;
    if (f && f->a == a) return f;
    discard(f);
    *fkeep = f = new_factors(a, threads);
    if (!f) return 0;
    take_lock();
    a->users++;
    give_lock();
    return f;
}

/* Once more with a relaxed threshold where too many columns are delayed, and with sizes of equilibrated rows before it
is called singular. Returns 1, or a flag. */
static int factorise_within_limits(struct factors *f, const double *value, const struct ma97_control *control)
{
    double threshold = control->u, limit = threshold > USUAL_THRESHOLD ? INFINITY : FILL * f->a->entries;
    f->complete = 0;
    if (!measure_rows(f, value, control->small)) return SINGULAR;
    for (int equilibrated = 0;;) {
        int flag = factorise(f, value, threshold, limit);
        if (flag == FILL_LIMIT) threshold = RELAXED_THRESHOLD, limit = INFINITY;
        else if (flag != SINGULAR || equilibrated || !equilibrate(f, value, control->small)) return flag;
        else equilibrated = 1;
    }
}

EXPORT void ma97_factor_d(UNUSED int type, UNUSED const int *ptr, UNUSED const int *row, const double *value,
                          void **akeep, void **fkeep, const struct ma97_control *control, struct ma97_info *info,
                          UNUSED double *scale)
{
    struct analysis *a = *akeep;
    struct factors *f = factors_of(a, fkeep, control->nemin);
    *info = (struct ma97_info){.flag = NO_MEMORY, .ordering = 1};
    if (!f) return;
    int flag = factorise_within_limits(f, value, control);
    info->flag = flag < 0 ? flag : 0;
    info->matrix_rank = a->n, info->num_sup = a->supernodes;
    for (int k = 0; k < f->parts; k++) {
        const struct part *p = f->part + k;
        info->num_neg += p->negative, info->num_two += p->pairs, info->num_delay += p->delays;
        info->num_factor += (long)p->used, info->num_flops += (long)p->work;
        if (p->largest_front > info->maxfront) info->maxfront = p->largest_front;
    }
}

EXPORT void ma97_solve_d(UNUSED int job, int nrhs, double *x, int ldx, UNUSED void **akeep, void **fkeep,
                         UNUSED const struct ma97_control *control, struct ma97_info *info)
{
    const struct factors *f = *fkeep;
    info->flag = f && f->complete ? 0 : OUT_OF_ORDER; /* the rest stays as the factorisation left it */
    for (int k = 0; k < nrhs && !info->flag; k++) solve(f, x + (size_t)ldx * k);
}

EXPORT void ma97_factor_solve_d(int type, const int *ptr, const int *row, const double *value, int nrhs, double *x,
                                int ldx, void **akeep, void **fkeep, const struct ma97_control *control,
                                struct ma97_info *info, double *scale)
{
    ma97_factor_d(type, ptr, row, value, akeep, fkeep, control, info, scale);
    if (info->flag >= 0) ma97_solve_d(0, nrhs, x, ldx, akeep, fkeep, control, info);
}

EXPORT void ma97_free_akeep_d(void **akeep)
{
    release(*akeep);
    *akeep = 0;
}

EXPORT void ma97_finalise_d(void **akeep, void **fkeep)
{
    discard(*fkeep);
    *fkeep = 0;
    ma97_free_akeep_d(akeep);
}
