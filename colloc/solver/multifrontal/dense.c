/* Elimination within a front: L D L' with pivots of order one and two, stable within a threshold (Duff, Reid 1983), by
panels of fully summed columns; what is not in the panel is updated by products of blocks. */

#include "multifrontal.h"

#ifndef PANEL
#define PANEL 16 /* pivots between two updates of the other fully summed columns of a front */
#define DEPTH 64 /* pivots of one update of the contribution block */
#endif

/* Blocks of COLUMNS rows of D B', B the first rows of x, one pivot after the other. */
static void pack_right(double *to, int columns, const double *x, size_t ldx, int depth, const double *d)
{
    for (int j = 0; j < columns; j += COLUMNS, to += COLUMNS * depth)
        for (int k = 0; k < depth; k++)
            for (int c = 0; c < COLUMNS; c++) {
                const double *row = x + j + c;
                double value = 0;
                if (j + c < columns) {
                    value = d[2 * k] * row[ldx * k];
                    if (d[2 * k + 1] != 0) value += d[2 * k + 1] * row[ldx * (k + 1)];
                    if (k && d[2 * k - 1] != 0) value += d[2 * k - 1] * row[ldx * (k - 1)];
                }
                to[COLUMNS * k + c] = value;
            }
}

/* Blocks of ROWS rows of x, one pivot after the other. */
static void pack_left(double *to, int rows, const double *x, size_t ldx, int depth)
{
    for (int i = 0; i < rows; i += ROWS) {
        double *block = to + (size_t)depth * i;
        int full = rows - i >= ROWS;
        for (int k = 0; k < depth; k++)
            for (int r = 0; r < ROWS; r++) block[ROWS * k + r] = full || i + r < rows ? x[ldx * k + i + r] : 0;
    }
}

static size_t pack_size(int rows) { return (size_t)(2 * rows + ROWS + COLUMNS) * (2 * DEPTH); }

/* y -= A D B' below the diagonal of y, shape (rows, columns), for A and B the rows and the first `columns` rows of x,
shape (rows, depth). `pack` has room for both. */
static void update(double *y, size_t ld, int rows, int columns, const double *x, size_t ldx, int depth, const double *d,
                   double *pack)
{
    double *right = pack, *left = pack + (size_t)(columns + COLUMNS) * depth;
    assert(depth <= 2 * DEPTH && columns <= rows && d[2 * depth - 1] == 0);
    pack_right(right, columns, x, ldx, depth, d);
    pack_left(left, rows, x, ldx, depth);
    for (int j = 0; j < columns; j += COLUMNS, right += COLUMNS * depth)
        for (int i = j / ROWS * ROWS; i < rows; i += ROWS) {
            const double *from = left + (size_t)depth * i, *by = right;
            V sum[COLUMNS][2];
            for (int c = 0; c < COLUMNS; c++) sum[c][0] = sum[c][1] = (V){0};
            for (int k = 0; k < depth; k++, from += ROWS, by += COLUMNS) {
                V upper = *(const U *)from, lower = *(const U *)(from + LANES);
                for (int c = 0; c < COLUMNS; c++) sum[c][0] += upper * by[c], sum[c][1] += lower * by[c];
            }
            double *to = y + ld * j + i;
            if (i >= j + COLUMNS - 1 && rows - i >= ROWS && columns - j >= COLUMNS) {
                for (int c = 0; c < COLUMNS; c++, to += ld) *(U *)to -= sum[c][0], *(U *)(to + LANES) -= sum[c][1];
                continue;
            }
            int last = rows - i < ROWS ? rows - i : ROWS;
            for (int c = 0; c < COLUMNS && c < columns - j; c++, to += ld)
                for (int r = i < j + c ? j + c - i : 0; r < last; r++) to[r] -= ((const double *)sum[c])[r];
        }
}

/* The same with all of some pivots, DEPTH at a time, those of order two not parted. */
static void update_by_pivots(double *y, size_t ld, int rows, int columns, const double *x, size_t ldx, int pivots,
                             const double *d, double *pack)
{
    for (int done = 0; done < pivots;) {
        int depth = pivots - done < DEPTH ? pivots - done : DEPTH;
        if (d[2 * (done + depth) - 1] != 0) depth++;
        update(y, ld, rows, columns, x + ldx * done, ldx, depth, d + 2 * done, pack);
        done += depth;
    }
}

/* Exchanges two fully summed rows and columns, a before b. */
static void exchange(struct front *f, int a, int b)
{
    size_t ld = f->rows;
    double *x = f->a, keep;
    assert(a <= b && b < f->fully_summed);
#define SWAP(p, q) keep = (p), (p) = (q), (q) = keep
    if (a == b) return;
    for (int c = 0; c < a; c++) SWAP(x[ld * c + a], x[ld * c + b]);
    for (int c = a + 1; c < b; c++) SWAP(x[ld * a + c], x[ld * c + b]);
    SWAP(x[ld * a + a], x[ld * b + b]);
    for (int r = b + 1; r < f->rows; r++) SWAP(x[ld * a + r], x[ld * b + r]);
#undef SWAP
    int position = f->position[a];
    f->position[a] = f->position[b], f->position[b] = position;
}

typedef int64_t M __attribute__((vector_size(8 * LANES)));

/* The largest magnitude of x, shape (n,). */
static double largest(const double *x, int n)
{
    double most = 0, part[LANES];
    int k = 0;
    if (n >= LANES) {
        const M positive = (M){0} + INT64_MAX;
        V best = {0};
        for (; k + LANES <= n; k += LANES) {
            V value = (V)((M)*(const U *)(x + k) & positive);
            M more = value > best;
            best = (V)(((M)value & more) | ((M)best & ~more));
        }
        memcpy(part, &best, sizeof part);
        for (int l = 0; l < LANES; l++) most = part[l] > most ? part[l] : most;
    }
    for (; k < n; k++) most = fabs(x[k]) > most ? fabs(x[k]) : most;
    return most;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* The entry of row i and column p, of which one triangle is kept. */
static double entry_of(const struct front *f, int i, int p)
{
    size_t ld = f->rows;
    return i < p ? f->a[ld * i + p] : f->a[ld * p + i];
}

/* The largest magnitude of column p in rows k to end, off the diagonal and off row `but`. */
static double largest_in_panel(const struct front *f, int p, int k, int end, int but)
{
    const double *column = f->a + (size_t)f->rows * p;
    double most = 0, rest;
    for (int i = k; i < p && i < end; i++)
        if (i != but) most = larger(fabs(entry_of(f, i, p)), most);
    int from = p + 1 > k ? p + 1 : k, to = but >= from && but < end ? but : end;
    rest = largest(column + from, to - from);
    if (to < end) rest = larger(largest(column + to + 1, end - to - 1), rest);
    return larger(rest, most);
}

/* Eliminates the pivot of order one k from columns k + 1 to end of a panel; it becomes a column of L. */
static void eliminate_one(struct front *f, int k, int end)
{
    size_t ld = f->rows;
    double *restrict pivot = f->a + ld * k, inverse = 1 / pivot[k];
    f->d[2 * k] = pivot[k], f->d[2 * k + 1] = 0;
    for (int j = k + 1; j < end; j++) {
        double *restrict x = f->a + ld * j, factor = pivot[j] * inverse;
        if (factor != 0)
            for (int i = j; i < f->rows; i++) x[i] -= pivot[i] * factor;
    }
    pivot[k] = 1;
    for (int i = k + 1; i < f->rows; i++) pivot[i] *= inverse;
}

/* Eliminates the pivot of order two k and k + 1 from columns k + 2 to end of a panel. */
static void eliminate_two(struct front *f, int k, int end)
{
    size_t ld = f->rows;
    double *restrict x = f->a + ld * k, *restrict y = x + ld, beside = x[k + 1];
    double above = x[k] / beside, below = y[k + 1] / beside, scale = 1 / (beside * (above * below - 1));
    f->d[2 * k] = x[k], f->d[2 * k + 1] = beside, f->d[2 * k + 2] = y[k + 1], f->d[2 * k + 3] = 0;
    for (int j = k + 2; j < end; j++) {
        double *restrict z = f->a + ld * j;
        double p = (below * x[j] - y[j]) * scale, q = (above * y[j] - x[j]) * scale;
        for (int i = j; i < f->rows; i++) z[i] -= x[i] * p + y[i] * q;
    }
    x[k] = y[k + 1] = 1, x[k + 1] = 0;
    for (int i = k + 2; i < f->rows; i++) {
        double p = (below * x[i] - y[i]) * scale, q = (above * y[i] - x[i]) * scale;
        x[i] = p, y[i] = q;
    }
}

#define ISOLATED 1e-4  /* of the threshold, for a column with one row below */
#define PREFERRED 0.01 /* threshold of pivots as long as others may come */
#define RELAXATION 1e-3 /* what it is multiplied by where none is left that meets it */

/* Whether the pivot of order two at p and r is stable within a threshold (Duff, Reid 1983). */
static int stable_pair(const struct front *f, int p, int r, double most_p, double most_r, double threshold)
{
    size_t ld = f->rows;
    double a = f->a[ld * p + p], b = f->a[ld * r + r], c = p < r ? f->a[ld * p + r] : f->a[ld * r + p];
    double scale = fabs(c), determinant = fabs(a / scale * b - scale);
    if (!(determinant > 0.01 * fmax(fabs(a) * fabs(b) / scale, scale))) return 0; /* cancelled */
    return threshold * (fabs(b) / scale * most_p + most_r) <= determinant
        && threshold * (most_p + fabs(a) / scale * most_r) <= determinant;
}

/* Tries to eliminate column p of a panel whose next pivot is k, by itself or with the row of its largest entry in the
panel. Returns the order of the pivot, 0 if none is stable, or NONE where there is no number. */
static int try_pivot(struct front *f, int k, int p, int end, double threshold)
{
    size_t ld = f->rows;
    double zero = f->zero[f->position[p]];
    double diagonal = fabs(f->a[ld * p + p]), panel = largest_in_panel(f, p, k, end, NONE);
    double below = largest(f->a + ld * p + end, f->rows - end);
    if (!(diagonal + panel + below < INFINITY)) return NONE;
    if (diagonal > zero && diagonal >= threshold * larger(panel, below)) {
        exchange(f, k, p);
        eliminate_one(f, k, end);
        return 1;
    }
    if (!(panel > 0)) return 0;
    int r = k;
    while (r == p || fabs(entry_of(f, r, p)) != panel) r++;
    if (!(panel > sqrt(zero * f->zero[f->position[r]]))) return 0;
    double most_p = larger(largest_in_panel(f, p, k, end, r), below);
    double most_r = larger(largest_in_panel(f, r, k, end, p), largest(f->a + ld * r + end, f->rows - end));
    if (!stable_pair(f, p, r, most_p, most_r, threshold)) return 0;
    exchange(f, k, p < r ? p : r);
    exchange(f, k + 1, p < r ? r : p);
    eliminate_two(f, k, end);
    return 2;
}

/* Eliminates pivots from columns begin to end, which are up to date with all pivots before; those without one move to
the end. In the last panel of a front the threshold is relaxed where no pivot is left that meets it, down to the one
that is asked for. Returns the number eliminated, or NONE where there is no number. */
static int eliminate_panel(struct front *f, int begin, int end, double threshold, int last)
{
    int k = begin, p = begin, progress = 0;
    double bound = larger(threshold, PREFERRED);
    while (k < end) {
        if (p >= end) { /* once more, if that brought any */
            if (!progress && (!last || bound <= threshold)) break;
            if (!progress) bound = larger(threshold, bound * RELAXATION);
            progress = 0, p = k;
        }
        int order = try_pivot(f, k, p, end, bound);
        if (order == NONE) return NONE;
        k += order, progress |= order > 0;
        p = order == 2 && p < k ? k : p + 1;
    }
    return k - begin;
}

/* Eliminates the pivots of a front, panel by panel. A column without one waits behind the others, multipliers for
their variables as a rule, and is tried again as long as that brings pivots; at last all that wait are tried together.
Returns 0 where there is no number. */
static int eliminate(struct front *f, double threshold, double *pack)
{
    size_t ld = f->rows;
    int k = 0, waiting = 0, before = 0;
    while (k < f->fully_summed) {
        int left = f->fully_summed - k, again = waiting == left, last = left <= PANEL || (again && k == before);
        if (again) before = k, waiting = 0;
        int end = last ? f->fully_summed : k + (left - waiting < PANEL ? left - waiting : PANEL);
        int count = eliminate_panel(f, k, end, threshold, last);
        if (count == NONE) return 0;
        assert(k + count <= end);
        if (end < f->fully_summed)
            update_by_pivots(f->a + ld * end + end, ld, f->rows - end, f->fully_summed - end, f->a + ld * k + end, ld,
                             count, f->d + 2 * k, pack);
        k += count;
        if (last) break;
        for (int p = end - 1; p >= k; p--) {
            int to = f->fully_summed - 1 - waiting++;
            exchange(f, p < to ? p : to, p < to ? to : p);
        }
    }
    f->pivots = k;
    return 1;
}
