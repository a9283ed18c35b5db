/* Assembly, factorisation and solution, front after front. Subtrees are factorised by several threads where that pays,
and what is above them by one: no front is added to in another order than by one thread. */

#include "multifrontal.h"

#define MOST_THREADS 64
#define GAIN 0.8 /* what threads leave of the time, at most */
#define MOST_SPLITS 64
#ifndef WORTH_A_THREAD
#define WORTH_A_THREAD 1e6 /* ns; beginning one takes about half of that on a busy machine */
#endif

/* Sharing out ----------------------------------------------------------------------------------------------------- */

struct subtree {
    int root;
    double cost;
};

static int by_decreasing_cost(const void *x, const void *y)
{
    double a = ((const struct subtree *)x)->cost, b = ((const struct subtree *)y)->cost;
    return (a < b) - (a > b);
}

/* Gives subtrees, the costliest first, each to the thread that has least to do. Returns what the busiest one has, and
the part of every root if `owner` is not null. */
static double assign(const struct subtree *tree, int size, int count, int *owner)
{
    double load[MOST_THREADS] = {0}, most = 0;
    for (int k = 0; k < size; k++) {
        int least = 0;
        for (int t = 1; t < count; t++)
            if (load[t] < load[least]) least = t;
        load[least] += tree[k].cost;
        if (load[least] > most) most = load[least];
        if (owner) owner[tree[k].root] = least + 1;
    }
    return most;
}

/* The split after which assigned subtrees take least time, NONE if that is no gain: at each, the costliest subtree is
replaced by those below its root. `split` is when a supernode came to be above, MOST_SPLITS if never. */
static int best_split(const struct analysis *a, int count, double total, const double *below, struct subtree *tree,
                      int size, int *split)
{
    double least = total * GAIN, above = 0;
    int best = NONE;
    for (int k = 0; k < MOST_SPLITS && size && above + (total - above) / count < least; k++) {
        qsort(tree, size, sizeof(struct subtree), by_decreasing_cost);
        double time = above + assign(tree, size, count, 0);
        if (time < least) least = time, best = k;
        int root = tree->root;
        *tree = tree[--size], above += below[root], split[root] = k;
        for (int c = a->last_child[root]; c != NONE; c = a->previous[c])
            tree[size++] = (struct subtree){c, below[c]}, above -= below[c];
    }
    return best;
}

/* Shares subtrees out among threads: the owner of every supernode. Returns the number of parts; 0 without memory. */
static int share_out(const struct analysis *a, int count, int *owner)
{
    int supernodes = a->supernodes, size = 0, best = NONE;
    double *below = malloc((supernodes + 1) * sizeof(double)), total = 0; /* cost of the subtree below each */
    struct subtree *tree = malloc((supernodes + 1) * sizeof(struct subtree));
    int *split = malloc((supernodes + 1) * sizeof(int)), good = below && tree && split;
    for (int s = 0; s < supernodes && good; s++) {
        double width = width_of(a, s);
        below[s] = cost(width, width + rows_below(a, s)), split[s] = MOST_SPLITS, owner[s] = 0;
        for (int c = a->last_child[s]; c != NONE; c = a->previous[c]) below[s] += below[c];
        if (a->parent[s] == NONE) tree[size++] = (struct subtree){s, below[s]}, total += below[s];
    }
    if (count > total / WORTH_A_THREAD) count = (int)(total / WORTH_A_THREAD);
    if (good && count > 1) best = best_split(a, count, total, below, tree, size, split);
    if (best != NONE) {
        size = 0;
        for (int s = 0; s < supernodes; s++) {
            int p = a->parent[s];
            if (split[s] >= best && (p == NONE || split[p] < best)) tree[size++] = (struct subtree){s, below[s]};
        }
        qsort(tree, size, sizeof(struct subtree), by_decreasing_cost);
        assign(tree, size, count, owner);
        for (int s = supernodes - 1; s >= 0; s--)
            if (a->parent[s] != NONE && !owner[s]) owner[s] = owner[a->parent[s]];
    }
    free(below), free(tree), free(split);
    return good ? best == NONE ? 1 : count + 1 : 0;
}

/* Memory ---------------------------------------------------------------------------------------------------------- */

static int grow(double **at, size_t *room, size_t needed)
{
    if (needed <= *room) return 1;
    needed += needed / 4;
    double *wider = realloc(*at, needed * sizeof(double));
    if (!wider) return 0;
    *at = wider, *room = needed;
    return 1;
}

static void free_factors(struct factors *f)
{
    if (!f) return;
    for (int k = 0; k < f->parts && f->part; k++) {
        struct part *p = f->part + k;
        free(p->values), free(p->d), free(p->stack[0]), free(p->stack[1]), free(p->pack), free(p->positions.at);
        free(p->local);
    }
    free(f->owner), free(f->start), free(f->index), free(f->contribution), free(f->rows), free(f->pivots);
    free(f->pivot), free(f->part), free(f->vector), free(f->size), free(f);
}

/* Factors of an analysis, without numbers; null without memory. */
static struct factors *new_factors(struct analysis *a, int threads)
{
    struct factors *f = calloc(1, sizeof(struct factors));
    size_t count = a->supernodes + 1, n = a->n + 1;
    if (!f) return 0;
    f->a = a;
    int good = (f->owner = malloc(count * sizeof(int))) && (f->start = malloc(count * sizeof(size_t)))
        && (f->index = malloc(count * sizeof(size_t))) && (f->contribution = malloc(count * sizeof(size_t)))
        && (f->rows = malloc(count * sizeof(int))) && (f->pivots = malloc(count * sizeof(int)))
        && (f->pivot = malloc(count * sizeof(int))) && (f->vector = malloc(2 * n * sizeof(double)))
        && (f->size = malloc(3 * n * sizeof(double)))
        && (f->parts = share_out(a, threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads, f->owner))
        && (f->part = calloc(f->parts, sizeof(struct part)));
    f->scale = f->size + n, f->zero = f->scale + n;
    for (int s = 0; s < a->supernodes && good; s++) { /* what it takes unless columns are delayed */
        size_t width = width_of(a, s);
        f->part[f->owner[s]].used += width * (width + rows_below(a, s));
    }
    for (int k = 0; k < f->parts && good; k++) {
        struct part *p = f->part + k;
        good = grow(&p->values, &p->values_room, p->used + 1) && (p->local = malloc(n * sizeof(int)));
    }
    if (good) return f;
    free_factors(f);
    return 0;
}

/* Fronts ---------------------------------------------------------------------------------------------------------- */

/* What all fronts of a part have in common. */
struct task {
    struct factors *f;
    const double *value; /* of A */
    double threshold, limit; /* `limit` values of L */
    size_t taken;            /* by other parts */
    int part;
};

/* Columns that a front has delayed. */
static int delayed_columns(const struct factors *f, int s) { return f->rows[s] - f->pivots[s] - rows_below(f->a, s); }

/* Adds a contribution block x, shape (size, size), to rows `local` of a front, whose own contribution block is y. Rows
rise but among the delayed columns of the child, which come first. */
static void extend_add(const struct front *f, double *y, const double *x, int size, const int *local, int rising)
{
    size_t ld = f->rows, below = f->rows - f->fully_summed;
    int from = size; /* the last rows are neighbours */
    while (from > 0 && (from == size || local[from - 1] + 1 == local[from])) from--;
    for (int j = 0; j < size; j++, x += size) {
        int column = local[j];
        assert(column < f->rows);
        double *to = column < f->fully_summed ? f->a + ld * column
                                              : y + below * (column - f->fully_summed) - f->fully_summed;
        if (!rising && column < f->fully_summed) {
            for (int i = j; i < size; i++) {
                int row = local[i];
                if (row >= column) to[row] += x[i];
                else f->a[ld * row + column] += x[i];
            }
            continue;
        }
        int i = j;
        for (; i < from; i++) to[local[i]] += x[i];
        if (i < size) {
            double *restrict run = to + local[i];
            for (int k = 0; k < size - i; k++) run[k] += x[i + k];
        }
    }
}

/* Keeps the contribution block of a front: below its Schur complement in the stack, which is there already, the delayed
columns. Returns 0 without memory. */
static int keep_contribution(struct part *p, int level, const struct front *f, size_t begin)
{
    int delayed = f->fully_summed - f->pivots, size = f->rows - f->pivots;
    size_t below = f->rows - f->fully_summed, ld = f->rows;
    p->stack_used[level] = begin + (size_t)size * size;
    if (!delayed) return 1;
    if (!grow(&p->stack[level], &p->stack_room[level], p->stack_used[level])) return 0;
    double *to = p->stack[level] + begin;
    for (int j = (int)below - 1; j >= 0; j--) /* from the end: it moves up within its own memory */
        memmove(to + (size_t)(j + delayed) * size + delayed, to + below * j, below * sizeof(double));
    for (int j = 0; j < delayed; j++)
        memcpy(to + (size_t)j * size, f->a + ld * (f->pivots + j) + f->pivots, size * sizeof(double));
    return 1;
}

/* A front of zeros with its positions, behind those before it. Returns 0 without memory. */
static int begin_front(const struct task *task, int s, struct front *front)
{
    struct factors *f = task->f;
    const struct analysis *a = f->a;
    struct part *p = f->part + task->part;
    int level = a->level[s], width = width_of(a, s), below = rows_below(a, s), delayed = front->fully_summed - width;
    size_t size = (size_t)front->rows * front->fully_summed, base = p->stack_used[level];
    size_t schur = (size_t)below * below;
    if (!reserve(&p->positions, front->rows) || !grow(&p->values, &p->values_room, p->used + size)
        || !grow(&p->stack[level], &p->stack_room[level], base + schur)
        || !grow(&p->d, &p->d_room, 2 * (size_t)(p->pivots + front->fully_summed))
        || !grow(&p->pack, &p->pack_room, pack_size(front->rows)))
        return 0;
    f->start[s] = p->used, f->index[s] = p->positions.size, f->rows[s] = front->rows;
    f->pivot[s] = p->pivots, f->contribution[s] = base;
    front->a = p->values + p->used, front->position = p->positions.at + p->positions.size;
    front->d = p->d + 2 * (size_t)p->pivots, front->zero = f->zero;
    memset(front->a, 0, size * sizeof(double));
    if (schur) memset(p->stack[level] + base, 0, schur * sizeof(double));
    for (int k = 0; k < width; k++) front->position[k] = a->first[s] + k;
    for (int k = 0; k < below; k++) front->position[width + delayed + k] = a->rows[a->below[s] + k];
    return 1;
}

/* Adds the entries of A and the contribution blocks of the children to a front. The columns that these have delayed
come behind its own, the last child's last. */
static void assemble(const struct task *task, int s, struct front *front)
{
    struct factors *f = task->f;
    const struct analysis *a = f->a;
    struct part *p = f->part + task->part;
    int width = width_of(a, s), delayed = front->fully_summed - width, before = front->fully_summed;
    size_t ld = front->rows;
    for (size_t k = a->entry[s]; k < a->entry[s + 1]; k++) {
        int row = a->row[k];
        front->a[ld * a->column[k] + row + (row < width ? 0 : delayed)] += task->value[a->source[k]];
    }
    for (int c = a->last_child[s]; c != NONE; c = a->previous[c]) {
        const struct part *from = f->part + f->owner[c];
        const int *in_parent = a->in_parent + a->below[c];
        const int *positions = from->positions.at + f->index[c] + f->pivots[c];
        int size = f->rows[c] - f->pivots[c], late = delayed_columns(f, c), other = !a->level[s];
        assert(from != p || from->stack_used[other] == f->contribution[c] + (size_t)size * size);
        before -= late;
        for (int k = 0; k < late; k++) p->local[k] = before + k, front->position[before + k] = positions[k];
        for (int k = late; k < size; k++)
            p->local[k] = in_parent[k - late] + (in_parent[k - late] < width ? 0 : delayed);
        extend_add(front, p->stack[!other] + f->contribution[s], from->stack[other] + f->contribution[c], size,
                   p->local, late == 0);
        if (from == p) p->stack_used[other] = f->contribution[c];
    }
    assert(before == width);
}

/* Adds a front to the counts of its part. */
static void count_pivots(struct part *p, const struct front *f)
{
    p->used += (size_t)f->rows * f->pivots, p->positions.size += f->rows, p->pivots += f->pivots;
    p->delays += f->fully_summed - f->pivots;
    for (int k = 0; k < f->pivots; k++) {
        const double *d = f->d + 2 * k;
        p->work += (double)(f->rows - k) * (f->rows - k);
        if (d[1] == 0) {
            p->negative += d[0] < 0;
            continue;
        }
        p->negative += d[0] / d[1] * (d[2] / d[1]) < 1 ? 1 : d[0] < 0 ? 2 : 0;
        p->pairs++, p->work += (double)(f->rows - k - 1) * (f->rows - k - 1), k++;
    }
}

/* Assembles a front, eliminates its pivots, and keeps the contribution block. Returns 1, or a flag. Whether the values
of L are too many is decided by this front alone and by the sum of all, which no partition of the fronts changes. */
static int process_front(const struct task *task, int s)
{
    struct factors *f = task->f;
    const struct analysis *a = f->a;
    struct part *p = f->part + task->part;
    int level = a->level[s], width = width_of(a, s), below = rows_below(a, s), delayed = 0;
    for (int c = a->last_child[s]; c != NONE; c = a->previous[c]) {
        if (f->pivots[c] == NONE) return SINGULAR;
        delayed += delayed_columns(f, c);
    }
    struct front front = {.rows = width + delayed + below, .fully_summed = width + delayed};
    if (front.rows > p->largest_front) p->largest_front = front.rows;
    if ((size_t)front.rows * front.fully_summed > task->limit) return FILL_LIMIT;
    if (!begin_front(task, s, &front)) return NO_MEMORY;
    assemble(task, s, &front);
    /* A slack alone divides what only its multiplier sees, which iterative refinement mends. */
    double threshold = task->threshold * (front.rows == 2 && width == 1 ? ISOLATED : 1);
    if (!eliminate(&front, threshold, p->pack)) return SINGULAR;
    if (below)
        update_by_pivots(p->stack[level] + f->contribution[s], below, below, below, front.a + front.fully_summed,
                         front.rows, front.pivots, front.d, p->pack);
    f->pivots[s] = front.pivots;
    count_pivots(p, &front);
    if (task->taken + p->used > task->limit) return FILL_LIMIT;
    if (a->parent[s] == NONE) return front.pivots < front.fully_summed ? SINGULAR : 1;
    return keep_contribution(p, level, &front, f->contribution[s]) ? 1 : NO_MEMORY;
}

/* Factorises the fronts of a part. Of a front that is singular only those above are left out, so that others are
counted whichever comes first. */
static void *process_part(void *argument)
{
    const struct task *task = argument;
    struct factors *f = task->f;
    struct part *p = f->part + task->part;
    p->flag = 1;
    for (int s = 0; s < f->a->supernodes; s++) {
        int flag = f->owner[s] == task->part ? process_front(task, s) : 1;
        if (flag == SINGULAR) p->flag = SINGULAR, f->pivots[s] = NONE;
        else if (flag < 0) {
            p->flag = flag;
            break;
        }
    }
    return 0;
}

/* The flag of several parts: no memory, too many values, singular, or 1. */
static int worst(const struct factors *f)
{
    int flag = 1;
    for (int k = 0; k < f->parts; k++) {
        int other = f->part[k].flag;
        if (other == NO_MEMORY || flag == NO_MEMORY) flag = NO_MEMORY;
        else if (other == FILL_LIMIT || flag == FILL_LIMIT) flag = FILL_LIMIT;
        else if (other < 0) flag = other;
    }
    return flag;
}

/* Factorises a matrix with these values, into at most so many values of L. Returns 1, or a flag. */
static int factorise(struct factors *f, const double *value, double threshold, double limit)
{
    struct task task[MOST_THREADS + 1] = {{0}};
    pthread_t thread[MOST_THREADS + 1];
    int begun[MOST_THREADS + 1] = {0};
    for (int k = 0; k < f->parts; k++) {
        struct part *p = f->part + k;
        task[k] = (struct task){f, value, threshold, limit, 0, k};
        p->used = p->positions.size = p->stack_used[0] = p->stack_used[1] = 0;
        p->pivots = p->negative = p->pairs = p->delays = p->largest_front = 0, p->work = 0, p->flag = 1;
    }
    for (int k = 2; k < f->parts; k++) begun[k] = !pthread_create(thread + k, 0, process_part, task + k);
    for (int k = 1; k < f->parts; k++) {
        if (begun[k]) pthread_join(thread[k], 0);
        else process_part(task + k);
    }
    for (int k = 1; k < f->parts; k++) task->taken += f->part[k].used;
    int flag = task->taken > limit && worst(f) != NO_MEMORY ? FILL_LIMIT : worst(f);
    if (flag == 1 || flag == SINGULAR) {
        process_part(task);
        flag = worst(f);
    }
    f->complete = flag == 1;
    return flag;
}

/* Zeros ----------------------------------------------------------------------------------------------------------- */

#define NOISE 1e-16 /* size below which a row is taken for rounding errors */
#define SWEEPS 3

static void set_zeros(struct factors *f, double small)
{
    for (int k = 0; k < f->a->n; k++) f->zero[k] = small * larger(f->size[f->a->variable[k]], NOISE);
}

static int all_finite(const double *x, size_t n)
{
    double check = 0;
    V sum = {0};
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) sum += 0 * *(const U *)(x + k);
    for (int l = 0; l < LANES; l++) check += sum[l];
    for (; k < n; k++) check += 0 * x[k];
    return check == 0;
}

/* The size of every row, its largest entry. What is no larger than `small` of it counts as zero: of rows that depend on
each other rounding leaves pivots whose signs mean nothing. Returns 0 where there is no number. */
static int measure_rows(struct factors *f, const double *value, double small)
{
    int n = f->a->n;
    const int *start = f->a->pattern, *row = start + n + 1;
    double *size = f->size;
    if (!all_finite(value, start[n] - 1)) return 0;
    memset(size, 0, n * sizeof(double));
    for (int j = 0; j < n; j++) {
        double most = size[j];
        for (int p = start[j] - 1; p < start[j + 1] - 1; p++) {
            double entry = fabs(value[p]);
            int i = row[p] - 1;
            size[i] = larger(entry, size[i]), most = larger(entry, most);
        }
        size[j] = larger(most, size[j]);
    }
    set_zeros(f, small);
    return 1;
}

/* The sizes of rows of a matrix whose rows and columns are scaled differently: s with |a_ij| <= s_i s_j, to which every
row comes close (Ruiz 2001), squared. None grows by that, so that nothing more counts as zero. Returns whether one
became smaller. */
static int equilibrate(struct factors *f, const double *value, double small)
{
    int n = f->a->n, smaller = 0;
    const int *start = f->a->pattern, *row = start + n + 1;
    double *scale = f->scale, *most = f->zero;
    for (int i = 0; i < n; i++) scale[i] = f->size[i] > 0 ? 1 / sqrt(f->size[i]) : 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int i = 0; i < n; i++) most[i] = 0;
        for (int j = 0; j < n; j++)
            for (int p = start[j] - 1; p < start[j + 1] - 1; p++) {
                int i = row[p] - 1;
                double size = fabs(value[p]) * scale[i] * scale[j];
                most[i] = larger(most[i], size), most[j] = larger(most[j], size);
            }
        for (int i = 0; i < n; i++)
            if (most[i] > 0) scale[i] /= sqrt(most[i]);
    }
    for (int i = 0; i < n; i++) {
        if (scale[i] == 0) continue;
        double size = 1 / (scale[i] * scale[i]);
        if (size < 0.5 * f->size[i]) f->size[i] = size, smaller = 1;
    }
    set_zeros(f, small);
    return smaller;
}

/* Solution -------------------------------------------------------------------------------------------------------- */

/* Divides by D. */
static void divide(double *z, const double *d, int pivots)
{
    for (int k = 0; k < pivots; k++) {
        if (d[2 * k + 1] != 0) {
            double beside = d[2 * k + 1], above = d[2 * k] / beside, below = d[2 * k + 2] / beside;
            double scale = 1 / (beside * (above * below - 1)), b = z[k], c = z[k + 1];
            z[k] = (below * b - c) * scale, z[k + 1] = (above * c - b) * scale, k++;
        } else z[k] /= d[2 * k];
    }
}

/* z, shape (rows,), less L of a front, and divided by D: its fully summed rows solved, the others updated. */
static void forward(double *z, const double *column, const double *d, int rows, int pivots)
{
    for (int k = 0; k < pivots; k++, column += rows) {
        double value = z[k];
        for (int i = k + 1; i < rows; i++) z[i] -= column[i] * value;
    }
    divide(z, d, pivots);
}

/* The rows of the pivots of a front in z, shape (rows,), less L' times those below. */
static void backward(double *z, const double *values, int rows, int pivots)
{
    const double *column = values + (size_t)rows * pivots;
    for (int k = pivots - 1; k >= 0; k--) {
        column -= rows;
        int i = k + 1;
        V sum = {0};
        for (; i + LANES <= rows; i += LANES) sum += *(const U *)(column + i) * *(const U *)(z + i);
        double total = 0;
        for (int l = 0; l < LANES; l++) total += sum[l];
        for (; i < rows; i++) total += column[i] * z[i];
        z[k] -= total;
    }
}

/* Overwrites x by the solution. */
static void solve(const struct factors *f, double *x)
{
    const struct analysis *a = f->a;
    double *y = f->vector, *z = y + a->n;
    for (int k = 0; k < a->n; k++) y[k] = x[a->variable[k]];
    for (int s = 0; s < a->supernodes; s++) {
        int rows = f->rows[s], pivots = f->pivots[s];
        const struct part *p = f->part + f->owner[s];
        const int *position = p->positions.at + f->index[s];
        for (int k = 0; k < rows; k++) z[k] = k < pivots ? y[position[k]] : 0;
        forward(z, p->values + f->start[s], p->d + 2 * (size_t)f->pivot[s], rows, pivots);
        for (int k = 0; k < pivots; k++) y[position[k]] = z[k];
        for (int k = pivots; k < rows; k++) y[position[k]] += z[k];
    }
    for (int s = a->supernodes - 1; s >= 0; s--) {
        int rows = f->rows[s], pivots = f->pivots[s];
        const struct part *p = f->part + f->owner[s];
        const int *position = p->positions.at + f->index[s];
        for (int k = 0; k < rows; k++) z[k] = y[position[k]];
        backward(z, p->values + f->start[s], rows, pivots);
        for (int k = 0; k < pivots; k++) y[position[k]] = z[k];
    }
    for (int k = 0; k < a->n; k++) x[a->variable[k]] = y[k];
}
