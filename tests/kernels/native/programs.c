/* Random functions in the pool: interpreted, and by machine code. It follows the code of the interpreter, with its LANES.

Standard input has functions, each as 64-bit numbers: instructions, registers, the values before temporary ones, inputs and
constants among them (the first of these places, their number), outputs likewise, samples of LANES slices; then the
instructions as `schedule` takes them, and the values of every sample. Standard output gets, of every sample, the outputs of
the interpreter and those of the machine code. Returns 1 without machine code, 2 if it could not be kept; with the argument
"interpreter", 1 with machine code, and the interpreter is asked twice. */

#include <stdio.h>

static void *memory(size_t size)
{
    void *made = aligned_alloc(64, (size + 127) / 64 * 64);
    if (!made) exit(3);
    return made;
}

static void *get(size_t size)
{
    void *made = memory(size);
    if (fread(made, 1, size, stdin) != size) exit(3);
    return made;
}

static int one_function(const casadi_int *head, uint64_t number, int interpreted)
{
    casadi_int n = head[0], registers = head[1], first = head[2], given = head[3], out = head[4], results = head[5];
    int32_t(*in)[4] = get(16 * n);
    const double *values = get(sizeof(V) * given * head[6]);
    size_t room = 60 * (n + 1) + 512;
    int64_t *work = malloc(8 * (10 * n + registers + 1));
    int32_t *runs = malloc(4 * (6 * n + 1));
    uint8_t *code = malloc(room);
    casadi_int ends[2], length = 0;
    schedule(in, n, registers, first, work, runs, 6 * n + 1, ends);
    length = write_code(in, n, registers, first, work, code, room, ends + 1);
    if ((length == 0) != interpreted) return 1;
    if (!interpreted && keep_code(number, code, length, "f") != 1) return 2;
    struct kept *kept = find_code(number);
    casadi_int size = ends[0] > ends[1] ? ends[0] : ends[1];
    V *pool = memory(sizeof(V) * size);
    for (casadi_int s = 0; s < head[6]; s++)
        for (int way = 0; way < 2; way++) {
            memset(pool, 0xff, sizeof(V) * size); /* not a number where nothing is written */
            memcpy(pool, values + LANES * given * s, sizeof(V) * given);
            if (way && kept) run_code(code_of(kept), pool);
            else runs32(pool, (const uint32_t *)runs);
            fwrite(pool + out, sizeof(V), results, stdout);
        }
    give_back(kept), drop_code(number);
    free(in), free((void *)values), free(work), free(runs), free(code), free(pool);
    return 0;
}

int main(int count, char **arguments)
{
    casadi_int head[7];
    int status = 0, interpreted = count > 1 && !strcmp(arguments[1], "interpreter");
    uint64_t number = 0;
    while (!status && fread(head, sizeof head, 1, stdin) == 1) status = one_function(head, ++number, interpreted);
    return status;
}
