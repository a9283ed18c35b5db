/* Sparse symmetric indefinite systems A x = b, factorised as A = L D L' by the multifrontal method, behind the entry
points by which IPOPT calls HSL_MA97.

  order.c     elimination order: approximate minimum degree, nested dissection
  symbolic.c  elimination tree, supernodes, and the pattern of every front
  dense.c     elimination within one front, by blocks, with threshold pivoting
  numeric.c   assembly, factorisation on several threads, solution
  ma97.c      the entry points, in IPOPT's terms

The files are one translation unit, in this order. A build for tests may lower the thresholds that are defined unless they
are already. A front, as numeric.c assembles it and dense.c eliminates it:

                      fully summed              rows below
                 +------------+---------+
      pivots     | L11 (unit), D1       |
                 +------------+---------+
      delayed    |            | delayed |
                 |            | columns |            the contribution block, added to the parent's front:
                 |    L21     +---------+----------+   the delayed columns, then the Schur complement
      rows below |            |         |  Schur   |
                 |            |         |complement|
                 +------------+---------+----------+

Its fully summed columns are those of its supernode, after the columns that its children have delayed for want of a
stable pivot. L11, D1 and L21 stay; the rest is the contribution block, which goes to the parent by extend-add (Duff,
Reid 1983). The signs of D are the inertia of A.

Invariants, which `assert` checks unless NDEBUG is defined:
- Supernodes are numbered in postorder: children before parents, subtrees without gaps.
- The rows below a supernode ascend, and are rows of its parent: either columns or rows below.
- A contribution block is on top of a stack of its level when its parent takes it: parents alternate between two stacks.
- A pivot of order two is never parted: not by a panel, nor by an update.
- Whatever decides about a pivot, and about giving up, is a function of the matrix alone. Factors, flags and counts do
  not depend on the number of threads, nor on what else the process computes. */

#ifndef MULTIFRONTAL_H
#define MULTIFRONTAL_H

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#define NONE -1

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

typedef double V __attribute__((vector_size(8 * LANES)));
typedef double U __attribute__((vector_size(8 * LANES), aligned(8), may_alias)); /* at any address */

/* Flags as IPOPT reads HSL_MA97's: -7 is singular, all others below 0 end its run; the last never leaves ma97.c. */
enum { NO_MEMORY = -1, OUT_OF_ORDER = -2, SINGULAR = -7, FILL_LIMIT = -100 };

struct list { /* of indices; it grows */
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

/* Supernodes of a pattern, in postorder. Variables are called by their position in the elimination order. */
struct analysis {
    int n, supernodes, users;
    int *pattern;     /* as IPOPT passes it: n + 1 starts, then rows, counted from 1 */
    int *variable;    /* at every position */
    int *first;       /* position of the first column of each supernode, then n */
    int *parent;      /* NONE for roots */
    int *last_child;  /* of a supernode, or NONE */
    int *previous;    /* sibling, or NONE */
    int *level;       /* distance from the root, modulo 2 */
    size_t *below;    /* where the rows below each supernode start in `rows` and in `in_parent` */
    int *rows;        /* ascending, those of one supernode after the other's */
    int *in_parent;   /* row of the parent's front, without delayed columns, that each of them is */
    size_t *entry;    /* where the entries of A in each front start in the next three: */
    int *source, *row, *column; /* their index in A, row and column in the front */
    size_t entries;   /* of L, unless columns are delayed */
    size_t bytes;     /* of all this */
    struct analysis *next;
};

static int width_of(const struct analysis *a, int s) { return a->first[s + 1] - a->first[s]; }
static int rows_below(const struct analysis *a, int s) { return (int)(a->below[s + 1] - a->below[s]); }

/* The dense matrix of a supernode and its delayed columns: columns one after the other, lower triangle. */
struct front {
    double *a;
    int rows, fully_summed; /* the latter are its columns */
    int pivots;
    int *position;         /* of every row in the elimination order */
    double *d;             /* of every pivot: entry of D, and the one below it, 0 of a pivot of order one */
    const double *zero;    /* what is no larger counts as zero, by position */
};

/* Supernodes that one thread works on. */
struct part {
    double *values;   /* of L, front after front */
    double *d;        /* two of every pivot */
    double *stack[2]; /* contribution blocks, of either level */
    double *pack;
    size_t values_room, d_room, stack_room[2], pack_room, used, stack_used[2];
    struct list positions;
    int *local;
    int pivots, negative, pairs, delays, largest_front, flag;
    double work;
};

/* Part 0 has the supernodes above all subtrees that are shared out, without these all supernodes; every further part
has subtrees. */
struct factors {
    struct analysis *a;
    int parts, complete;                   /* whether they can solve */
    int *owner;                            /* part of every supernode, */
    size_t *start, *index, *contribution;  /* its first value there, first position, and contribution block, */
    int *rows, *pivots, *pivot;            /* its numbers of rows and of pivots, NONE if it failed, and first pivot */
    struct part *part;
    double *vector;
    double *size, *scale, *zero; /* of every row of A its largest entry, and its scale; see `front` */
};

#endif
