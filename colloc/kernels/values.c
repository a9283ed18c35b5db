/* The values that a function computes, from its instructions: where its programs begin. A product that one sum alone
reads is part of the sum. */

#include <stdlib.h>

enum { PRODUCT_ADD = 200, PRODUCT_SUBTRACT, SUBTRACT_PRODUCT, NOTHING, END };

struct value {
    int32_t op, read[3]; /* what computes it, from which others */
    int32_t place;       /* in the pool; -1 of none yet */
    int32_t uses, last;  /* how many read it; the last of them */
    int32_t window, level;
};

static int arity(int op)
{
    if (op == OP_INPUT || op == NOTHING) return 0;
    return op >= PRODUCT_ADD ? 3 : BINARY(op) ? 2 : 1;
}

/* A sum or difference takes in a product that nobody else reads. Of two it takes in the first, whatever the compiler of
the interpreter would choose: the other choice is rounded otherwise. */
static void fuse(struct value *v, int k)
{
    struct value *sum = v + k, *a = v + sum->read[0], *b = v + sum->read[1];
    int left = a->op == OP_MUL && a->uses == 1, right = !left && b->op == OP_MUL && b->uses == 1;
    if (!left && !right) return;
    int added = sum->op == OP_ADD;
    sum->op = added ? PRODUCT_ADD : left ? PRODUCT_SUBTRACT : SUBTRACT_PRODUCT;
    sum->read[2] = sum->read[left];
    struct value *product = left ? a : b;
    sum->read[0] = product->read[0], sum->read[1] = product->read[1];
    product->op = NOTHING;
}

/* The values of instructions. An instruction has four numbers: of an input or constant OP_INPUT, a register, its place;
of an output OP_OUTPUT, its place, a register; of all others the operation and three registers as CasADi has them. */
static void values(struct value *v, const int32_t (*in)[4], casadi_int n, int32_t *held)
{
    for (int k = 0; k < n; k++) {
        int op = in[k][0];
        v[k] = (struct value){.op = op, .place = op == OP_INPUT ? in[k][2] : -1, .last = -1, .window = -1};
        for (int r = 0; r < arity(op); r++) v[k].read[r] = held[in[k][2 + r]], v[v[k].read[r]].uses++;
        if (op != OP_OUTPUT) held[in[k][1]] = k;
    }
    for (int k = 0; k < n; k++) {
        struct value *read = v + v[k].read[0];
        if (v[k].op == OP_ADD || v[k].op == OP_SUB) fuse(v, k);
        else if (v[k].op == OP_OUTPUT && read->place < 0) read->place = in[k][1], v[k].op = NOTHING;
        else if (v[k].op == OP_OUTPUT) v[k].place = in[k][1], v[k].op = OP_ASSIGN;
    }
}
