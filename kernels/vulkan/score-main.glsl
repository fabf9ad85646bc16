layout(push_constant) uniform Params { Shape params; };

void main() { score(params); }
