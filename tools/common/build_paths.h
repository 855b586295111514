// SPDX-License-Identifier: BSD-3-Clause
// Lets a tool that is started directly from Bazel's output (bazel run, bazel-bin/tools/...) find
// the providers that were built with it. tools/softdat-run does the same for any program.
#ifndef SOFTDAT_TOOLS_COMMON_BUILD_PATHS_H_
#define SOFTDAT_TOOLS_COMMON_BUILD_PATHS_H_

#include <string>
#include <vector>

namespace softdat::tools {

// The folders provider_*/ with a provider library, under the nearest folder above `program` that
// has any. Empty if the program is not in Bazel's output.
std::vector<std::string> ProviderFoldersNear(const std::string& program);

// Sets SOFTDAT_PROVIDER_PATH to these folders, unless it is set already. Call it before the first
// DAT call and before there are threads.
void UseProvidersOfThisBuild();

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_BUILD_PATHS_H_
