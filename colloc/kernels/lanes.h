/* One value of LANES slices: the vector type, and the operations that a C operator does not spell.

A comparison of vectors gives a mask, all bits set where it holds; a truth value is 1.0 or 0.0, and anything but 0.0,
NaN included, counts as true. */

#include <math.h>
#include <stdint.h>

typedef double V __attribute__((vector_size(8 * LANES)));
typedef int64_t M __attribute__((vector_size(8 * LANES)));

#if LANES == 8
#define K(c) ((V){c, c, c, c, c, c, c, c})
#define KM(c) ((M){c, c, c, c, c, c, c, c})
#elif LANES == 4
#define K(c) ((V){c, c, c, c})
#define KM(c) ((M){c, c, c, c})
#elif LANES == 2
#define K(c) ((V){c, c})
#define KM(c) ((M){c, c})
#else
#define K(c) ((V){c})
#define KM(c) ((M){c})
#endif

#define LANEWISE static inline __attribute__((unused))
#define SIGN_BIT KM(INT64_MIN)

LANEWISE V only(M mask, V x) { return (V)(mask & (M)x); }
LANEWISE V either(M mask, V x, V y) { return (V)((mask & (M)x) | (~mask & (M)y)); }
LANEWISE V truth(M mask) { return only(mask, K(1.0)); }
LANEWISE M holds(V x) { return (M)(x != K(0.0)); }

LANEWISE V v_if_else_zero(V x, V y) { return only(holds(x), y); }
LANEWISE V v_fabs(V x) { return (V)((M)x & ~SIGN_BIT); }
LANEWISE V v_copysign(V x, V y) { return (V)(((M)x & ~SIGN_BIT) | ((M)y & SIGN_BIT)); }
LANEWISE V v_sign(V x) { return either((M)(x < K(0.0)) | (M)(x > K(0.0)), v_copysign(K(1.0), x), x); }
LANEWISE V v_fmin(V x, V y) { return either((M)(x < y) | (M)(y != y), x, y); } /* a number wins over NaN */
LANEWISE V v_fmax(V x, V y) { return either((M)(x > y) | (M)(y != y), x, y); }
