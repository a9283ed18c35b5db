/* Elimination order: approximate minimum degree (Amestoy, Davis, Duff 1996), after nested dissection (George 1973)
where that is cheaper. Patterns are symmetric without their diagonal, as `start` and `neighbour`. */

#include "multifrontal.h"

/* Approximate minimum degree -------------------------------------------------------------------------------------- */

/* The quotient graph. A supervariable lists elements first, `elements` of them, then supervariables; an element lists
supervariables. Invariants: the weight of a supervariable is the number of its variables, 0 once it is absorbed,
negative while it is in the pivot's element; the mark of an absorbed element is 0; every list lies within `lists`. */
struct graph {
    struct list lists;
    size_t *start;
    int *length, *elements, *weight, *degree, *mark, *absorbed_by, *next, *previous, *head, *hash, *bucket, *step;
};

static void degree_list_remove(struct graph *g, int i)
{
    if (g->next[i] != NONE) g->previous[g->next[i]] = g->previous[i];
    if (g->previous[i] != NONE) g->next[g->previous[i]] = g->next[i];
    else g->head[g->degree[i]] = g->next[i];
}

static void degree_list_insert(struct graph *g, int i, int degree)
{
    assert(degree >= 0);
    int first = g->head[degree];
    if (first != NONE) g->previous[first] = i;
    g->next[i] = first, g->previous[i] = NONE, g->head[degree] = i, g->degree[i] = degree;
}

/* Adds a supervariable to the new element unless it is there; returns the weight added. */
static int add_to_element(struct graph *g, int i)
{
    int weight = g->weight[i];
    if (weight <= 0) return 0;
    assert(g->lists.size < g->lists.room);
    g->weight[i] = -weight;
    degree_list_remove(g, i);
    g->lists.at[g->lists.size++] = i;
    return weight;
}

/* Makes the pivot an element: the supervariables of its list and of its elements, which it absorbs. Returns its
degree, or NONE without memory. */
static int form_element(struct graph *g, int pivot)
{
    size_t begin = g->lists.size, p = g->start[pivot], most = g->length[pivot];
    for (int k = 0; k < g->elements[pivot]; k++) most += g->length[g->lists.at[p + k]];
    if (!reserve(&g->lists, most)) return NONE;
    int degree = 0, elements = g->elements[pivot], variables = g->length[pivot] - elements;
    for (int k = 0; k <= elements; k++) {
        int e = k < elements ? g->lists.at[p + k] : pivot, length = k < elements ? g->length[e] : variables;
        size_t from = k < elements ? g->start[e] : p + elements;
        for (int l = 0; l < length; l++) degree += add_to_element(g, g->lists.at[from + l]);
        if (k < elements) g->absorbed_by[e] = pivot, g->mark[e] = 0;
    }
    g->start[pivot] = begin, g->length[pivot] = (int)(g->lists.size - begin), g->elements[pivot] = NONE;
    return degree;
}

/* Marks elements so that mark - flag is the weight of what they have beyond the new element. */
static void compare_elements(struct graph *g, int pivot, int flag)
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

/* New lists and approximate degrees of the supervariables of the new element; elements within it are absorbed, and
supervariables that have no other neighbour are eliminated with it. Returns its degree then. */
static int update_lists(struct graph *g, int pivot, int degree, int flag, int n, int *done)
{
    for (int k = 0; k < g->length[pivot]; k++) {
        int i = g->lists.at[g->start[pivot] + k], external = 0, count = 0, elements;
        int *list = g->lists.at + g->start[i];
        unsigned hash = 0;
        for (int l = 0; l < g->elements[i]; l++) {
            int e = list[l];
            if (!g->mark[e]) continue;
            if (g->mark[e] > flag) external += g->mark[e] - flag, list[count++] = e, hash += e;
            else g->absorbed_by[e] = pivot, g->mark[e] = 0; /* aggressively: it is a part of the new one */
        }
        elements = count;
        for (int l = g->elements[i]; l < g->length[i]; l++) {
            int j = list[l];
            if (g->weight[j] > 0) external += g->weight[j], list[count++] = j, hash += j;
        }
        if (!count) {
            degree += g->weight[i], g->weight[pivot] += g->weight[i], *done -= g->weight[i]; /* both negative */
            g->weight[i] = 0, g->absorbed_by[i] = pivot, g->elements[i] = NONE;
            continue;
        }
        if (external < g->degree[i]) g->degree[i] = external;
        assert(count < g->length[i]); /* the pivot, or an element that it has absorbed, was in the list */
        list[count] = list[elements], list[elements] = list[0], list[0] = pivot;
        g->elements[i] = elements + 1, g->length[i] = count + 1, g->hash[i] = (int)(hash % n);
        g->next[i] = g->bucket[g->hash[i]], g->bucket[g->hash[i]] = i;
    }
    return degree;
}

/* Whether two supervariables have the same lists; those of the first are marked by the flag. */
static int indistinguishable(const struct graph *g, int i, int j, int flag)
{
    if (g->length[j] != g->length[i] || g->elements[j] != g->elements[i]) return 0;
    for (int l = 1; l < g->length[j]; l++)
        if (g->mark[g->lists.at[g->start[j] + l]] != flag) return 0;
    return 1;
}

/* Indistinguishable supervariables become one. Returns the next flag that no mark has. */
static int merge_supervariables(struct graph *g, int pivot, int flag)
{
    for (int k = 0; k < g->length[pivot]; k++) {
        int i = g->lists.at[g->start[pivot] + k];
        if (g->weight[i] >= 0) continue;
        int first = g->bucket[g->hash[i]];
        g->bucket[g->hash[i]] = NONE;
        for (; first != NONE && g->next[first] != NONE; first = g->next[first], flag++) {
            for (int l = 1; l < g->length[first]; l++) g->mark[g->lists.at[g->start[first] + l]] = flag;
            for (int before = first, j = g->next[first]; j != NONE; j = g->next[j]) {
                if (!indistinguishable(g, first, j, flag)) {
                    before = j;
                    continue;
                }
                g->weight[first] += g->weight[j], g->weight[j] = 0;
                g->absorbed_by[j] = first, g->elements[j] = NONE;
                g->next[before] = g->next[j];
            }
        }
    }
    return flag;
}

/* The supervariables left in the new element return to the lists of degrees. */
static void finish_element(struct graph *g, int pivot, int degree, int left, int *least)
{
    int *list = g->lists.at + g->start[pivot], count = 0;
    for (int k = 0; k < g->length[pivot]; k++) {
        int i = list[k];
        if (g->weight[i] >= 0) continue;
        int weight = g->weight[i] = -g->weight[i], external = g->degree[i] + degree - weight;
        if (external > left - weight) external = left - weight;
        degree_list_insert(g, i, external);
        if (external < *least) *least = external;
        list[count++] = i;
    }
    g->length[pivot] = count, g->degree[pivot] = degree;
    g->lists.size = g->start[pivot] + count;
}

/* Whether a row is so dense that its variable comes last. */
static int is_dense(int n, size_t length)
{
    double many = 10 * sqrt(n);
    return length > (many < 16 ? 16 : many);
}

/* Eliminates every supervariable of positive weight, in order of approximate degree: the `step` of each. Returns the
number of steps, or NONE without memory. */
static int eliminate_by_degree(struct graph *g, int n, int total)
{
    int done = 0, flag = 1, least = 0, steps = 0, largest = 0;
    while (done < total) {
        while (g->head[least] == NONE) least++;
        int pivot = g->head[least];
        degree_list_remove(g, pivot);
        done += g->weight[pivot];
        g->weight[pivot] = -g->weight[pivot];
        int degree = form_element(g, pivot);
        if (degree == NONE) return NONE;
        g->degree[pivot] = degree;
        compare_elements(g, pivot, flag);
        degree = update_lists(g, pivot, degree, flag, n, &done);
        if (g->degree[pivot] > largest) largest = g->degree[pivot];
        flag += largest + 1;
        if (flag > INT32_MAX / 2) {
            for (int i = 0; i < n; i++) g->mark[i] = g->mark[i] != 0;
            flag = 2;
        }
        flag = merge_supervariables(g, pivot, flag);
        finish_element(g, pivot, degree, total - done, &least);
        g->weight[pivot] = -g->weight[pivot], g->step[pivot] = steps++;
    }
    assert(done == total);
    return steps;
}

/* Approximate minimum degree: the `step` of every variable, which variables eliminated together share. Variables of
positive `rank` come after the others, by rank, and dense ones after those without. Returns 0 without memory. */
static int minimum_degree_steps(struct graph *g, int n, const int *rank)
{
    int total = n;
    for (int i = 0; i < n; i++) {
        g->weight[i] = 1, g->mark[i] = 1, g->elements[i] = 0, g->absorbed_by[i] = NONE, g->step[i] = NONE;
        g->head[i] = NONE, g->bucket[i] = NONE;
    }
    for (int i = 0; i < n; i++)
        if ((rank && rank[i]) || is_dense(n, g->length[i])) g->weight[i] = 0, g->elements[i] = NONE, total--;
    for (int i = n - 1; i >= 0; i--)
        if (g->weight[i]) degree_list_insert(g, i, g->length[i]);
    int steps = eliminate_by_degree(g, n, total);
    if (steps == NONE) return 0;
    for (int i = 0; i < n; i++) {
        int element = i;
        while (g->step[element] == NONE && g->absorbed_by[element] != NONE) element = g->absorbed_by[element];
        int step = g->step[element] == NONE ? steps + (rank ? rank[element] : 0) : g->step[element];
        for (int j = i; g->step[j] == NONE && g->absorbed_by[j] != NONE;) { /* compresses the path */
            int above = g->absorbed_by[j];
            g->absorbed_by[j] = element, j = above;
        }
        g->bucket[i] = step;
    }
    for (int i = 0; i < n; i++) g->step[i] = g->bucket[i];
    return 1;
}

/* Elimination order: `variable` at every position. Returns 0 without memory. */
static int minimum_degree(int n, const size_t *start, const int *neighbour, const int *rank, int *variable)
{
    struct graph g = {.lists = {0}};
    int *ints = malloc((13 * (size_t)n + 1) * sizeof(int)), **arrays[] = {
        &g.length, &g.elements, &g.weight, &g.degree, &g.mark, &g.absorbed_by, &g.next, &g.previous, &g.head, &g.hash,
        &g.bucket, &g.step};
    g.start = malloc((n + 1) * sizeof(size_t));
    int good = ints && g.start && reserve(&g.lists, start[n] + start[n] / 2 + n + 1);
    if (good) {
        for (int k = 0; k < 12; k++) *arrays[k] = ints + (size_t)n * k;
        memcpy(g.lists.at, neighbour, start[n] * sizeof(int));
        memcpy(g.start, start, (n + 1) * sizeof(size_t));
        g.lists.size = start[n];
        for (int i = 0; i < n; i++) g.length[i] = (int)(start[i + 1] - start[i]);
        good = minimum_degree_steps(&g, n, rank);
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

/* Nested dissection ----------------------------------------------------------------------------------------------- */

#define THICK 16 /* a separator of more than this share of its part is no gain */
#define BAND 2   /* levels beyond the thinnest one that a separator may be in */
#ifndef LEAF
#define LEAF 200 /* variables of a part that is not dissected further */
#endif

/* Breadth-first search from a root within its part: `queue` by distance, and `level`, the distance. Returns how many
variables it reaches. */
static int level_structure(const size_t *start, const int *neighbour, const int *part, int root, int *level, int *queue)
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
static int has_neighbour(const size_t *start, const int *neighbour, const int *part, const int *level, int i, int at)
{
    for (size_t p = start[i]; p < start[i + 1]; p++)
        if (part[neighbour[p]] == part[i] && level[neighbour[p]] == at) return 1;
    return 0;
}

/* A search for a least vertex separator between two levels of a part: as many variables as there are vertex-disjoint
paths across (Menger 1927), by augmenting paths. State 2 i is the entry of variable i, 2 i + 1 its exit. */
struct flow {
    const size_t *start;
    const int *neighbour, *part, *level;
    int low, high;         /* levels that may be separated */
    int *before;           /* of every variable on a path, its predecessor there, or itself; NONE of others */
    int *seen, *next, *at; /* round that saw a state last; of every variable its next neighbour; states of a walk */
};

/* The state after that of an entry: back along the path that the variable is on, or to its own exit. */
static int next_of_entry(struct flow *c, int i, int round)
{
    if (c->before[i] == i) return NONE;
    int to = 2 * (c->before[i] == NONE ? i : c->before[i]) + 1;
    if (c->seen[to] == round) return NONE;
    c->next[to / 2] = 0;
    return to;
}

/* The state after that of an exit: the entry of a neighbour, or back to its own entry if it is on a path. */
static int next_of_exit(struct flow *c, int i, int round)
{
    int degree = (int)(c->start[i + 1] - c->start[i]);
    while (c->next[i] < degree) {
        int j = c->neighbour[c->start[i] + c->next[i]++];
        if (c->part[j] == c->part[i] && c->level[j] >= c->low && c->level[j] <= c->high && c->seen[2 * j] != round)
            return 2 * j;
    }
    return c->before[i] != NONE && c->seen[2 * i] != round ? 2 * i : NONE;
}

/* One augmenting path from a variable of the lowest level. Returns whether there is one. */
static int augment(struct flow *c, int root, int round)
{
    int depth = 0;
    c->at[0] = 2 * root, c->seen[2 * root] = round;
    while (depth >= 0) {
        int i = c->at[depth] / 2, is_exit = c->at[depth] % 2;
        if (is_exit && c->level[i] == c->high
            && has_neighbour(c->start, c->neighbour, c->part, c->level, i, c->high + 1))
            break;
        int to = is_exit ? next_of_exit(c, i, round) : next_of_entry(c, i, round);
        if (to == NONE) depth--;
        else c->seen[to] = round, c->at[++depth] = to;
    }
    for (int k = 0; k <= depth; k++) {
        int i = c->at[k] / 2, from = k ? c->at[k - 1] / 2 : i;
        if (c->at[k] % 2 == 0) c->before[i] = k && from == i ? NONE : from;
    }
    return depth >= 0;
}

/* As many disjoint paths as there are, from `size` variables of a part. In the last round the entry of a separating
variable has been seen, and its exit has not. Returns the number of that round. */
static int disjoint_paths(struct flow *c, const int *variables, int size)
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
                && has_neighbour(c->start, c->neighbour, c->part, c->level, i, c->low - 1))
                more += augment(c, i, round);
        }
        if (!more) return round;
    }
}

/* What is left to dissect: parts in `nodes`, one after the other, each up to one of `ends`. */
struct dissection {
    const size_t *start;
    const int *neighbour;
    int *nodes, *part, *level, *queue, *ends, *width, *side;
    int parts, stack;
    struct flow flow;
};

/* Splits the part `begin` to `end` into its components, and returns how many; `queue` has it by level. */
static int split_components(struct dissection *d, int begin, int end)
{
    int size = 0, components = 0;
    for (int k = begin; k < end; k++) d->level[d->nodes[k]] = NONE;
    for (int k = begin; k < end; k++) {
        if (d->level[d->nodes[k]] != NONE) continue;
        int more = level_structure(d->start, d->neighbour, d->part, d->nodes[k], d->level, d->queue + size);
        for (int l = size; l < size + more; l++) d->part[d->queue[l]] = d->parts;
        size += more, d->parts++, components++, d->ends[d->stack++] = begin + size;
    }
    memcpy(d->nodes + begin, d->queue, size * sizeof(int));
    return components;
}

/* Levels of a connected part of `size` variables, from a pseudo-peripheral one; returns the thinnest level between its
quarters, or NONE. */
static int thinnest_level(struct dissection *d, int size)
{
    for (int turn = 0; turn < 2; turn++) {
        int root = d->queue[size - 1];
        for (int k = 0; k < size; k++) d->level[d->queue[k]] = NONE;
        level_structure(d->start, d->neighbour, d->part, root, d->level, d->queue);
    }
    int highest = d->level[d->queue[size - 1]], best = NONE, below = 0;
    for (int l = 0; l <= highest; l++) d->width[l] = 0;
    for (int k = 0; k < size; k++) {
        int i = d->queue[k];
        d->width[d->level[i]] += has_neighbour(d->start, d->neighbour, d->part, d->level, i, d->level[i] + 1);
    }
    for (int k = 0; k < size; k++) {
        int l = d->level[d->queue[k]];
        if (k + 1 < size && d->level[d->queue[k + 1]] == l) continue; /* not the last of its level */
        if (below >= size / 4 && size - k - 1 >= size / 4 && (best == NONE || d->width[l] < d->width[best])) best = l;
        below = k + 1;
    }
    return best;
}

/* Separates a connected part of `size` variables about a level: `side` of each in `queue`, -1, 0 or 1, 0 for those of
the separator. Returns how many these are. */
static int separate(struct dissection *d, int size, int level)
{
    struct flow *flow = &d->flow;
    int highest = d->level[d->queue[size - 1]], separators = 0;
    flow->low = level, flow->high = level + BAND < highest ? level + BAND : highest - 1;
    int round = disjoint_paths(flow, d->queue, size);
    for (int k = 0; k < size; k++) {
        int i = d->queue[k], inside = d->level[i] >= flow->low && d->level[i] <= flow->high;
        int entry = inside && flow->seen[2 * i] == round, exit = inside && flow->seen[2 * i + 1] == round;
        d->side[k] = entry && !exit ? 0 : d->level[i] < flow->low || exit ? -1 : 1;
        separators += d->side[k] == 0;
    }
    return separators;
}

/* Nested dissection along a graph that is long, as of a motion in time: each part is separated by the fewest variables
about the thinnest level of a search in breadth, between its quarters. The `rank` of every variable: 0 in what is not
dissected any further, higher for the separators of larger parts, highest for dense rows. Returns 0 without memory. */
static int dissect(int n, const size_t *start, const int *neighbour, int *rank)
{
    int *work = malloc((13 * (size_t)n + 1) * sizeof(int)), cuts = 0, count = 0;
    if (!work) return 0;
    int *rest = work + 7 * (size_t)n;
    struct dissection d = {start, neighbour, work, work + n, work + 2 * (size_t)n, work + 3 * (size_t)n,
                           work + 4 * (size_t)n, work + 5 * (size_t)n, work + 6 * (size_t)n, 1, 0, {0}};
    d.flow = (struct flow){start, neighbour, d.part, d.level, 0, 0, rest, rest + n, rest + 3 * (size_t)n,
                           rest + 4 * (size_t)n};
    for (int i = 0; i < n; i++) {
        rank[i] = is_dense(n, start[i + 1] - start[i]) ? n + 1 : 0;
        d.part[i] = rank[i] ? NONE : 0;
        if (!rank[i]) d.nodes[count++] = i;
    }
    for (d.ends[d.stack++] = count; d.stack;) { /* the last part first */
        int end = d.ends[--d.stack], begin = d.stack ? d.ends[d.stack - 1] : 0, size = end - begin, next = begin;
        if (size <= LEAF || split_components(&d, begin, end) > 1) continue;
        d.stack--;
        int level = thinnest_level(&d, size);
        if (level == NONE || separate(&d, size, level) > size / THICK) continue;
        for (int k = 0; k < size; k++)
            if (d.side[k] < 0) d.nodes[next++] = d.queue[k];
        d.ends[d.stack++] = next;
        for (int k = 0; k < size; k++) {
            int i = d.queue[k];
            if (d.side[k] == 0) rank[i] = n - cuts, d.part[i] = NONE;
            if (d.side[k] > 0) d.part[i] = d.parts, d.nodes[next++] = i;
        }
        assert(d.stack < n && next <= end);
        d.ends[d.stack++] = next, d.parts++, cuts++;
    }
    for (int i = 0; i < n; i++)
        if (rank[i]) rank[i] -= n - cuts;
    free(work);
    return 1;
}
