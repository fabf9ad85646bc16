#pragma once

#include <filesystem>

namespace eliza {

// This user's folders, as packages/fetch has them: what was installed, and what can be made again.
std::filesystem::path data_folder();
std::filesystem::path cache_folder();

} // namespace eliza
