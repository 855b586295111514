// SPDX-License-Identifier: BSD-3-Clause
// The findings about IAs as text and as JSON.
#include "tools/info/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/text.h"

namespace softdat::tools {
namespace {

using Json = nlohmann::ordered_json;

// The name of the file without its folder, which is long and mostly the same.
std::string FileOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string Chain(const IaState& state) {
  std::string text = state.error + "\n";
  for (const auto& reason : state.reasons) text += "    because: " + reason + "\n";
  return text;
}

// The innermost reason. --why prints all of them.
std::string InnermostReason(const IaState& state) {
  return state.reasons.empty() ? state.error : state.reasons.back();
}

std::string ValueText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& part : value) text += (text.empty() ? "" : ", ") + ValueText(part);
  return text;
}

// "  name    value". The members of an object are indented below its name.
void AddAttributes(const Json& attributes, const std::string& indent, Table* table) {
  for (const auto& [name, value] : attributes.items()) {
    if (value.is_object()) {
      table->AddRow({indent + name, value.empty() ? "none" : ""});
      AddAttributes(value, indent + "  ", table);
    } else {
      table->AddRow({indent + name, ValueText(value)});
    }
  }
}

}  // namespace

std::string RenderTable(std::vector<ProbedIa> ias) {
  std::stable_partition(ias.begin(), ias.end(), [](const ProbedIa& ia) { return ia.state.ok; });
  Table table({"NAME", "STATE", "ADDRESS", "PROVIDER", "FROM", "REASON"});
  for (const auto& ia : ias) {
    table.AddRow({ia.entry.name, ia.state.ok ? "ok" : "unavailable", OrDash(ia.state.address),
                  OrDash(FileOf(ia.entry.library)), ia.entry.from, InnermostReason(ia.state)});
  }
  return table.Render();
}

std::string RenderVerbose(const ProbedIa& ia) {
  Table table({ia.entry.name, ia.state.ok ? "" : "unavailable"});
  table.AddRow({"  library", OrDash(ia.entry.library)});
  table.AddRow({"  from", ia.entry.from});
  table.AddRow({"  api", ia.entry.api_version});
  table.AddRow({"  registered as thread safe", ia.entry.thread_safe ? "yes" : "no"});
  if (!ia.state.ok) return table.Render() + "  " + Chain(ia.state);
  table.AddRow({"adapter"});
  AddAttributes(ia.state.ia, "  ", &table);
  table.AddRow({"provider"});
  AddAttributes(ia.state.provider, "  ", &table);
  return table.Render();
}

std::string RenderWhy(const ProbedIa& ia) {
  if (!ia.state.ok) return fmt::format("{} cannot be opened: {}", ia.entry.name, Chain(ia.state));
  return fmt::format("{} can be opened: address {}, served by {}\n", ia.entry.name,
                     ia.state.address, OrDash(ia.entry.library));
}

Json IaJson(const ProbedIa& ia, bool verbose) {
  Json json;
  json["name"] = ia.entry.name;
  json["available"] = ia.state.ok;
  json["address"] = ia.state.ok ? Json(ia.state.address) : Json();
  json["library"] = ia.entry.library;
  json["from"] = ia.entry.from;
  json["api_version"] = ia.entry.api_version;
  json["thread_safe"] = ia.entry.thread_safe;
  if (!ia.state.ok) {
    json["error"] = ia.state.error;
    json["reasons"] = ia.state.reasons;
  } else if (verbose) {
    json["ia_attr"] = ia.state.ia;
    json["provider_attr"] = ia.state.provider;
  }
  return json;
}

}  // namespace softdat::tools
