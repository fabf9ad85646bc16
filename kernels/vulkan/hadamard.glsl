// H128 in shared memory, natural order, no factor. Called by the whole workgroup, at any size.
shared float tile[128];

void hadamard_tile() {
    for (uint step = 1; step < 128; step *= 2) {
        barrier();
        for (uint pair = gl_LocalInvocationIndex; pair < 64; pair += gl_WorkGroupSize.x) {
            const uint low = (pair / step) * 2 * step + pair % step;
            const float a = tile[low], b = tile[low + step];
            tile[low] = a + b;
            tile[low + step] = a - b;
        }
    }
    barrier();
}
