/* Sparse symmetric indefinite systems A x = b, factorised A = L D L' front by front, behind the entry points by which
IPOPT calls HSL_MA97.

Order: approximate minimum degree (Amestoy, Davis, Duff 1996), after dissection where that is cheaper, once a pattern.
Columns of like structure are eliminated together in dense fronts, and what they leave is added to the front of the
parent (Duff, Reid 1983). Pivots are of order one or two, from the columns of a front that are complete, and stable
within a threshold; a column without such a pivot is delayed to the parent, so that the signs of D are the inertia of A.
Pivoting depends on the numbers alone: the same system has the same solution, to the last bit, whoever else computes.

Where that pays, subtrees are factorised by several threads, and what is above them by one: no front is added to in
another order than by one thread, so that digits are the same. Every instance has its own factors; orders are shared,
behind a lock. */

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#if defined(__AVX512F__)
#define LANES 8
#define COLUMNS 8 /* of a tile, which registers hold */
#elif defined(__AVX__)
#define LANES 4
#define COLUMNS 4
#else
#define LANES 2
#define COLUMNS 4
#endif
#define ROWS (2 * LANES)
#define PANEL 16 /* pivots between two updates of the other complete columns of a front */
#define DEPTH 64 /* pivots of one update of what is not complete */

typedef double V __attribute__((vector_size(8 * LANES)));
typedef double U __attribute__((vector_size(8 * LANES), aligned(8), may_alias)); /* at any address */

enum { NO_MEMORY = -1, SINGULAR = -7, TOO_DEAR = -100 }; /* HSL_MA97's flags, as IPOPT reads them, and one of ours */

struct list { /* grows */
    int *at;
    size_t size, room;
};

static int reserve(struct list *list, size_t more)
{
    if (list->size + more <= list->room) return 1;
    size_t room = list->size + more + list->room / 2;
    int *at = realloc(list->at, room * sizeof(int));
    if (!at) return 0;
    list->at = at, list->room = room;
    return 1;
}

/* Order ---------------------------------------------------------------------------------------------------------- */

#define NONE -1

/* The quotient graph of approximate minimum degree. A variable lists elements first, `elements` of them, then
variables; an element lists variables. What is absorbed has another as its `heir`. */
struct graph {
    struct list lists;
    size_t *start;
    int *length, *elements, *weight, *degree, *mark, *heir, *next, *last, *head, *hash, *bucket, *step;
};

static void unlist(struct graph *g, int i)
{
    if (g->next[i] != NONE) g->last[g->next[i]] = g->last[i];
    if (g->last[i] != NONE) g->next[g->last[i]] = g->next[i];
    else g->head[g->degree[i]] = g->next[i];
}

static void enlist(struct graph *g, int i, int degree)
{
    int first = g->head[degree];
    if (first != NONE) g->last[first] = i;
    g->next[i] = first, g->last[i] = NONE, g->head[degree] = i, g->degree[i] = degree;
}

/* Takes a variable into the new element, if it is not in it yet: its weight is negative as long as it is. */
static int take(struct graph *g, int i)
{
    int weight = g->weight[i];
    if (weight <= 0) return 0;
    g->weight[i] = -weight;
    unlist(g, i);
    g->lists.at[g->lists.size++] = i;
    return weight;
}

/* Makes the pivot an element: the variables of its list and of its elements, which it absorbs. */
static int make_element(struct graph *g, int pivot)
{
    size_t begin = g->lists.size, p = g->start[pivot], most = g->length[pivot];
    for (int k = 0; k < g->elements[pivot]; k++) most += g->length[g->lists.at[p + k]];
    if (!reserve(&g->lists, most)) return NONE;
    int degree = 0, count = g->elements[pivot], own = g->length[pivot] - count;
    for (int k = 0; k <= count; k++) {
        int e = k < count ? g->lists.at[p + k] : pivot, length = k < count ? g->length[e] : own;
        size_t from = k < count ? g->start[e] : p + count;
        for (int l = 0; l < length; l++) degree += take(g, g->lists.at[from + l]);
        if (k < count) g->heir[e] = pivot, g->mark[e] = 0;
    }
    g->start[pivot] = begin, g->length[pivot] = (int)(g->lists.size - begin), g->elements[pivot] = NONE;
    return degree;
}

/* Marks elements so that mark - flag is the weight of what they have beyond the new element. */
static void measure_elements(struct graph *g, int pivot, int flag)
{
    for (int k = 0; k < g->length[pivot]; k++) {
        int i = g->lists.at[g->start[pivot] + k];
        for (int l = 0; l < g->elements[i]; l++) {
            int e = g->lists.at[g->start[i] + l];
            if (g->mark[e] >= flag) g->mark[e] += g->weight[i];
            else if (g->mark[e]) g->mark[e] = g->degree[e] + g->weight[i] + flag;
        }
    }
}

/* New lists and degrees of the variables of the new element; those that have nothing else go with it. */
static int prune(struct graph *g, int pivot, int degree, int flag, int n, int *done)
{
    for (int k = 0; k < g->length[pivot]; k++) {
        int i = g->lists.at[g->start[pivot] + k], external = 0, count = 0, kept;
        int *list = g->lists.at + g->start[i];
        unsigned hash = 0;
        for (int l = 0; l < g->elements[i]; l++) {
            int e = list[l];
            if (!g->mark[e]) continue;
            if (g->mark[e] > flag) external += g->mark[e] - flag, list[count++] = e, hash += e;
            else g->heir[e] = pivot, g->mark[e] = 0; /* it has nothing else either */
        }
        kept = count;
        for (int l = g->elements[i]; l < g->length[i]; l++) {
            int j = list[l];
            if (g->weight[j] > 0) external += g->weight[j], list[count++] = j, hash += j;
        }
        if (!count) {
            degree += g->weight[i], g->weight[pivot] += g->weight[i], *done -= g->weight[i]; /* both negative */
            g->weight[i] = 0, g->heir[i] = pivot, g->elements[i] = NONE;
            continue;
        }
        if (external < g->degree[i]) g->degree[i] = external;
        list[count] = list[kept], list[kept] = list[0], list[0] = pivot; /* there is room: something was absorbed */
        g->elements[i] = kept + 1, g->length[i] = count + 1, g->hash[i] = (int)(hash % n);
        g->next[i] = g->bucket[g->hash[i]], g->bucket[g->hash[i]] = i;
    }
    return degree;
}

/* Variables with the same lists become one. */
static int merge(struct graph *g, int pivot, int flag)
{
    for (int k = 0; k < g->length[pivot]; k++) {
        int i = g->lists.at[g->start[pivot] + k];
        if (g->weight[i] >= 0) continue;
        int first = g->bucket[g->hash[i]];
        g->bucket[g->hash[i]] = NONE;
        for (; first != NONE && g->next[first] != NONE; first = g->next[first], flag++) {
            for (int l = 1; l < g->length[first]; l++) g->mark[g->lists.at[g->start[first] + l]] = flag;
            for (int before = first, j = g->next[first]; j != NONE; j = g->next[j]) {
                int same = g->length[j] == g->length[first] && g->elements[j] == g->elements[first];
                for (int l = 1; same && l < g->length[j]; l++) same = g->mark[g->lists.at[g->start[j] + l]] == flag;
                if (!same) {
                    before = j;
                    continue;
                }
                g->weight[first] += g->weight[j], g->weight[j] = 0, g->heir[j] = first, g->elements[j] = NONE;
                g->next[before] = g->next[j];
            }
        }
    }
    return flag;
}

/* What is left of the new element's variables goes back into the lists of degrees. */
static void restore(struct graph *g, int pivot, int degree, int left, int *least)
{
    int *list = g->lists.at + g->start[pivot], count = 0;
    for (int k = 0; k < g->length[pivot]; k++) {
        int i = list[k];
        if (g->weight[i] >= 0) continue;
        int weight = g->weight[i] = -g->weight[i], external = g->degree[i] + degree - weight;
        if (external > left - weight) external = left - weight;
        enlist(g, i, external);
        if (external < *least) *least = external;
        list[count++] = i;
    }
    g->length[pivot] = count, g->degree[pivot] = degree;
    g->lists.size = g->start[pivot] + count;
}

/* Whether nearly all others know a variable, which comes last then. */
static int is_dense(int n, size_t length)
{
    double many = 10 * sqrt(n);
    return length > (many < 16 ? 16 : many);
}

/* Variables that come last, after all others: those that are late, if any are, and dense ones. */
static int set_aside(struct graph *g, int n, const int *late)
{
    int aside = 0;
    for (int i = 0; i < n; i++)
        if ((late && late[i]) || is_dense(n, g->length[i]))
            g->weight[i] = 0, g->heir[i] = NONE, g->elements[i] = NONE, aside++;
    return aside;
}

/* An order of the variables of a symmetric pattern without its diagonal: `step` of each, not all of them different.
Late variables come after the others, by how late they are. */
static int order_graph(struct graph *g, int n, const int *late)
{
    int done = 0, flag = 1, least = 0, steps = 0, largest = 0;
    for (int i = 0; i < n; i++) {
        g->weight[i] = 1, g->mark[i] = 1, g->elements[i] = 0, g->heir[i] = NONE, g->step[i] = NONE;
        g->head[i] = NONE, g->bucket[i] = NONE;
    }
    int total = n - set_aside(g, n, late);
    for (int i = n - 1; i >= 0; i--)
        if (g->weight[i]) enlist(g, i, g->length[i]);
    while (done < total) {
        while (g->head[least] == NONE) least++;
        int pivot = g->head[least];
        unlist(g, pivot);
        done += g->weight[pivot];
        g->weight[pivot] = -g->weight[pivot];
        int degree = make_element(g, pivot);
        if (degree == NONE) return 0;
        g->degree[pivot] = degree;
        measure_elements(g, pivot, flag);
        degree = prune(g, pivot, degree, flag, n, &done);
        if (g->degree[pivot] > largest) largest = g->degree[pivot];
        flag += largest + 1;
        if (flag > INT32_MAX / 2) {
            for (int i = 0; i < n; i++) g->mark[i] = g->mark[i] != 0;
            flag = 2;
        }
        flag = merge(g, pivot, flag);
        restore(g, pivot, degree, total - done, &least);
        g->weight[pivot] = -g->weight[pivot], g->step[pivot] = steps++;
    }
    for (int i = 0; i < n; i++) {
        int element = i;
        while (g->step[element] == NONE && g->heir[element] != NONE) element = g->heir[element];
        int step = g->step[element] == NONE ? steps + (late ? late[element] : 0) : g->step[element];
        for (int j = i; g->step[j] == NONE && g->heir[j] != NONE;) { /* shortens the way of the next */
            int heir = g->heir[j];
            g->heir[j] = element, j = heir;
        }
        g->bucket[i] = step;
    }
    for (int i = 0; i < n; i++) g->step[i] = g->bucket[i];
    return 1;
}

/* Analysis ------------------------------------------------------------------------------------------------------- */

/* The fronts of a pattern, children before parents. Variables are called by their place in the order of elimination. */
struct analysis {
    int n, fronts, users;
    int *pattern;   /* as IPOPT gave it: n + 1 starts, then rows, counted from 1 */
    int *variable;  /* at every place */
    int *first;     /* place of a front's first own variable; its other own ones follow */
    int *parent;    /* NONE for roots */
    int *child;     /* the last one of a front, or NONE */
    int *sibling;   /* the one before, or NONE */
    int *level;     /* distance from the root, modulo 2 */
    size_t *border; /* start of a front's other rows, and of the row of each in the parent's front */
    int *rows, *above;
    size_t *entry; /* start of a front's entries of A: their number, row and column in the front */
    int *source, *row, *column;
    size_t factor;               /* entries of L, unless pivots are delayed */
    struct analysis *next;
};

static void forget(struct analysis *a)
{
    if (!a) return;
    free(a->pattern), free(a->variable), free(a->first), free(a->parent), free(a->child), free(a->sibling);
    free(a->level), free(a->border), free(a->rows), free(a->above), free(a->entry), free(a->source), free(a->row);
    free(a->column), free(a);
}

/* Both triangles of a pattern without the diagonal: starts, then neighbours. */
static int whole(int n, const int *pattern, size_t **starts, int **neighbours)
{
    const int *row = pattern + n + 1;
    size_t *start = *starts = calloc(n + 1, sizeof(size_t));
    int *neighbour = *neighbours = malloc((2 * (size_t)pattern[n] + 1) * sizeof(int));
    if (!start || !neighbour) return 0;
    for (int turn = 0; turn < 2; turn++) { /* counts, then fills every list from its end */
        for (int j = 0; j < n; j++)
            for (int p = pattern[j] - 1; p < pattern[j + 1] - 1; p++) {
                int i = row[p] - 1;
                if (i == j) continue;
                if (turn) neighbour[--start[i]] = j, neighbour[--start[j]] = i;
                else start[i]++, start[j]++;
            }
        for (int i = 1; i <= n && !turn; i++) start[i] += start[i - 1];
    }
    return 1;
}

#define LEAF 200 /* variables of a part that is not dissected further */
#define THICK 16 /* of a part, in what is too much to cut it */
#define BAND 2   /* levels beyond the thinnest one that a cut may be in */

/* A part of a graph, those it can reach from a root within it: in `queue` by their distance, `level`. How many. */
static int reach(const size_t *start, const int *neighbour, const int *part, int root, int *level, int *queue)
{
    int size = 1;
    level[root] = 0, queue[0] = root;
    for (int k = 0; k < size; k++)
        for (size_t p = start[queue[k]]; p < start[queue[k] + 1]; p++) {
            int j = neighbour[p];
            if (part[j] == part[root] && level[j] == NONE) level[j] = level[queue[k]] + 1, queue[size++] = j;
        }
    return size;
}

/* Whether a variable has a neighbour in its part at some level. */
static int touches(const size_t *start, const int *neighbour, const int *part, const int *level, int i, int at)
{
    for (size_t p = start[i]; p < start[i + 1]; p++)
        if (part[neighbour[p]] == part[i] && level[neighbour[p]] == at) return 1;
    return 0;
}

/* A search for the fewest variables that cut a part between two levels: as many as there are paths across without one
in common (Menger 1927). Variables are passed from their front, state 2 i, to their back, 2 i + 1. */
struct cut {
    const size_t *start;
    const int *neighbour, *part, *level;
    int low, high;         /* levels that may be cut */
    int *before;           /* of every variable on a path, the one before it there, or itself; NONE of others */
    int *seen, *next, *at; /* round when a state was seen last; of every variable its next neighbour; states of a walk */
};

/* One path more, from a variable of the lowest level; where a walk meets another path it may go back along that. */
static int add_path(struct cut *c, int root, int round)
{
    int depth = 0;
    c->at[0] = 2 * root, c->seen[2 * root] = round;
    while (depth >= 0) {
        int i = c->at[depth] / 2, to = NONE;
        if (c->at[depth] % 2 == 0) {
            if (c->before[i] != i) to = 2 * (c->before[i] == NONE ? i : c->before[i]) + 1;
            if (to != NONE && c->seen[to] == round) to = NONE;
            if (to != NONE) c->next[to / 2] = 0;
        } else {
            if (c->level[i] == c->high && touches(c->start, c->neighbour, c->part, c->level, i, c->high + 1)) break;
            int degree = (int)(c->start[i + 1] - c->start[i]);
            while (to == NONE && c->next[i] < degree) {
                int j = c->neighbour[c->start[i] + c->next[i]++];
                if (c->part[j] == c->part[i] && c->level[j] >= c->low && c->level[j] <= c->high
                    && c->seen[2 * j] != round)
                    to = 2 * j;
            }
            if (to == NONE && c->before[i] != NONE && c->seen[2 * i] != round) to = 2 * i;
        }
        if (to == NONE) depth--;
        else c->seen[to] = round, c->at[++depth] = to;
    }
    for (int k = 0; k <= depth; k++) {
        int i = c->at[k] / 2, from = k ? c->at[k - 1] / 2 : i;
        if (c->at[k] % 2 == 0) c->before[i] = k && from == i ? NONE : from;
    }
    return depth >= 0;
}

/* Paths between the levels of a cut, as many as there are, from `size` variables of a part; then the front of what cuts
has been seen in the last round, and its back has not. The number of that round. */
static int find_paths(struct cut *c, const int *variables, int size)
{
    for (int k = 0; k < size; k++) {
        int i = variables[k];
        c->before[i] = c->seen[2 * i] = c->seen[2 * i + 1] = NONE;
    }
    for (int round = 0;; round++) {
        int more = 0;
        for (int k = 0; k < size; k++) {
            int i = variables[k];
            if (c->level[i] == c->low && c->seen[2 * i] != round
                && touches(c->start, c->neighbour, c->part, c->level, i, c->low - 1))
                more += add_path(c, i, round);
        }
        if (!more) return round;
    }
}

/* Nested dissection (George 1973) along a graph that is long, as of a motion in time: each part is cut by the fewest
variables about the thinnest level of a search in breadth, between its quarters. How late every variable is: 0 in what
is not cut any further, the more the larger the part that it cuts, and most if it is dense. */
static int dissect(int n, const size_t *start, const int *neighbour, int *late)
{
    int *work = malloc((13 * (size_t)n + 1) * sizeof(int)), cuts = 0, parts = 1, stack = 0, count = 0;
    if (!work) return 0;
    int *nodes = work, *part = work + n, *level = work + 2 * n, *queue = work + 3 * n, *ends = work + 4 * n;
    int *thin = work + 5 * (size_t)n, *side = work + 6 * (size_t)n, *room = work + 7 * (size_t)n;
    struct cut c = {start, neighbour, part, level, 0, 0, room, room + n, room + 3 * (size_t)n, room + 4 * (size_t)n};
    for (int i = 0; i < n; i++) {
        late[i] = is_dense(n, start[i + 1] - start[i]) ? n + 1 : 0;
        part[i] = late[i] ? NONE : 0;
        if (!late[i]) nodes[count++] = i;
    }
    for (ends[stack++] = count; stack;) { /* parts in `nodes`, one after the other, the last one first */
        int end = ends[--stack], begin = stack ? ends[stack - 1] : 0, size = 0, pieces = 0, best = NONE, below = 0;
        if (end - begin <= LEAF) continue;
        for (int k = begin; k < end; k++) level[nodes[k]] = NONE;
        for (int k = begin; k < end; k++) {
            if (level[nodes[k]] != NONE) continue;
            int more = reach(start, neighbour, part, nodes[k], level, queue + size);
            for (int l = size; l < size + more; l++) part[queue[l]] = parts;
            size += more, parts++, pieces++, ends[stack++] = begin + size;
        }
        memcpy(nodes + begin, queue, size * sizeof(int));
        if (pieces > 1) continue;
        stack--;
        for (int turn = 0; turn < 2; turn++) { /* from an end */
            int root = queue[size - 1];
            for (int k = begin; k < end; k++) level[nodes[k]] = NONE;
            reach(start, neighbour, part, root, level, queue);
        }
        int highest = level[queue[size - 1]];
        for (int l = 0; l <= highest; l++) thin[l] = 0;
        for (int k = 0; k < size; k++) {
            int i = queue[k];
            thin[level[i]] += touches(start, neighbour, part, level, i, level[i] + 1);
        }
        for (int k = 0; k < size; k++) {
            int l = level[queue[k]];
            if (k + 1 < size && level[queue[k + 1]] == l) continue; /* all of a level are counted */
            if (below >= size / 4 && size - k - 1 >= size / 4 && (best == NONE || thin[l] < thin[best])) best = l;
            below = k + 1;
        }
        if (best == NONE) continue;
        c.low = best, c.high = best + BAND < highest ? best + BAND : highest - 1;
        int round = find_paths(&c, queue, size), next = begin, cut = 0;
        for (int k = 0; k < size; k++) {
            int i = queue[k], inside = level[i] >= c.low && level[i] <= c.high;
            int front = inside && c.seen[2 * i] == round, back = inside && c.seen[2 * i + 1] == round;
            side[k] = front && !back ? 0 : level[i] < c.low || back ? -1 : 1, cut += side[k] == 0;
            if (side[k] < 0) nodes[next++] = i;
        }
        if (cut > size / THICK) continue;
        ends[stack++] = next;
        for (int k = 0; k < size; k++) {
            int i = queue[k];
            if (side[k] == 0) late[i] = n - cuts, part[i] = NONE;
            if (side[k] > 0) part[i] = parts, nodes[next++] = i;
        }
        ends[stack++] = next, parts++, cuts++;
    }
    for (int i = 0; i < n; i++)
        if (late[i]) late[i] -= n - cuts;
    free(work);
    return 1;
}

/* Order of elimination: `variable` at every place. */
static int minimum_degree(int n, const size_t *start, const int *neighbour, const int *late, int *variable)
{
    struct graph g = {.lists = {0}};
    int *ints = malloc((13 * (size_t)n + 1) * sizeof(int)), **arrays[] = {
        &g.length, &g.elements, &g.weight, &g.degree, &g.mark, &g.heir, &g.next, &g.last, &g.head, &g.hash, &g.bucket,
        &g.step};
    g.start = malloc((n + 1) * sizeof(size_t));
    int good = ints && g.start && reserve(&g.lists, start[n] + start[n] / 2 + n + 1);
    if (good) {
        for (int k = 0; k < 12; k++) *arrays[k] = ints + (size_t)n * k;
        memcpy(g.lists.at, neighbour, start[n] * sizeof(int));
        memcpy(g.start, start, (n + 1) * sizeof(size_t));
        g.lists.size = start[n];
        for (int i = 0; i < n; i++) g.length[i] = (int)(start[i + 1] - start[i]);
        good = order_graph(&g, n, late);
    }
    if (good) { /* sorted by step */
        int *count = ints + 12 * (size_t)n;
        memset(count, 0, (n + 1) * sizeof(int));
        for (int i = 0; i < n; i++) count[g.step[i]]++;
        for (int k = 1; k <= n; k++) count[k] += count[k - 1];
        for (int i = n - 1; i >= 0; i--) variable[--count[g.step[i]]] = i;
    }
    free(ints), free(g.start), free(g.lists.at);
    return good;
}

/* Children before parents, families together: `order`, shape (n,), of the nodes of a forest. `work` has 2 n places. */
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
}

/* The elimination tree (Liu 1990) of an order, which it makes a postorder; and how many rows every column of L has. */
static int eliminate_symbolically(int n, const size_t *start, const int *neighbour, int *variable, int *parent,
                                  int *rows)
{
    int *work = malloc((5 * (size_t)n + 1) * sizeof(int));
    if (!work) return 0;
    int *place = work, *ancestor = work + n, *order = work + 2 * n, *old = work + 3 * n;
    for (int turn = 0; turn < 2; turn++) {
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
        if (turn) break;
        postorder(n, parent, order, old);
        memcpy(old, variable, n * sizeof(int));
        for (int k = 0; k < n; k++) variable[k] = old[order[k]];
    }
    for (int k = 0; k < n; k++) rows[k] = 1, ancestor[k] = NONE;
    for (int k = 0; k < n; k++) { /* the columns that row k of L has entries in */
        ancestor[k] = k;
        for (size_t p = start[variable[k]]; p < start[variable[k] + 1]; p++)
            for (int i = place[neighbour[p]]; i < k && ancestor[i] != k; i = parent[i]) rows[i]++, ancestor[i] = k;
    }
    free(work);
    return 1;
}

/* Multiplications that columns of L with so many rows take. */
static double arithmetic(int n, const int *rows)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += (double)rows[k] * rows[k];
    return sum;
}

#define DEAR_ORDER 1e6 /* multiplications from which on another order is tried */

/* The order of elimination, its tree and the rows of every column: of minimum degree or, where that takes less, with
dissection before. Of a motion in pieces the former may gather what belongs to all of them in one front. */
static int find_order(int n, const size_t *start, const int *neighbour, int *variable, int *tree, int *rows)
{
    if (!minimum_degree(n, start, neighbour, 0, variable)
        || !eliminate_symbolically(n, start, neighbour, variable, tree, rows))
        return 0;
    double least = arithmetic(n, rows);
    if (least < DEAR_ORDER) return 1;
    size_t size = n * sizeof(int);
    int *work = malloc(4 * size);
    int good = work && dissect(n, start, neighbour, work) && minimum_degree(n, start, neighbour, work, work + n)
        && eliminate_symbolically(n, start, neighbour, work + n, work + 2 * n, work + 3 * n);
    if (good && arithmetic(n, work + 3 * n) < least) {
        memcpy(variable, work + n, size);
        memcpy(tree, work + 2 * n, size);
        memcpy(rows, work + 3 * n, size);
    }
    free(work);
    return good;
}

/* Nanoseconds of a front, roughly: that it exists, that it is added to its parent's, its arithmetic, and what the
solves of an iteration read. */
static double cost(double width, double rows)
{
    double border = rows - width;
    double squares = (rows * (rows + 1) * (2 * rows + 1) - border * (border + 1) * (2 * border + 1)) / 6;
    double entries = width * (rows - 0.5 * width);
    return 100 + 4 * rows + 0.7 * border * border + 0.15 * squares + 4 * entries;
}

/* Fronts: columns of like structure, and further ones where that costs less; number and parent of each, and the front
that every place is in. */
static int gather_fronts(int n, const int *tree, const int *rows, int *front, int *parent)
{
    int count = 0;
    int *width = malloc((3 * (size_t)n + 1) * sizeof(int)), *height = width + n, *into = width + 2 * n;
    if (!width) return 0;
    for (int k = 0; k < n; k++) {
        if (k && tree[k - 1] == k && rows[k - 1] == rows[k] + 1) width[count - 1]++;
        else width[count] = 1, height[count++] = rows[k];
        front[k] = count - 1;
    }
    for (int k = 0; k < n; k++) parent[front[k]] = tree[k] == NONE ? NONE : front[tree[k]]; /* the last counts */
    for (int f = 0; f < count; f++) {
        int p = parent[f];
        into[f] = f;
        if (p == NONE) continue;
        double apart = cost(width[f], height[f]) + cost(width[p], height[p]);
        if (cost(width[f] + width[p], width[f] + height[p]) > apart) continue;
        into[f] = p, width[p] += width[f], height[p] += width[f];
    }
    for (int f = count - 1; f >= 0; f--) into[f] = into[into[f]];
    int kept = 0;
    for (int f = 0; f < count; f++)
        if (into[f] == f) width[f] = kept++;
    for (int f = 0; f < count; f++)
        if (into[f] == f) parent[width[f]] = parent[f] == NONE ? NONE : width[into[parent[f]]];
    for (int k = 0; k < n; k++) front[k] = width[into[front[k]]];
    free(width);
    return kept;
}

static int ascending(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

/* Numbers fronts and places in postorder, and moves the variables there. */
static int number(struct analysis *a, const int *front, const int *parent)
{
    int n = a->n, count = a->fronts;
    int *work = malloc((3 * (size_t)count + n + 1) * sizeof(int));
    if (!work) return 0;
    int *order = work, *rank = work + count, *old = work + 3 * count;
    postorder(count, parent, order, rank);
    for (int f = 0; f < count; f++) rank[order[f]] = f;
    memset(a->first, 0, (count + 1) * sizeof(int));
    for (int k = 0; k < n; k++) a->first[rank[front[k]] + 1]++;
    for (int f = 0; f < count; f++) a->first[f + 1] += a->first[f];
    memcpy(old, a->variable, n * sizeof(int));
    int *next = order;
    memcpy(next, a->first, count * sizeof(int));
    for (int k = 0; k < n; k++) a->variable[next[rank[front[k]]]++] = old[k];
    for (int f = 0; f < count; f++) a->parent[rank[f]] = parent[f] == NONE ? NONE : rank[parent[f]];
    for (int f = 0; f < count; f++) a->child[f] = NONE;
    for (int f = 0; f < count; f++) {
        int p = a->parent[f];
        if (p != NONE) a->sibling[f] = a->child[p], a->child[p] = f;
    }
    for (int f = count - 1; f >= 0; f--) a->level[f] = a->parent[f] == NONE ? 0 : !a->level[a->parent[f]];
    free(work);
    return 1;
}

/* Rows of every front below its own, ascending, and where they are in the parent's. */
static int find_rows(struct analysis *a, const size_t *start, const int *neighbour)
{
    int n = a->n, good = 1;
    struct list rows = {0};
    int *work = malloc((2 * (size_t)n + 1) * sizeof(int));
    if (!work) return 0;
    int *place = work, *seen = work + n;
    for (int k = 0; k < n; k++) place[a->variable[k]] = k, seen[k] = NONE;
    for (int f = 0; f < a->fronts && good; f++) {
        int end = a->first[f + 1];
        size_t begin = a->border[f] = rows.size;
        for (int k = a->first[f]; k < end && good; k++) {
            size_t p = start[a->variable[k]], last = start[a->variable[k] + 1];
            good = reserve(&rows, last - p);
            for (; p < last && good; p++) {
                int i = place[neighbour[p]];
                if (i >= end && seen[i] != f) seen[i] = f, rows.at[rows.size++] = i;
            }
        }
        for (int c = a->child[f]; c != NONE && good; c = a->sibling[c]) {
            size_t p = a->border[c], last = a->border[c + 1];
            good = reserve(&rows, last - p);
            for (; p < last && good; p++) {
                int i = rows.at[p];
                if (i >= end && seen[i] != f) seen[i] = f, rows.at[rows.size++] = i;
            }
        }
        if (rows.size > begin) qsort(rows.at + begin, rows.size - begin, sizeof(int), ascending);
        a->border[f + 1] = rows.size;
    }
    free(work), free(a->rows), free(a->above);
    a->rows = rows.at;
    a->above = good ? malloc((rows.size + 1) * sizeof(int)) : 0;
    for (int f = 0; f < a->fronts && a->above; f++) {
        int p = a->parent[f];
        if (p == NONE) continue;
        int begin = a->first[p], end = a->first[p + 1];
        size_t at = a->border[p];
        for (size_t k = a->border[f]; k < a->border[f + 1]; k++) {
            int i = a->rows[k];
            if (i >= end) while (a->rows[at] != i) at++;
            a->above[k] = i < end ? i - begin : end - begin + (int)(at - a->border[p]);
        }
    }
    return a->above != 0;
}

struct child {
    int front, variable;
};

static int by_variable(const void *x, const void *y)
{
    return ((const struct child *)x)->variable - ((const struct child *)y)->variable;
}

/* Children of one front with much the same rows become one, where that costs less, as many rows of constraints on the
same variables do: they are eliminated by one product of matrices. Taken in the order of IPOPT's variables. Front of
every place and parent of every front, as from `gather_fronts`; the number of fronts, or -1 without memory. */
static int gather_siblings(const struct analysis *a, int *front, int *parent)
{
    int fronts = a->fronts, n = a->n;
    struct child *children = malloc((fronts + 1) * sizeof(struct child));
    int *work = malloc((2 * (size_t)fronts + 2 * (size_t)n + 1) * sizeof(int)), good = children && work, count = 0;
    if (!good) {
        free(children), free(work);
        return -1;
    }
    int *into = work, *kept = work + fronts, *rows = work + 2 * fronts, *seen = rows + n;
    for (int f = 0; f < fronts; f++) into[f] = f;
    for (int k = 0; k < n; k++) seen[k] = NONE;
    for (int p = 0; p < fronts; p++) {
        int size = 0, group = NONE, width = 0, border = 0;
        for (int c = a->child[p]; c != NONE; c = a->sibling[c])
            if (a->first[c + 1] - a->first[c] + a->border[c + 1] - a->border[c] > 2) /* slacks remain alone */
                children[size++] = (struct child){c, a->variable[a->first[c + 1] - 1]};
        qsort(children, size, sizeof(struct child), by_variable);
        for (int k = 0; k < size; k++) {
            int c = children[k].front, columns = a->first[c + 1] - a->first[c], joined = border;
            int own = (int)(a->border[c + 1] - a->border[c]);
            for (int l = 0; group != NONE && l < own; l++) {
                int row = a->rows[a->border[c] + l];
                if (seen[row] != group) rows[joined++] = row;
            }
            double apart = cost(width, width + border) + cost(columns, columns + own);
            if (group != NONE && cost(width + columns, width + columns + joined) <= apart) {
                into[c] = group, width += columns;
            } else {
                group = c, width = columns, border = 0, joined = own;
                memcpy(rows, a->rows + a->border[c], own * sizeof(int));
            }
            for (; border < joined; border++) seen[rows[border]] = group;
        }
    }
    for (int f = 0; f < fronts; f++)
        if (into[f] == f) kept[f] = count++;
    for (int f = 0; f < fronts; f++) {
        for (int k = a->first[f]; k < a->first[f + 1]; k++) front[k] = kept[into[f]];
        if (into[f] == f) parent[kept[f]] = a->parent[f] == NONE ? NONE : kept[into[a->parent[f]]];
    }
    free(children), free(work);
    return count;
}

/* Where in which front the entries of A are. */
static int find_entries(struct analysis *a)
{
    int n = a->n, *row = a->pattern + n + 1;
    int *place = malloc((2 * (size_t)n + 1) * sizeof(int)), *front = place + n;
    if (!place) return 0;
    for (int k = 0; k < n; k++) place[a->variable[k]] = k;
    for (int f = 0; f < a->fronts; f++)
        for (int k = a->first[f]; k < a->first[f + 1]; k++) front[k] = f;
    memset(a->entry, 0, (a->fronts + 1) * sizeof(size_t));
    for (int turn = 0; turn < 2; turn++) {
        for (int j = n - 1; j >= 0; j--)
            for (int p = a->pattern[j + 1] - 2; p >= a->pattern[j] - 1; p--) {
                int x = place[j], y = place[row[p] - 1], least = x < y ? x : y, most = x < y ? y : x, f = front[least];
                if (!turn) {
                    a->entry[f]++;
                    continue;
                }
                size_t at = --a->entry[f];
                int width = a->first[f + 1] - a->first[f], local = most - a->first[f];
                if (local >= width) {
                    const int *rows = a->rows + a->border[f];
                    size_t size = a->border[f + 1] - a->border[f];
                    local = width + (int)((const int *)bsearch(&most, rows, size, sizeof(int), ascending) - rows);
                }
                a->source[at] = p, a->row[at] = local, a->column[at] = least - a->first[f];
            }
        for (int f = 1; f <= a->fronts && !turn; f++) a->entry[f] += a->entry[f - 1];
    }
    free(place);
    return 1;
}

/* A new analysis of a pattern; null without memory. */
static struct analysis *analyse(int n, const int *start, const int *row)
{
    struct analysis *a = calloc(1, sizeof(struct analysis));
    size_t nonzeros = start[n] - 1, *begin = 0;
    int *neighbour = 0, *work = malloc((4 * (size_t)n + 1) * sizeof(int)), good = a && work;
    if (good) {
        a->n = n;
        good = (a->pattern = malloc((n + 1 + nonzeros) * sizeof(int))) && (a->variable = malloc((n + 1) * sizeof(int)));
    }
    if (good) {
        memcpy(a->pattern, start, (n + 1) * sizeof(int));
        memcpy(a->pattern + n + 1, row, nonzeros * sizeof(int));
        int *tree = work, *rows = work + n, *front = work + 2 * n, *parent = work + 3 * n;
        good = whole(n, a->pattern, &begin, &neighbour) && find_order(n, begin, neighbour, a->variable, tree, rows)
            && ((a->fronts = gather_fronts(n, tree, rows, front, parent)) > 0 || n == 0);
        size_t count = a->fronts + 1;
        good = good && (a->first = malloc(count * sizeof(int))) && (a->parent = malloc(count * sizeof(int)))
            && (a->child = malloc(count * sizeof(int))) && (a->sibling = malloc(count * sizeof(int)))
            && (a->level = malloc(count * sizeof(int)))
            && (a->border = malloc(count * sizeof(size_t))) && (a->entry = malloc(count * sizeof(size_t)))
            && (a->source = malloc((nonzeros + 1) * sizeof(int))) && (a->row = malloc((nonzeros + 1) * sizeof(int)))
            && (a->column = malloc((nonzeros + 1) * sizeof(int))) && number(a, front, parent)
            && find_rows(a, begin, neighbour) && (a->fronts = gather_siblings(a, front, parent)) >= 0
            && number(a, front, parent) && find_rows(a, begin, neighbour) && find_entries(a);
    }
    for (int f = 0; good && f < a->fronts; f++) {
        size_t width = a->first[f + 1] - a->first[f];
        a->factor += width * (width + a->border[f + 1] - a->border[f]);
    }
    free(begin), free(neighbour), free(work);
    if (good) return a;
    forget(a);
    return 0;
}

/* Analyses of patterns seen lately: the restoration phase, a second run and the next round have the same ones. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct analysis *known;
#define MOST_UNUSED 8

static struct analysis *acquire(int n, const int *start, const int *row)
{
    struct analysis **place = &known, *a;
    pthread_mutex_lock(&lock);
    for (; (a = *place); place = &a->next)
        if (a->n == n && !memcmp(a->pattern, start, (n + 1) * sizeof(int))
            && !memcmp(a->pattern + n + 1, row, (start[n] - 1) * sizeof(int))) {
            *place = a->next;
            break;
        }
    if (!a) a = analyse(n, start, row);
    if (a) a->users++, a->next = known, known = a;
    pthread_mutex_unlock(&lock);
    return a;
}

static void release(struct analysis *a)
{
    if (!a) return;
    pthread_mutex_lock(&lock);
    a->users--;
    int unused = 0;
    for (struct analysis **place = &known; (a = *place);) {
        if (a->users || ++unused <= MOST_UNUSED) {
            place = &a->next;
            continue;
        }
        *place = a->next;
        forget(a);
    }
    pthread_mutex_unlock(&lock);
}

/* Dense arithmetic ----------------------------------------------------------------------------------------------- */

/* A front: `rows` rows, the first `complete` of which are its columns, one after the other, lower triangle. */
struct front {
    double *at;
    int rows, complete, pivots;
    int *place; /* of every row */
    double *d;  /* of every pivot: entry of D, and the one below it */
};

/* y -= A D B' below the diagonal of y, shape (rows, columns), for A and B the rows and the first `columns` rows of x,
shape (rows, depth). `pack` has room for both. */
static void update(double *y, size_t ld, int rows, int columns, const double *x, size_t ldx, int depth, const double *d,
                   double *pack)
{
    double *right = pack, *left = pack + (size_t)(columns + COLUMNS) * depth;
    for (int j = 0; j < columns; j += COLUMNS, right += COLUMNS * depth)
        for (int k = 0; k < depth; k++)
            for (int c = 0; c < COLUMNS; c++) {
                const double *row = x + j + c;
                double value = 0;
                if (j + c < columns) {
                    value = d[2 * k] * row[ldx * k];
                    if (d[2 * k + 1] != 0) value += d[2 * k + 1] * row[ldx * (k + 1)];
                    if (k && d[2 * k - 1] != 0) value += d[2 * k - 1] * row[ldx * (k - 1)];
                }
                right[COLUMNS * k + c] = value;
            }
    for (int i = 0; i < rows; i += ROWS) {
        double *block = left + (size_t)depth * i;
        int full = rows - i >= ROWS;
        for (int k = 0; k < depth; k++)
            for (int r = 0; r < ROWS; r++) block[ROWS * k + r] = full || i + r < rows ? x[ldx * k + i + r] : 0;
    }
    right = pack;
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

static size_t pack_size(int rows) { return (size_t)(2 * rows + ROWS + COLUMNS) * (2 * DEPTH); }

/* Exchanges two complete rows and columns, a before b. */
static void exchange(struct front *f, int a, int b)
{
    size_t ld = f->rows;
    double *x = f->at, keep;
#define SWAP(p, q) keep = (p), (p) = (q), (q) = keep
    if (a == b) return;
    for (int c = 0; c < a; c++) SWAP(x[ld * c + a], x[ld * c + b]);
    for (int c = a + 1; c < b; c++) SWAP(x[ld * a + c], x[ld * c + b]);
    SWAP(x[ld * a + a], x[ld * b + b]);
    for (int r = b + 1; r < f->rows; r++) SWAP(x[ld * a + r], x[ld * b + r]);
    int place = f->place[a];
    f->place[a] = f->place[b], f->place[b] = place;
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
static double at(const struct front *f, int i, int p)
{
    size_t ld = f->rows;
    return i < p ? f->at[ld * i + p] : f->at[ld * p + i];
}

/* The largest magnitude of column p in rows k to end, off the diagonal and off row `but`. */
static double among(const struct front *f, int p, int k, int end, int but)
{
    const double *column = f->at + (size_t)f->rows * p;
    double most = 0, rest;
    for (int i = k; i < p && i < end; i++)
        if (i != but) most = larger(fabs(at(f, i, p)), most);
    int from = p + 1 > k ? p + 1 : k, to = but >= from && but < end ? but : end;
    rest = largest(column + from, to - from);
    if (to < end) rest = larger(largest(column + to + 1, end - to - 1), rest);
    return larger(rest, most);
}

/* Columns k + 1 to end of a panel without what the pivot k takes, which becomes a column of L. */
static void eliminate_one(struct front *f, int k, int end)
{
    size_t ld = f->rows;
    double *restrict pivot = f->at + ld * k, inverse = 1 / pivot[k];
    f->d[2 * k] = pivot[k], f->d[2 * k + 1] = 0;
    for (int j = k + 1; j < end; j++) {
        double *restrict x = f->at + ld * j, factor = pivot[j] * inverse;
        if (factor != 0)
            for (int i = j; i < f->rows; i++) x[i] -= pivot[i] * factor;
    }
    pivot[k] = 1;
    for (int i = k + 1; i < f->rows; i++) pivot[i] *= inverse;
}

/* The same of a pivot of order two. */
static void eliminate_two(struct front *f, int k, int end)
{
    size_t ld = f->rows;
    double *restrict x = f->at + ld * k, *restrict y = x + ld, beside = x[k + 1];
    double above = x[k] / beside, below = y[k + 1] / beside, scale = 1 / (beside * (above * below - 1));
    f->d[2 * k] = x[k], f->d[2 * k + 1] = beside, f->d[2 * k + 2] = y[k + 1], f->d[2 * k + 3] = 0;
    for (int j = k + 2; j < end; j++) {
        double *restrict z = f->at + ld * j;
        double p = (below * x[j] - y[j]) * scale, q = (above * y[j] - x[j]) * scale;
        for (int i = j; i < f->rows; i++) z[i] -= x[i] * p + y[i] * q;
    }
    x[k] = y[k + 1] = 1, x[k + 1] = 0;
    for (int i = k + 2; i < f->rows; i++) {
        double p = (below * x[i] - y[i]) * scale, q = (above * y[i] - x[i]) * scale;
        x[i] = p, y[i] = q;
    }
}

#define ALONE 1e-4     /* of the threshold, for a column with one row below */
#define PREFERRED 0.01 /* threshold of pivots as long as others may come */
#define EASED 1e-3     /* what it is multiplied by where none is left that meets it */

/* Whether the pivot of order two at p and r is stable within a threshold (Duff, Reid 1983). */
static int stable_pair(const struct front *f, int p, int r, double most_p, double most_r, double threshold)
{
    size_t ld = f->rows;
    double a = f->at[ld * p + p], b = f->at[ld * r + r], c = p < r ? f->at[ld * p + r] : f->at[ld * r + p];
    double scale = fabs(c), determinant = fabs(a / scale * b - scale);
    if (!(determinant > 0.01 * fmax(fabs(a) * fabs(b) / scale, scale))) return 0; /* cancelled */
    return threshold * (fabs(b) / scale * most_p + most_r) <= determinant
        && threshold * (most_p + fabs(a) / scale * most_r) <= determinant;
}

/* Eliminates pivots from columns begin to end, which know of all pivots before; those without one move to the end. The
last ones of a front may be weak where no other is left. The number eliminated; less than 0 where there is no number. */
static int eliminate_panel(struct front *f, int begin, int end, double threshold, double small, int last)
{
    size_t ld = f->rows;
    int k = begin, p = begin, found = 0;
    double bound = larger(threshold, PREFERRED);
    while (k < end) {
        if (p >= end) { /* once more, if that brought any; if not, the last ones make do with less */
            if (!found && (!last || bound <= threshold)) break;
            if (!found) bound = larger(threshold, bound * EASED);
            found = 0, p = k;
        }
        double diagonal = fabs(f->at[ld * p + p]), panel = among(f, p, k, end, NONE);
        double below = largest(f->at + ld * p + end, f->rows - end);
        if (!(diagonal + panel + below < INFINITY)) return NONE;
        if (diagonal > small && diagonal >= bound * larger(panel, below)) {
            exchange(f, k, p);
            eliminate_one(f, k++, end);
            p++, found = 1;
            continue;
        }
        if (panel > small) {
            int r = k;
            while (r == p || fabs(at(f, r, p)) != panel) r++;
            double most_p = larger(among(f, p, k, end, r), below);
            double most_r = larger(among(f, r, k, end, p), largest(f->at + ld * r + end, f->rows - end));
            if (stable_pair(f, p, r, most_p, most_r, bound)) {
                exchange(f, k, p < r ? p : r);
                exchange(f, k + 1, p < r ? r : p);
                eliminate_two(f, k, end);
                k += 2, p = p < k ? k : p + 1, found = 1;
                continue;
            }
        }
        p++;
    }
    return k - begin;
}

/* Eliminates what pivots there are in a front, panel by panel. A column without one waits behind the others,
multipliers for their variables as a rule, and is tried again as long as that brings pivots; at last all that wait are
tried together. False where there is no number. */
static int eliminate(struct front *f, double threshold, double small, double *pack)
{
    size_t ld = f->rows;
    int k = 0, waiting = 0, before = 0;
    while (k < f->complete) {
        int left = f->complete - k, again = waiting == left, last = left <= PANEL || (again && k == before);
        if (again) before = k, waiting = 0;
        int end = last ? f->complete : k + (left - waiting < PANEL ? left - waiting : PANEL);
        int count = eliminate_panel(f, k, end, threshold, small, last);
        if (count < 0) return 0;
        for (int done = 0; done < count && end < f->complete;) { /* a pivot of order two is not parted */
            int depth = count - done < DEPTH ? count - done : DEPTH;
            if (f->d[2 * (k + done + depth) - 1] != 0) depth++;
            update(f->at + ld * end + end, ld, f->rows - end, f->complete - end, f->at + ld * (k + done) + end, ld,
                   depth, f->d + 2 * (k + done), pack);
            done += depth;
        }
        k += count;
        if (last) break;
        for (int p = end - 1; p >= k; p--) {
            int to = f->complete - 1 - waiting++;
            exchange(f, p < to ? p : to, p < to ? to : p);
        }
    }
    f->pivots = k;
    return 1;
}

/* Numbers -------------------------------------------------------------------------------------------------------- */

/* What belongs to some of the fronts, which one thread works on. */
struct part {
    double *values; /* of L, front after front */
    double *d;      /* two of every pivot */
    double *left[2]; /* what fronts leave to their parents, at either level a stack */
    double *pack;
    size_t values_room, d_room, left_room[2], pack_room, used, left_used[2];
    struct list places;
    int *local;
    int pivots, negative, pairs, delays, most, flag;
    double work;
};

/* All of a system. The first part are the fronts above all subtrees that are shared out, without these all fronts; every
further part are subtrees. */
struct factors {
    struct analysis *a;
    int parts, *owner; /* of every front: its part, */
    size_t *start, *index, *left; /* its first value there, the first of its rows' places, what it leaves to its parent, */
    int *rows, *pivots, *pivot; /* its size, and its first pivot there */
    struct part *part;
    double *vector;
};

static void discard(struct factors *s)
{
    if (!s) return;
    release(s->a);
    for (int k = 0; k < s->parts && s->part; k++) {
        struct part *p = s->part + k;
        free(p->values), free(p->d), free(p->left[0]), free(p->left[1]), free(p->pack), free(p->places.at);
        free(p->local);
    }
    free(s->owner), free(s->start), free(s->index), free(s->left), free(s->rows), free(s->pivots), free(s->pivot);
    free(s->part), free(s->vector), free(s);
}

static int widen(double **at, size_t *room, size_t needed)
{
    if (needed <= *room) return 1;
    needed += needed / 4;
    double *wider = realloc(*at, needed * sizeof(double));
    if (!wider) return 0;
    *at = wider, *room = needed;
    return 1;
}

#define MOST_THREADS 64
#define WORTHWHILE 1e6 /* cost for which a thread is begun, about half a millisecond */
#define GAIN 0.8       /* what they leave of it, at most */
#define MOST_SPLITS 64
static int threads = 1;

/* How many threads factorisations may have from now on. */
EXPORT void use_threads(int count) { threads = count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : count; }

struct subtree {
    int root;
    double cost;
};

static int dearest(const void *x, const void *y)
{
    double a = ((const struct subtree *)x)->cost, b = ((const struct subtree *)y)->cost;
    return (a < b) - (a > b);
}

/* Gives subtrees, the dearest first, each to the thread that has least to do; what the busiest one has, and of every
root, if asked for, its part. */
static double spread(const struct subtree *tree, int size, int count, int *owner)
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

/* Shares subtrees out among threads, of which the dearest one gives way to those below its root as long as that may
help. The owner of every front, and the number of parts; 0 without memory. */
static int share(const struct analysis *a, int count, int *owner)
{
    int fronts = a->fronts, size = 0, best = NONE;
    double *below = malloc((fronts + 1) * sizeof(double)), total = 0, above = 0;
    struct subtree *tree = malloc((fronts + 1) * sizeof(struct subtree));
    int *split = malloc((fronts + 1) * sizeof(int)), good = below && tree && split; /* when a front came to be above */
    for (int f = 0; f < fronts && good; f++) {
        double width = a->first[f + 1] - a->first[f];
        below[f] = cost(width, width + (a->border[f + 1] - a->border[f])), split[f] = MOST_SPLITS, owner[f] = 0;
        for (int c = a->child[f]; c != NONE; c = a->sibling[c]) below[f] += below[c];
        if (a->parent[f] == NONE) tree[size++] = (struct subtree){f, below[f]}, total += below[f];
    }
    double least = total * GAIN;
    if (count > total / WORTHWHILE) count = (int)(total / WORTHWHILE);
    for (int k = 0; good && count > 1 && k < MOST_SPLITS && size && above + (total - above) / count < least; k++) {
        qsort(tree, size, sizeof(struct subtree), dearest);
        double time = above + spread(tree, size, count, 0);
        if (time < least) least = time, best = k;
        int root = tree->root;
        *tree = tree[--size], above += below[root], split[root] = k;
        for (int c = a->child[root]; c != NONE; c = a->sibling[c])
            tree[size++] = (struct subtree){c, below[c]}, above -= below[c];
    }
    if (good && best != NONE) {
        size = 0;
        for (int f = 0; f < fronts; f++) {
            int p = a->parent[f];
            if (split[f] >= best && (p == NONE || split[p] < best)) tree[size++] = (struct subtree){f, below[f]};
        }
        qsort(tree, size, sizeof(struct subtree), dearest);
        spread(tree, size, count, owner);
        for (int f = fronts - 1; f >= 0; f--)
            if (a->parent[f] != NONE && !owner[f]) owner[f] = owner[a->parent[f]];
    }
    free(below), free(tree), free(split);
    return good ? best == NONE ? 1 : count + 1 : 0;
}

/* Takes over an analysis. */
static struct factors *prepare(struct analysis *a)
{
    struct factors *s = calloc(1, sizeof(struct factors));
    if (!s) {
        release(a);
        return 0;
    }
    size_t count = a->fronts + 1, n = a->n + 1;
    s->a = a;
    int good = (s->owner = malloc(count * sizeof(int))) && (s->start = malloc(count * sizeof(size_t)))
        && (s->index = malloc(count * sizeof(size_t))) && (s->left = malloc(count * sizeof(size_t)))
        && (s->rows = malloc(count * sizeof(int))) && (s->pivots = malloc(count * sizeof(int)))
        && (s->pivot = malloc(count * sizeof(int))) && (s->vector = malloc(2 * n * sizeof(double)))
        && (s->parts = share(a, threads, s->owner)) && (s->part = calloc(s->parts, sizeof(struct part)));
    for (int f = 0; f < a->fronts && good; f++) { /* what it takes unless pivots are delayed */
        size_t width = a->first[f + 1] - a->first[f];
        s->part[s->owner[f]].used += width * (width + a->border[f + 1] - a->border[f]);
    }
    for (int k = 0; k < s->parts && good; k++) {
        struct part *p = s->part + k;
        good = widen(&p->values, &p->values_room, p->used + 1) && (p->local = malloc(n * sizeof(int)));
    }
    if (good) return s;
    discard(s);
    return 0;
}

/* Adds what a child leaves, shape (size, size), at rows `local` of a front; what is not complete is in y. */
static void add(const struct front *f, double *y, const double *x, int size, const int *local, int sorted)
{
    size_t ld = f->rows, border = f->rows - f->complete;
    int from = size;
    while (from > 0 && (from == size || local[from - 1] + 1 == local[from])) from--;
    for (int j = 0; j < size; j++, x += size) {
        int column = local[j];
        double *to = column < f->complete ? f->at + ld * column : y + border * (column - f->complete) - f->complete;
        if (!sorted && column < f->complete) {
            for (int i = j; i < size; i++) {
                int row = local[i];
                if (row >= column) to[row] += x[i];
                else f->at[ld * row + column] += x[i];
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

/* What is below the pivots of a front, the delayed columns first, left to the parent. */
static int leave(struct part *p, int level, struct front *f, size_t begin)
{
    int delayed = f->complete - f->pivots, size = f->rows - f->pivots;
    size_t border = f->rows - f->complete, ld = f->rows;
    p->left_used[level] = begin + (size_t)size * size;
    if (!delayed) return 1;
    if (!widen(&p->left[level], &p->left_room[level], p->left_used[level])) return 0;
    double *to = p->left[level] + begin;
    for (int j = (int)border - 1; j >= 0; j--) /* from the end: it moves up within its own memory */
        memmove(to + (size_t)(j + delayed) * size + delayed, to + border * j, border * sizeof(double));
    for (int j = 0; j < delayed; j++)
        memcpy(to + (size_t)j * size, f->at + ld * (f->pivots + j) + f->pivots, size * sizeof(double));
    return 1;
}

/* How many columns a front leaves to its parent for want of a pivot. */
static int late_columns(const struct factors *s, int front)
{
    return s->rows[front] - s->pivots[front] - (int)(s->a->border[front + 1] - s->a->border[front]);
}

/* What all fronts have in common. */
struct task {
    struct factors *s;
    const double *value; /* of A */
    double threshold, small, most; /* `most` values of L */
    int part;
};

/* Assembles a front, eliminates its pivots, and leaves the rest to the parent. 1, or a flag. */
static int work_front(const struct task *task, int number)
{
    struct factors *s = task->s;
    const struct analysis *a = s->a;
    struct part *p = s->part + task->part;
    double threshold = task->threshold;
    int level = a->level[number], begin = a->first[number], width = a->first[number + 1] - begin;
    int border = (int)(a->border[number + 1] - a->border[number]), other = !level, delayed = 0;
    for (int c = a->child[number]; c != NONE; c = a->sibling[c]) delayed += late_columns(s, c);
    struct front f = {0, width + delayed + border, width + delayed, 0, 0, 0};
    size_t ld = f.rows, size = (size_t)border * border, base = p->left_used[level];
    if (f.rows > p->most) p->most = f.rows;
    if (p->used + ld * f.complete > task->most) return TOO_DEAR;
    if (!reserve(&p->places, f.rows) || !widen(&p->values, &p->values_room, p->used + ld * f.complete)
        || !widen(&p->left[level], &p->left_room[level], base + size)
        || !widen(&p->d, &p->d_room, 2 * (size_t)(p->pivots + f.complete))
        || !widen(&p->pack, &p->pack_room, pack_size(f.rows)))
        return NO_MEMORY;
    s->start[number] = p->used, s->index[number] = p->places.size, s->rows[number] = f.rows;
    s->pivot[number] = p->pivots, s->left[number] = base;
    f.at = p->values + p->used, f.place = p->places.at + p->places.size, f.d = p->d + 2 * (size_t)p->pivots;
    double *rest = p->left[level] + base;
    memset(f.at, 0, ld * f.complete * sizeof(double));
    if (size) memset(rest, 0, size * sizeof(double));
    for (int k = 0; k < width; k++) f.place[k] = begin + k;
    for (int k = 0; k < border; k++) f.place[f.complete + k] = a->rows[a->border[number] + k];
    for (size_t k = a->entry[number]; k < a->entry[number + 1]; k++) {
        int row = a->row[k];
        f.at[ld * a->column[k] + row + (row < width ? 0 : delayed)] += task->value[a->source[k]];
    }
    int before = f.complete;
    for (int c = a->child[number]; c != NONE; c = a->sibling[c]) {
        const struct part *from = s->part + s->owner[c];
        const int *above = a->above + a->border[c];
        const int *rest_of_child = from->places.at + s->index[c] + s->pivots[c];
        int count = s->rows[c] - s->pivots[c], late = late_columns(s, c);
        before -= late;
        for (int k = 0; k < late; k++) p->local[k] = before + k, f.place[before + k] = rest_of_child[k];
        for (int k = late; k < count; k++) p->local[k] = above[k - late] + (above[k - late] < width ? 0 : delayed);
        add(&f, rest, from->left[other] + s->left[c], count, p->local, late == 0);
        if (from == p) p->left_used[other] = s->left[c]; /* the top of its stack */
    }
    /* A slack alone divides what only its multiplier sees, which refinement puts right. */
    if (f.rows == 2 && width == 1) threshold *= ALONE;
    if (!eliminate(&f, threshold, task->small, p->pack)) return SINGULAR;
    for (int done = 0; done < f.pivots && border;) {
        int depth = f.pivots - done < DEPTH ? f.pivots - done : DEPTH;
        if (f.d[2 * (done + depth) - 1] != 0) depth++;
        update(rest, border, border, border, f.at + ld * done + f.complete, ld, depth, f.d + 2 * done, p->pack);
        done += depth;
    }
    s->pivots[number] = f.pivots;
    p->used += ld * f.pivots, p->places.size += f.rows, p->pivots += f.pivots, p->delays += f.complete - f.pivots;
    for (int k = 0; k < f.pivots; k++) {
        const double *d = f.d + 2 * k;
        p->work += (double)(f.rows - k) * (f.rows - k);
        if (d[1] == 0) {
            p->negative += d[0] < 0;
            continue;
        }
        p->negative += d[0] / d[1] * (d[2] / d[1]) < 1 ? 1 : d[0] < 0 ? 2 : 0;
        p->pairs++, p->work += (double)(f.rows - k - 1) * (f.rows - k - 1), k++;
    }
    if (a->parent[number] == NONE) return f.pivots < f.complete ? SINGULAR : 1;
    return leave(p, level, &f, base) ? 1 : NO_MEMORY;
}

/* Factorises the fronts of a part. */
static void *work(void *argument)
{
    const struct task *task = argument;
    struct part *p = task->s->part + task->part;
    p->flag = 1;
    for (int f = 0; f < task->s->a->fronts && p->flag > 0; f++)
        if (task->s->owner[f] == task->part) p->flag = work_front(task, f);
    return 0;
}

/* Factorises a matrix with these values, into at most so many values of L. 1, or a flag. */
static int factorise(struct factors *s, const double *value, double threshold, double small, double most)
{
    const struct analysis *a = s->a;
    size_t nonzeros = a->pattern[a->n] - 1;
    double check = 0;
    for (size_t k = 0; k < nonzeros; k++) check += 0 * value[k];
    if (check != 0 || isnan(check)) return SINGULAR;
    struct task task[MOST_THREADS + 1];
    pthread_t thread[MOST_THREADS + 1];
    int begun[MOST_THREADS + 1] = {0};
    for (int k = 0; k < s->parts; k++) {
        struct part *p = s->part + k;
        task[k] = (struct task){s, value, threshold, small, most, k};
        p->used = p->places.size = p->left_used[0] = p->left_used[1] = 0;
        p->pivots = p->negative = p->pairs = p->delays = p->most = 0, p->work = 0;
    }
    for (int k = 2; k < s->parts; k++) begun[k] = !pthread_create(thread + k, 0, work, task + k);
    for (int k = 1; k < s->parts; k++) {
        if (begun[k]) pthread_join(thread[k], 0);
        else work(task + k);
    }
    for (int k = 1; k < s->parts; k++) {
        if (s->part[k].flag < 0) return s->part[k].flag;
        task->most -= s->part[k].used; /* what is left for the fronts above */
    }
    work(task);
    return s->part->flag;
}

/* x overwritten by the solution. */
static void solve(const struct factors *s, double *x)
{
    const struct analysis *a = s->a;
    double *y = s->vector, *z = y + a->n;
    for (int k = 0; k < a->n; k++) y[k] = x[a->variable[k]];
    for (int f = 0; f < a->fronts; f++) {
        int rows = s->rows[f], pivots = s->pivots[f];
        const struct part *p = s->part + s->owner[f];
        const int *place = p->places.at + s->index[f];
        const double *column = p->values + s->start[f], *d = p->d + 2 * (size_t)s->pivot[f];
        for (int k = 0; k < rows; k++) z[k] = k < pivots ? y[place[k]] : 0;
        for (int k = 0; k < pivots; k++, column += rows) {
            double value = z[k];
            for (int i = k + 1; i < rows; i++) z[i] -= column[i] * value;
        }
        for (int k = 0; k < pivots; k++) {
            if (d[2 * k + 1] != 0) {
                double beside = d[2 * k + 1], above = d[2 * k] / beside, below = d[2 * k + 2] / beside;
                double scale = 1 / (beside * (above * below - 1)), b = z[k], c = z[k + 1];
                z[k] = (below * b - c) * scale, z[k + 1] = (above * c - b) * scale, k++;
            } else z[k] /= d[2 * k];
        }
        for (int k = 0; k < pivots; k++) y[place[k]] = z[k];
        for (int k = pivots; k < rows; k++) y[place[k]] += z[k];
    }
    for (int f = a->fronts - 1; f >= 0; f--) {
        int rows = s->rows[f], pivots = s->pivots[f];
        const struct part *p = s->part + s->owner[f];
        const int *place = p->places.at + s->index[f];
        const double *column = p->values + s->start[f] + (size_t)rows * pivots;
        for (int k = 0; k < rows; k++) z[k] = y[place[k]];
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
        for (int k = 0; k < pivots; k++) y[place[k]] = z[k];
    }
    for (int k = 0; k < a->n; k++) x[a->variable[k]] = y[k];
}

/* Entry points of HSL_MA97 --------------------------------------------------------------------------------------- */

/* As IPOPT declares them. */
struct ma97_control {
    int f_arrays, action, nemin;
    double multiplier;
    int ordering, print_level, scaling;
    double small, u;
    int unit_diagnostics, unit_error, unit_warning;
    long factor_min;
    int solve_blas3;
    long solve_min;
    int solve_mf;
    double consist_tol;
    int ispare[5];
    double rspare[10];
};

struct ma97_info {
    int flag, flag68, flag77, matrix_dup, matrix_rank, matrix_outrange, matrix_missing_diag, maxdepth, maxfront;
    int num_delay;
    long num_factor, num_flops;
    int num_neg, num_sup, num_two, ordering, stat, maxsupernode;
    int ispare[4];
    double rspare[10];
};

/* Where rows differ in size by nine decades, as where much is added to the Hessian, columns that wait for a pivot make
fronts twenty times as dear: beyond DEAR times as many values of L as there are without waiting, hardly any pivot is
refused. Refinement does as well then, and where it does not, IPOPT raises the threshold. */
#define USUAL 1e-8
#define LENIENT 1e-12
#define DEAR 1.5

EXPORT void ma97_default_control_d(struct ma97_control *control)
{
    *control = (struct ma97_control){.f_arrays = 0, .action = 1, .small = 1e-20, .u = USUAL};
}

/* The upper triangle by rows, counted from 1, each row beginning with its diagonal or not. */
EXPORT void ma97_analyse_d(int check, int n, const int *ptr, const int *row, double *value, void **akeep,
                           const struct ma97_control *control, struct ma97_info *info, int *order)
{
    struct analysis *a = acquire(n, ptr, row);
    *info = (struct ma97_info){.flag = a ? 0 : NO_MEMORY, .ordering = 1};
    *akeep = a;
    if (a) info->num_factor = (long)a->factor, info->num_sup = a->fronts;
}

EXPORT void ma97_factor_d(int type, const int *ptr, const int *row, const double *value, void **akeep, void **fkeep,
                          const struct ma97_control *control, struct ma97_info *info, double *scale)
{
    struct analysis *a = *akeep;
    struct factors *s = *fkeep;
    *info = (struct ma97_info){.flag = NO_MEMORY, .ordering = 1};
    if (s && s->a != a) {
        discard(s);
        *fkeep = s = 0;
    }
    if (!s) {
        pthread_mutex_lock(&lock);
        a->users++;
        pthread_mutex_unlock(&lock);
        *fkeep = s = prepare(a);
    }
    if (!s) return;
    int flag = factorise(s, value, control->u, control->small, control->u > USUAL ? INFINITY : DEAR * a->factor);
    if (flag == TOO_DEAR) flag = factorise(s, value, LENIENT, control->small, INFINITY);
    info->flag = flag < 0 ? flag : 0;
    info->matrix_rank = a->n, info->num_sup = a->fronts;
    for (int k = 0; k < s->parts; k++) {
        const struct part *p = s->part + k;
        info->num_neg += p->negative, info->num_two += p->pairs, info->num_delay += p->delays;
        info->num_factor += (long)p->used, info->num_flops += (long)p->work;
        if (p->most > info->maxfront) info->maxfront = p->most;
    }
}

EXPORT void ma97_solve_d(int job, int nrhs, double *x, int ldx, void **akeep, void **fkeep,
                         const struct ma97_control *control, struct ma97_info *info)
{
    info->flag = 0; /* the rest stays as the factorisation left it */
    for (int k = 0; k < nrhs; k++) solve(*fkeep, x + (size_t)ldx * k);
}

EXPORT void ma97_factor_solve_d(int type, const int *ptr, const int *row, const double *value, int nrhs, double *x,
                                int ldx, void **akeep, void **fkeep, const struct ma97_control *control,
                                struct ma97_info *info, double *scale)
{
    ma97_factor_d(type, ptr, row, value, akeep, fkeep, control, info, scale);
    for (int k = 0; k < nrhs && info->flag >= 0; k++) solve(*fkeep, x + (size_t)ldx * k);
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
