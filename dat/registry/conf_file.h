// SPDX-License-Identifier: BSD-3-Clause
// Finding and reading dat.conf.
#ifndef SOFTDAT_DAT_REGISTRY_CONF_FILE_H_
#define SOFTDAT_DAT_REGISTRY_CONF_FILE_H_

#include <string>

#include "dat/base/status.h"
#include "dat/registry/dat_conf.h"

namespace softdat::registry {

inline constexpr char kDefaultConfPath[] = "/etc/dat.conf";

// Reads a whole file. Refuses anything but a regular file or a pipe, and more than 16 MiB.
Result<std::string> ReadConfFile(const std::string& path);

// Where the static registry comes from (semantics 2.2).
struct ConfSource {
  bool has_override = false;  // DAT_OVERRIDE is set, even if to ""
  std::string override_path;
  std::string default_path = kDefaultConfPath;
};

struct LoadedConf {
  std::string path;   // the file that was tried
  Status problem;     // when DAT_OVERRIDE names something unreadable
  ParsedConf parsed;  // empty without a file
};

// Reads the file that DAT_OVERRIDE names, and no other file if that one cannot be read. Without
// DAT_OVERRIDE it reads the default file, which may be missing. Each diagnostic goes to the log.
LoadedConf LoadConf(const ConfSource& source);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_CONF_FILE_H_
