// H128 in shared memory, natural order, no factor, of `count` slices of the query. Called by the whole workgroup.
void hadamard_slices(uint count) {
    for (uint step = 1; step < 128; step *= 2) {
        for (uint i = gl_LocalInvocationIndex; i < count * 64; i += gl_WorkGroupSize.x) {
            const uint pair = i % 64;
            const uint low = (i / 64) * 128 + (pair / step) * 2 * step + pair % step;
            const float a = query_slices[low], b = query_slices[low + step];
            query_slices[low] = a + b;
            query_slices[low + step] = a - b;
        }
        barrier();
    }
}
