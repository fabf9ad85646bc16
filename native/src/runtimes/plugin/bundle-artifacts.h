#pragma once

#include <initializer_list>
#include <string>

namespace eliza {

// The one entry of the bundle's text/ with one of these endings; empty if there is none or several. A bundle may be
// such an entry itself.
std::string only_artifact(const std::string &bundle, std::initializer_list<const char *> endings);

// The folder of MLX weights: text/ itself or the one folder in it that holds config.json and *.safetensors; empty if
// there is none or several.
std::string mlx_weights(const std::string &bundle);

} // namespace eliza
