/* Symbolic analysis: the elimination tree (Liu 1990) of an order, supernodes, amalgamation where it saves time, and the
pattern of every front. All of it depends on the pattern alone. */

#include "multifrontal.h"

static void free_analysis(struct analysis *a)
{
    if (!a) return;
    free(a->pattern), free(a->variable), free(a->first), free(a->parent), free(a->last_child), free(a->previous);
    free(a->level), free(a->below), free(a->rows), free(a->in_parent), free(a->entry), free(a->source), free(a->row);
    free(a->column), free(a);
}

/* Both triangles of a pattern without the diagonal: starts, then neighbours. Returns 0 without memory. */
static int both_triangles(int n, const int *pattern, size_t **starts, int **neighbours)
{
    const int *row = pattern + n + 1;
    size_t *start = *starts = calloc(n + 1, sizeof(size_t));
    int *neighbour = *neighbours = malloc((2 * (size_t)pattern[n] + 1) * sizeof(int));
    if (!start || !neighbour) return 0;
    for (int pass = 0; pass < 2; pass++) { /* counts, then fills every list from its end */
        for (int j = 0; j < n; j++)
            for (int p = pattern[j] - 1; p < pattern[j + 1] - 1; p++) {
                int i = row[p] - 1;
                if (i == j) continue;
                if (pass) neighbour[--start[i]] = j, neighbour[--start[j]] = i;
                else start[i]++, start[j]++;
            }
        for (int i = 1; i <= n && !pass; i++) start[i] += start[i - 1];
    }
    return 1;
}

/* Postorder of a forest: `order`, shape (n,), children before parents, subtrees without gaps; `work` has 2 n places. */
static void postorder(int n, const int *parent, int *order, int *work)
{
    int *head = work, *next = work + n, count = 0;
    for (int i = 0; i < n; i++) head[i] = NONE;
    for (int i = n - 1; i >= 0; i--)
        if (parent[i] != NONE) next[i] = head[parent[i]], head[parent[i]] = i;
    for (int root = 0; root < n; root++) {
        if (parent[root] != NONE) continue;
        for (int i = root; i != NONE;) {
            while (head[i] != NONE) { /* down to the first leaf */
                int child = head[i];
                head[i] = next[child], i = child;
            }
            order[count++] = i, i = i == root ? NONE : parent[i];
        }
    }
    assert(count == n);
}

/* The elimination tree of an order: parent of every position, by ancestors with path compression. */
static void elimination_tree(int n, const size_t *start, const int *neighbour, const int *variable, int *place,
                             int *ancestor, int *parent)
{
    for (int k = 0; k < n; k++) place[variable[k]] = k;
    for (int k = 0; k < n; k++) {
        parent[k] = ancestor[k] = NONE;
        for (size_t p = start[variable[k]]; p < start[variable[k] + 1]; p++)
            for (int i = place[neighbour[p]]; i != NONE && i < k;) {
                int above = ancestor[i];
                ancestor[i] = k;
                if (above == NONE) parent[i] = k;
                i = above;
            }
    }
}

/* The elimination tree of an order, which becomes a postorder of it, and the column counts of L, diagonal included.
Returns 0 without memory. */
static int tree_and_counts(int n, const size_t *start, const int *neighbour, int *variable, int *parent, int *counts)
{
    int *work = malloc((5 * (size_t)n + 1) * sizeof(int));
    if (!work) return 0;
    int *place = work, *ancestor = work + n, *order = work + 2 * (size_t)n, *old = work + 3 * (size_t)n;
    elimination_tree(n, start, neighbour, variable, place, ancestor, parent);
    postorder(n, parent, order, old);
    memcpy(old, variable, n * sizeof(int));
    for (int k = 0; k < n; k++) variable[k] = old[order[k]];
    elimination_tree(n, start, neighbour, variable, place, ancestor, parent);
    for (int k = 0; k < n; k++) counts[k] = 1, ancestor[k] = NONE;
    for (int k = 0; k < n; k++) { /* the columns in which row k of L has entries: its row subtree */
        ancestor[k] = k;
        for (size_t p = start[variable[k]]; p < start[variable[k] + 1]; p++)
            for (int i = place[neighbour[p]]; i < k && ancestor[i] != k; i = parent[i]) counts[i]++, ancestor[i] = k;
    }
    free(work);
    return 1;
}

/* Multiplications of a factorisation with these column counts. */
static double arithmetic(int n, const int *counts)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += (double)counts[k] * counts[k];
    return sum;
}

#ifndef COSTLY_ORDER
#define COSTLY_ORDER 1e6 /* multiplications from which on another order is tried */
#endif

/* The elimination order, its tree and its column counts: minimum degree or, where that takes less, nested dissection
before it. Of a motion in pieces the former may gather what belongs to all of them in one front. Returns 0 without
memory. */
static int choose_order(int n, const size_t *start, const int *neighbour, int *variable, int *tree, int *counts)
{
    if (!minimum_degree(n, start, neighbour, 0, variable)
        || !tree_and_counts(n, start, neighbour, variable, tree, counts))
        return 0;
    double least = arithmetic(n, counts);
    if (least < COSTLY_ORDER) return 1;
    size_t size = n * sizeof(int);
    int *work = malloc(4 * size);
    if (!work) return 0;
    int *rank = work, *other = work + n, *other_tree = work + 2 * (size_t)n, *other_counts = work + 3 * (size_t)n;
    int good = dissect(n, start, neighbour, rank) && minimum_degree(n, start, neighbour, rank, other)
        && tree_and_counts(n, start, neighbour, other, other_tree, other_counts);
    if (good && arithmetic(n, other_counts) < least) {
        memcpy(variable, other, size);
        memcpy(tree, other_tree, size);
        memcpy(counts, other_counts, size);
    }
    free(work);
    return good;
}

/* Time of a front, roughly [ns]: that it exists, extend-add, its arithmetic, and what the solves of an iteration
read. */
static double cost(double width, double rows)
{
    double below = rows - width;
    double squares = (rows * (rows + 1) * (2 * rows + 1) - below * (below + 1) * (2 * below + 1)) / 6;
    double entries = width * (rows - 0.5 * width);
    return 100 + 4 * rows + 0.7 * below * below + 0.15 * squares + 4 * entries;
}

/* Supernodes: fundamental ones, columns of the same structure, of which a child is amalgamated with its parent where
that costs less. The supernode of every position, the parent of every supernode, and their number; NONE without
memory. */
static int find_supernodes(int n, const int *tree, const int *counts, int *supernode, int *parent)
{
    int count = 0, kept = 0;
    int *width = malloc((3 * (size_t)n + 1) * sizeof(int));
    if (!width) return NONE;
    int *height = width + n, *into = width + 2 * (size_t)n;
    for (int k = 0; k < n; k++) {
        if (k && tree[k - 1] == k && counts[k - 1] == counts[k] + 1) width[count - 1]++;
        else width[count] = 1, height[count++] = counts[k];
        supernode[k] = count - 1;
    }
    for (int k = 0; k < n; k++) parent[supernode[k]] = tree[k] == NONE ? NONE : supernode[tree[k]]; /* the last counts */
    for (int s = 0; s < count; s++) {
        int p = parent[s];
        into[s] = s;
        if (p == NONE) continue;
        double apart = cost(width[s], height[s]) + cost(width[p], height[p]);
        if (cost(width[s] + width[p], width[s] + height[p]) > apart) continue;
        into[s] = p, width[p] += width[s], height[p] += width[s];
    }
    for (int s = count - 1; s >= 0; s--) into[s] = into[into[s]];
    int *number = width;
    for (int s = 0; s < count; s++)
        if (into[s] == s) number[s] = kept++;
    for (int s = 0; s < count; s++)
        if (into[s] == s) parent[number[s]] = parent[s] == NONE ? NONE : number[into[parent[s]]];
    for (int k = 0; k < n; k++) supernode[k] = number[into[supernode[k]]];
    free(width);
    return kept;
}

static int ascending(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

/* Numbers supernodes and positions in postorder, and moves the variables there. Returns 0 without memory. */
static int number_supernodes(struct analysis *a, const int *supernode, const int *parent)
{
    int n = a->n, count = a->supernodes;
    int *work = malloc((3 * (size_t)count + n + 1) * sizeof(int));
    if (!work) return 0;
    int *order = work, *rank = work + count, *old = work + 3 * (size_t)count, *next = order;
    postorder(count, parent, order, rank);
    for (int s = 0; s < count; s++) rank[order[s]] = s;
    memset(a->first, 0, (count + 1) * sizeof(int));
    for (int k = 0; k < n; k++) a->first[rank[supernode[k]] + 1]++;
    for (int s = 0; s < count; s++) a->first[s + 1] += a->first[s];
    memcpy(old, a->variable, n * sizeof(int));
    memcpy(next, a->first, count * sizeof(int));
    for (int k = 0; k < n; k++) a->variable[next[rank[supernode[k]]]++] = old[k];
    for (int s = 0; s < count; s++) a->parent[rank[s]] = parent[s] == NONE ? NONE : rank[parent[s]];
    for (int s = 0; s < count; s++) a->last_child[s] = NONE;
    for (int s = 0; s < count; s++) {
        int p = a->parent[s];
        assert(p == NONE || p > s);
        if (p != NONE) a->previous[s] = a->last_child[p], a->last_child[p] = s;
    }
    for (int s = count - 1; s >= 0; s--) a->level[s] = a->parent[s] == NONE ? 0 : !a->level[a->parent[s]];
    free(work);
    return 1;
}

/* Adds to the rows below supernode s those of a list that are not its own: at positions from `end` on. Returns 0
without memory. */
static int add_rows(struct list *rows, const int *row, const int *place, size_t count, int s, int end, int *seen)
{
    if (!reserve(rows, count)) return 0;
    for (size_t p = 0; p < count; p++) {
        int i = place ? place[row[p]] : row[p];
        if (i >= end && seen[i] != s) seen[i] = s, rows->at[rows->size++] = i;
    }
    return 1;
}

/* The rows below every supernode, ascending: of its columns in A, and below its children. */
static int find_rows_below(struct analysis *a, const size_t *start, const int *neighbour, struct list *rows)
{
    int n = a->n, good = 1;
    int *work = malloc((2 * (size_t)n + 1) * sizeof(int));
    if (!work) return 0;
    int *place = work, *seen = work + n;
    for (int k = 0; k < n; k++) place[a->variable[k]] = k, seen[k] = NONE;
    for (int s = 0; s < a->supernodes && good; s++) {
        int end = a->first[s + 1];
        size_t begin = a->below[s] = rows->size;
        for (int k = a->first[s]; k < end && good; k++) {
            const size_t *list = start + a->variable[k];
            good = add_rows(rows, neighbour + list[0], place, list[1] - list[0], s, end, seen);
        }
        for (int c = a->last_child[s]; c != NONE && good; c = a->previous[c]) {
            good = reserve(rows, rows_below(a, c)); /* before its rows are read, as they may move */
            if (good) add_rows(rows, rows->at + a->below[c], 0, rows_below(a, c), s, end, seen);
        }
        if (rows->size > begin) qsort(rows->at + begin, rows->size - begin, sizeof(int), ascending);
        a->below[s + 1] = rows->size;
    }
    free(work);
    return good;
}

/* The rows below every supernode, and which rows of its parent's front they are. Returns 0 without memory. */
static int find_rows(struct analysis *a, const size_t *start, const int *neighbour)
{
    struct list rows = {0};
    int good = find_rows_below(a, start, neighbour, &rows);
    free(a->rows), free(a->in_parent);
    a->rows = rows.at, a->in_parent = good ? malloc((rows.size + 1) * sizeof(int)) : 0;
    for (int s = 0; s < a->supernodes && a->in_parent; s++) {
        int p = a->parent[s];
        assert(p != NONE || !rows_below(a, s));
        if (p == NONE) continue;
        int begin = a->first[p], end = a->first[p + 1];
        size_t at = a->below[p];
        for (size_t k = a->below[s]; k < a->below[s + 1]; k++) {
            int i = a->rows[k];
            assert(i >= begin);
            if (i >= end) while (a->rows[at] != i) at++;
            assert(i < end || at < a->below[p + 1]);
            a->in_parent[k] = i < end ? i - begin : end - begin + (int)(at - a->below[p]);
        }
    }
    return a->in_parent != 0;
}

struct child {
    int supernode, variable;
};

static int by_variable(const void *x, const void *y)
{
    return ((const struct child *)x)->variable - ((const struct child *)y)->variable;
}

/* The children of a supernode that may be amalgamated, in the order of IPOPT's variables. Slacks, alone with their
multiplier, remain so. */
static int children_of(const struct analysis *a, int s, struct child *children)
{
    int size = 0;
    for (int c = a->last_child[s]; c != NONE; c = a->previous[c])
        if (width_of(a, c) + rows_below(a, c) > 2)
            children[size++] = (struct child){c, a->variable[a->first[c + 1] - 1]};
    qsort(children, size, sizeof(struct child), by_variable);
    return size;
}

/* Children of one supernode with much the same rows become one, where that costs less, as many rows of constraints on
the same variables do: they are eliminated by one product of matrices. The supernode of every position and the parent of
every supernode, as from `find_supernodes`; the number of supernodes, or NONE without memory. */
static int amalgamate_siblings(const struct analysis *a, int *supernode, int *parent)
{
    int count = a->supernodes, n = a->n, kept = 0;
    struct child *children = malloc((count + 1) * sizeof(struct child));
    int *work = malloc((2 * (size_t)count + 2 * (size_t)n + 1) * sizeof(int));
    if (!children || !work) {
        free(children), free(work);
        return NONE;
    }
    int *into = work, *number = work + count, *rows = work + 2 * (size_t)count, *seen = rows + n;
    for (int s = 0; s < count; s++) into[s] = s;
    for (int k = 0; k < n; k++) seen[k] = NONE;
    for (int p = 0; p < count; p++) {
        int size = children_of(a, p, children), group = NONE, width = 0, below = 0; /* of the group */
        for (int k = 0; k < size; k++) {
            int c = children[k].supernode, columns = width_of(a, c), mine = rows_below(a, c), joined = below;
            const int *row = a->rows + a->below[c];
            for (int l = 0; group != NONE && l < mine; l++)
                if (seen[row[l]] != group) rows[joined++] = row[l];
            double apart = cost(width, width + below) + cost(columns, columns + mine);
            if (group != NONE && cost(width + columns, width + columns + joined) <= apart) {
                into[c] = group, width += columns;
            } else {
                group = c, width = columns, below = 0, joined = mine;
                memcpy(rows, row, mine * sizeof(int));
            }
            for (; below < joined; below++) seen[rows[below]] = group;
        }
    }
    for (int s = 0; s < count; s++)
        if (into[s] == s) number[s] = kept++;
    for (int s = 0; s < count; s++) {
        for (int k = a->first[s]; k < a->first[s + 1]; k++) supernode[k] = number[into[s]];
        if (into[s] == s) parent[number[s]] = a->parent[s] == NONE ? NONE : number[into[a->parent[s]]];
    }
    free(children), free(work);
    return kept;
}

/* The row of a front that a position is. */
static int row_in_front(const struct analysis *a, int s, int position)
{
    int local = position - a->first[s], width = width_of(a, s);
    if (local < width) return local;
    const int *rows = a->rows + a->below[s];
    const int *found = bsearch(&position, rows, rows_below(a, s), sizeof(int), ascending);
    assert(found);
    return width + (int)(found - rows);
}

/* Where in which front the entries of A are. Returns 0 without memory. */
static int map_entries(struct analysis *a)
{
    int n = a->n, *row = a->pattern + n + 1;
    int *place = malloc((2 * (size_t)n + 1) * sizeof(int));
    if (!place) return 0;
    int *supernode = place + n;
    for (int k = 0; k < n; k++) place[a->variable[k]] = k;
    for (int s = 0; s < a->supernodes; s++)
        for (int k = a->first[s]; k < a->first[s + 1]; k++) supernode[k] = s;
    memset(a->entry, 0, (a->supernodes + 1) * sizeof(size_t));
    for (int pass = 0; pass < 2; pass++) { /* counts, then fills every list from its end */
        for (int j = n - 1; j >= 0; j--)
            for (int p = a->pattern[j + 1] - 2; p >= a->pattern[j] - 1; p--) {
                int x = place[j], y = place[row[p] - 1], least = x < y ? x : y, most = x < y ? y : x;
                int s = supernode[least];
                if (!pass) {
                    a->entry[s]++;
                    continue;
                }
                size_t at = --a->entry[s];
                a->source[at] = p, a->row[at] = row_in_front(a, s, most), a->column[at] = least - a->first[s];
            }
        for (int s = 1; s <= a->supernodes && !pass; s++) a->entry[s] += a->entry[s - 1];
    }
    free(place);
    return 1;
}

/* Memory of an analysis but its supernodes, and the pattern in it. Returns 0 without memory. */
static int copy_pattern(struct analysis *a, int n, const int *start, const int *row)
{
    size_t nonzeros = start[n] - 1;
    a->n = n;
    if (!(a->pattern = malloc((n + 1 + nonzeros) * sizeof(int))) || !(a->variable = malloc((n + 1) * sizeof(int)))
        || !(a->source = malloc((nonzeros + 1) * sizeof(int))) || !(a->row = malloc((nonzeros + 1) * sizeof(int)))
        || !(a->column = malloc((nonzeros + 1) * sizeof(int))))
        return 0;
    memcpy(a->pattern, start, (n + 1) * sizeof(int));
    memcpy(a->pattern + n + 1, row, nonzeros * sizeof(int));
    return 1;
}

/* Memory for the supernodes of an analysis. Returns 0 without. */
static int allocate_supernodes(struct analysis *a)
{
    size_t count = a->supernodes + 1;
    return (a->first = malloc(count * sizeof(int))) && (a->parent = malloc(count * sizeof(int)))
        && (a->last_child = malloc(count * sizeof(int))) && (a->previous = malloc(count * sizeof(int)))
        && (a->level = malloc(count * sizeof(int))) && (a->below = calloc(count, sizeof(size_t)))
        && (a->entry = malloc(count * sizeof(size_t)));
}

/* Supernodes and rows of an analysis that has its pattern. Returns 0 without memory. */
static int find_structure(struct analysis *a, const size_t *start, const int *neighbour, int *work)
{
    int n = a->n, *tree = work, *counts = work + n, *supernode = work + 2 * (size_t)n, *parent = work + 3 * (size_t)n;
    return choose_order(n, start, neighbour, a->variable, tree, counts)
        && (a->supernodes = find_supernodes(n, tree, counts, supernode, parent)) != NONE && allocate_supernodes(a)
        && number_supernodes(a, supernode, parent) && find_rows(a, start, neighbour)
        && (a->supernodes = amalgamate_siblings(a, supernode, parent)) != NONE
        && number_supernodes(a, supernode, parent) && find_rows(a, start, neighbour) && map_entries(a);
}

/* The analysis of a pattern; null without memory. */
static struct analysis *analyse(int n, const int *start, const int *row)
{
    struct analysis *a = calloc(1, sizeof(struct analysis));
    size_t *begin = 0;
    int *neighbour = 0, *work = malloc((4 * (size_t)n + 1) * sizeof(int));
    int good = a && work && copy_pattern(a, n, start, row) && both_triangles(n, a->pattern, &begin, &neighbour)
        && find_structure(a, begin, neighbour, work);
    free(begin), free(neighbour), free(work);
    if (!good) {
        free_analysis(a);
        return 0;
    }
    for (int s = 0; s < a->supernodes; s++) {
        size_t width = width_of(a, s);
        a->entries += width * (width + rows_below(a, s));
    }
    size_t nonzeros = start[n] - 1, rows = a->below[a->supernodes];
    a->bytes = sizeof *a + sizeof(int) * (2 * (size_t)n + 4 * nonzeros + 2 * rows)
        + (5 * sizeof(int) + 2 * sizeof(size_t)) * a->supernodes;
    return a;
}
