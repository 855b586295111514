// SPDX-License-Identifier: BSD-3-Clause
// The places where libdat2 looks, in this process: its dat.conf and its folders of providers.
#ifndef SOFTDAT_TOOLS_INFO_ENVIRONMENT_H_
#define SOFTDAT_TOOLS_INFO_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "dat/registry/conf_file.h"

namespace softdat::tools {

registry::ConfSource ConfSourceOfProcess();

// The folders of SOFTDAT_PROVIDER_PATH, then those beside the libdat2 that is loaded.
std::vector<std::string> ProviderFoldersOfProcess();

// The file of the libdat2 that is loaded.
std::string LibraryFile();

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_ENVIRONMENT_H_
