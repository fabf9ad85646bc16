/**
 * Mean KL divergence of the same formats on the same models, coded inside an attention that computes in float32
 * throughout, on other English text (context 4,096, the last 2,048 positions of each chunk; intervals of 3 to 4 %).
 * By model and cache.
 */
export const FLOAT32_KL: Record<string, Record<string, number>> = {
  "smollm2-135m": {
    "q8_0/q8_0": 0.00012,
    "q5_1/q5_1": 0.0065,
    "iq4_nl/iq4_nl": 0.0267,
    "q4_0/q4_0": 0.0318,
    "turbo4/turbo4": 0.0257,
    "turbo4_tcq/turbo4_tcq": 0.0248,
    "tbq3/tbq3": 0.124,
    "turbo3/turbo3": 0.201,
    "turbo3_tcq/turbo3_tcq": 0.103,
    "turbo2_tcq/turbo2_tcq": 0.583,
    "q4_0/f16": 0.027,
    "f16/q4_0": 0.0042,
    "turbo3_tcq/f16": 0.085,
    "f16/turbo3_tcq": 0.011,
    "f16/turbo2_tcq": 0.065,
  },
  "gemma3-270m": {
    "q8_0/q8_0": 0.00097,
    "q5_1/q5_1": 0.049,
    "iq4_nl/iq4_nl": 0.217,
    "q4_0/q4_0": 0.236,
    "turbo4/turbo4": 0.097,
    "turbo4_tcq/turbo4_tcq": 0.167,
    "tbq3/tbq3": 0.401,
    "turbo3/turbo3": 1.138,
    "turbo3_tcq/turbo3_tcq": 0.634,
    "turbo2_tcq/turbo2_tcq": 2.24,
    "qjl1_256/f16": 3.71,
    "q4_0/f16": 0.229,
    "f16/q4_0": 0.0092,
    "turbo3_tcq/f16": 0.62,
    "f16/turbo3_tcq": 0.0248,
    "f16/turbo2_tcq": 0.105,
  },
};
