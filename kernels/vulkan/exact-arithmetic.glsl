// float32 operations that round on their own and correctly. Vulkan allows quotients and roots 2.5 units in the last
// place of error: the exact rest of what the device gives (Dekker's product, 1971) mends them.
float add_exact(float a, float b) {
    precise float sum = a + b;
    return sum;
}
float multiply_exact(float a, float b) {
    precise float product = a * b;
    return product;
}

// a * b - product.
float product_rest(float a, float b, float product) {
    precise float a_wide = 4097.0 * a;
    precise float a_high = a_wide - (a_wide - a);
    precise float a_low = a - a_high;
    precise float b_wide = 4097.0 * b;
    precise float b_high = b_wide - (b_wide - b);
    precise float b_low = b - b_high;
    precise float rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return rest;
}
// Whether no part of a product with it leaves float32.
bool is_tame(float x) { return abs(x) > 1e-18 && abs(x) < 1e18; }

float divide_exact(float a, float b) {
    precise float quotient = a / b;
    if (!is_tame(a) || !is_tame(b) || !is_tame(quotient)) return quotient;
    precise float product = quotient * b;
    precise float rest = (a - product) - product_rest(quotient, b, product);
    precise float better = quotient + rest / b;
    return better;
}
float root_exact(float a) {
    precise float root = sqrt(a);
    if (!is_tame(a)) return root;
    precise float square = root * root;
    precise float rest = (a - square) - product_rest(root, root, square);
    precise float better = root + rest / (2.0 * root);
    return better;
}
