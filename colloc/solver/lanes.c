/* Many programs of one pattern at once: program l of a group is lane l of every vector.

Arrays have the shape (groups, entries, LANES). All arrays belong to the caller; nothing here allocates memory. */

#include <stdint.h>

#ifdef _WIN32
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
typedef double V __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef int64_t M __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

EXPORT int64_t lanes_width(void) { return LANES; }

static V broadcast(double x) { return x - (V){0}; }

/* y[t] = the sum over k of weight[k] a[left[k]] b[right[k]], for starts[t] <= k < starts[t + 1]. Without b its factors
are one. */
EXPORT void lanes_sums(int64_t groups, int64_t targets, const int32_t *starts, const int32_t *left,
                       const int32_t *right, const double *weight, const double *a, int64_t size_a, const double *b,
                       int64_t size_b, double *y)
{
    for (int64_t g = 0; g < groups; g++) {
        const V *x = (const V *)a + g * size_a, *z = b ? (const V *)b + g * size_b : 0;
        V *to = (V *)y + g * targets;
        for (int64_t t = 0; t < targets; t++) {
            V sum = broadcast(0.0);
            if (b)
                for (int32_t k = starts[t]; k < starts[t + 1]; k++) sum += weight[k] * x[left[k]] * z[right[k]];
            else
                for (int32_t k = starts[t]; k < starts[t + 1]; k++) sum += weight[k] * x[left[k]];
            to[t] = sum;
        }
    }
}

static V absolute(V x) { return (V)((M)x & INT64_MAX); }

/* x where it is larger, or not a number; y that is no number stays. */
static V larger(V x, V y)
{
    M take = ~(x <= y) & (y == y);
    return (V)(((M)x & take) | ((M)y & ~take));
}

/* y = sums, sums of absolute values, largest values or largest absolute values over the entries, none of them below
`least`. */
EXPORT void lanes_total(int64_t groups, int64_t entries, int64_t kind, double least, const double *a, double *y)
{
    for (int64_t g = 0; g < groups; g++) {
        const V *x = (const V *)a + g * entries;
        V total = broadcast(least);
        switch (kind) {
        case 0:
            for (int64_t k = 0; k < entries; k++) total += x[k];
            break;
        case 1:
            for (int64_t k = 0; k < entries; k++) total += absolute(x[k]);
            break;
        case 2:
            for (int64_t k = 0; k < entries; k++) total = larger(x[k], total);
            break;
        default:
            for (int64_t k = 0; k < entries; k++) total = larger(absolute(x[k]), total);
        }
        ((V *)y)[g] = total;
    }
}

/* L D L' of symmetric matrices without pivoting, column after column. Entry e of the factor is at row row[e]; entries
of column j are first[j] <= e < first[j + 1], its diagonal first. source[e] is the entry of the matrix, or -1; the pairs
starts[e] <= k < starts[e + 1] are the products L[left[k]] U[right[k]] that are taken from it, U = L D. On the diagonal
D and 1/D are in U and L; U is the memory of one group. `negative` receives the number of negative pivots in every lane. */
EXPORT void lanes_factorise(int64_t groups, int64_t size, int64_t entries, const int32_t *first,
                            const int32_t *source, const int32_t *starts, const int32_t *left, const int32_t *right,
                            const double *matrix, int64_t matrix_size, double *lower, double *upper, int64_t *negative)
{
    for (int64_t g = 0; g < groups; g++) {
        const V *A = (const V *)matrix + g * matrix_size;
        V *L = (V *)lower + g * entries, *U = (V *)upper;
        M count = {0};
        for (int64_t j = 0; j < size; j++) {
            V inverse = broadcast(0.0);
            for (int32_t e = first[j]; e < first[j + 1]; e++) {
                V sum = source[e] < 0 ? broadcast(0.0) : A[source[e]];
                for (int32_t k = starts[e]; k < starts[e + 1]; k++) sum -= L[left[k]] * U[right[k]];
                U[e] = sum;
                if (e == first[j]) {
                    inverse = broadcast(1.0) / sum;
                    L[e] = inverse;
                    count -= sum < broadcast(0.0);
                } else {
                    L[e] = sum * inverse;
                }
            }
        }
        *((M *)negative + g) = count;
    }
}

/* Solve with the factors, in place, shape (groups, size, LANES), in the order of the factor. */
EXPORT void lanes_solve(int64_t groups, int64_t size, int64_t entries, const int32_t *first, const int32_t *row,
                        const double *lower, double *right_side)
{
    for (int64_t g = 0; g < groups; g++) {
        const V *L = (const V *)lower + g * entries;
        V *x = (V *)right_side + g * size;
        for (int64_t j = 0; j < size; j++)
            for (int32_t e = first[j] + 1; e < first[j + 1]; e++) x[row[e]] -= L[e] * x[j];
        for (int64_t j = size - 1; j >= 0; j--) {
            V sum = x[j] * L[first[j]];
            for (int32_t e = first[j] + 1; e < first[j + 1]; e++) sum -= L[e] * x[row[e]];
            x[j] = sum;
        }
    }
}
