// SPDX-License-Identifier: BSD-3-Clause
// Parser of dat.conf, the static registry's file. Pure: text in, entries and diagnostics out.
//
// A line has eight fields, separated by blanks or tabs (semantics 2.2):
//   IA-name  API-version  thread-safety  default  library  provider-version  IA-params
//   platform-params
// For example:
//   softnet-lo u2.0 nonthreadsafe default libdaplsoftnet.so.2 softdat.0.1 "" ""
#ifndef SOFTDAT_DAT_REGISTRY_DAT_CONF_H_
#define SOFTDAT_DAT_REGISTRY_DAT_CONF_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softdat::registry {

enum class ConfField : uint8_t {
  kIaName = 1,
  kApiVersion,
  kThreadSafety,
  kDefault,
  kLibrary,
  kProviderVersion,
  kIaParams,
  kPlatformParams,
  kEndOfLine,
};

// The name of a field as diagnostics show it: "ia_name", "api_ver", ...
std::string_view ConfFieldName(ConfField field);

// One good line.
struct ConfEntry {
  int line = 0;  // from 1
  std::string ia_name;
  bool is_user_api = false;  // "u"; false for "k", the kernel API
  uint32_t major = 0;        // of the API
  uint32_t minor = 0;
  bool thread_safe = false;
  bool is_default = false;
  std::string library;
  std::string provider_id;
  uint32_t provider_major = 0;
  uint32_t provider_minor = 0;
  std::string ia_params;
  std::string platform_params;

  // Programs that use this library see only these entries.
  bool IsRegistered() const { return is_user_api && is_default; }
};

// One bad line. It does not affect the other lines.
struct ConfDiagnostic {
  int line = 0;    // from 1
  int column = 0;  // from 1, in bytes
  ConfField field = ConfField::kIaName;
  std::string message;  // safe to print
};

struct ParsedConf {
  std::vector<ConfEntry> entries;  // in file order
  std::vector<ConfDiagnostic> diagnostics;
};

// Never fails as a whole: each line is an entry, a diagnostic, or nothing (blank, comment). LF and
// CRLF both end a line, and the last line needs neither.
ParsedConf ParseDatConf(std::string_view text);

// "PATH:LINE:COLUMN: field N (NAME): MESSAGE".
std::string DescribeDiagnostic(std::string_view path, const ConfDiagnostic& diagnostic);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_DAT_CONF_H_
