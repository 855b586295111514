// SPDX-License-Identifier: BSD-3-Clause
// dat.conf: lines to tokens to fields.
#include "dat/registry/dat_conf.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "dat/base/setting_values.h"

namespace softdat::registry {
namespace {

constexpr size_t kMaxNameBytes = 255;  // DAT_NAME_MAX_LENGTH with its terminating zero is 256

struct Token {
  std::string text;
  int column = 0;  // from 1; that of the opening quote if there is one
};

// Why a line cannot be cut into tokens, and where.
struct TokenError {
  int column = 0;
  std::string message;
};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Reads a quoted token. *at is at the opening quote before, and behind the closing quote after.
// Inside quotes, \" and \\ stand for " and \; any other backslash is an ordinary character.
std::optional<TokenError> TakeQuoted(std::string_view line, size_t* at, std::string* text) {
  const size_t opening = *at;
  for (size_t i = opening + 1; i < line.size(); ++i) {
    char c = line[i];
    if (c == '"') {
      *at = i + 1;
      return std::nullopt;
    }
    if (c == '\\' && i + 1 < line.size() && (line[i + 1] == '"' || line[i + 1] == '\\')) {
      c = line[++i];
    }
    *text += c;
  }
  return TokenError{static_cast<int>(opening) + 1, "the quote is not closed on this line"};
}

// Cuts a line into tokens. A '#' starts a comment wherever a token could start, which includes the
// place right after a closing quote. Inside a token it is an ordinary character.
std::optional<TokenError> Tokenize(std::string_view line, std::vector<Token>* tokens) {
  size_t at = 0;
  for (;;) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    if (at == line.size() || line[at] == '#') return std::nullopt;
    Token token;
    token.column = static_cast<int>(at) + 1;
    if (line[at] == '"') {
      if (auto error = TakeQuoted(line, &at, &token.text)) return error;
    } else {
      const size_t start = at;
      while (at < line.size() && !IsBlank(line[at])) ++at;
      token.text = std::string(line.substr(start, at - start));
    }
    tokens->push_back(std::move(token));
  }
}

// Takes decimal digits off the front. Returns nothing when there are none or they exceed 32 bits.
std::optional<uint32_t> TakeDecimal(std::string_view* text) {
  uint32_t value = 0;
  const char* end = text->data() + text->size();
  auto [stop, error] = std::from_chars(text->data(), end, value, 10);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  return value;
}

// Parses "2.0" as major and minor. Nothing else may stand before, between or after the numbers.
bool ParseMajorMinor(std::string_view text, uint32_t* major, uint32_t* minor) {
  auto first = TakeDecimal(&text);
  if (!first || text.empty() || text[0] != '.') return false;
  text.remove_prefix(1);
  auto second = TakeDecimal(&text);
  if (!second || !text.empty()) return false;
  *major = *first;
  *minor = *second;
  return true;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Each parser returns "", or what is wrong with the field.
std::string ParseIaName(const std::string& text, ConfEntry* entry) {
  if (text.empty()) return "the name is empty";
  if (text.size() > kMaxNameBytes) {
    return fmt::format("the name has {} bytes, at most {} are possible", text.size(),
                       kMaxNameBytes);
  }
  entry->ia_name = text;
  return "";
}

std::string ParseApiVersion(const std::string& text, ConfEntry* entry) {
  std::string_view rest = text;
  if (rest.empty() || (rest[0] != 'u' && rest[0] != 'k') ||
      !ParseMajorMinor(rest.substr(1), &entry->major, &entry->minor)) {
    return fmt::format("'{}' is not u or k, a major and a minor number, as in u2.0",
                       Printable(text));
  }
  entry->is_user_api = rest[0] == 'u';
  return "";
}

// Only the prefix is compared (semantics 2.2).
std::string ParseThreadSafety(const std::string& text, ConfEntry* entry) {
  entry->thread_safe = StartsWith(text, "threadsafe");
  if (entry->thread_safe || StartsWith(text, "nonthreadsafe")) return "";
  return fmt::format("'{}' is neither threadsafe nor nonthreadsafe", Printable(text));
}

std::string ParseDefault(const std::string& text, ConfEntry* entry) {
  entry->is_default = StartsWith(text, "default");
  if (entry->is_default || StartsWith(text, "nondefault")) return "";
  return fmt::format("'{}' is neither default nor nondefault", Printable(text));
}

std::string ParseLibrary(const std::string& text, ConfEntry* entry) {
  if (text.empty()) return "the library path is empty";
  entry->library = text;
  return "";
}

std::string ParseProviderVersion(const std::string& text, ConfEntry* entry) {
  std::string_view rest = text;
  const size_t dot = rest.find('.');
  if (dot == 0 || dot == std::string_view::npos ||
      !ParseMajorMinor(rest.substr(dot + 1), &entry->provider_major, &entry->provider_minor)) {
    return fmt::format("'{}' is not id.major.minor, as in softdat.0.1", Printable(text));
  }
  entry->provider_id = std::string(rest.substr(0, dot));
  return "";
}

std::string ParseField(ConfField field, const std::string& text, ConfEntry* entry) {
  if (text.find('\0') != std::string::npos) return "a zero byte";
  switch (field) {
    case ConfField::kIaName:
      return ParseIaName(text, entry);
    case ConfField::kApiVersion:
      return ParseApiVersion(text, entry);
    case ConfField::kThreadSafety:
      return ParseThreadSafety(text, entry);
    case ConfField::kDefault:
      return ParseDefault(text, entry);
    case ConfField::kLibrary:
      return ParseLibrary(text, entry);
    case ConfField::kProviderVersion:
      return ParseProviderVersion(text, entry);
    case ConfField::kIaParams:
      entry->ia_params = text;
      return "";
    case ConfField::kPlatformParams:
      entry->platform_params = text;
      return "";
    case ConfField::kEndOfLine:
      break;
  }
  return "more than eight fields";
}

ConfField FieldAt(size_t index) {
  const size_t last = static_cast<size_t>(ConfField::kEndOfLine) - 1;
  return static_cast<ConfField>((index < last ? index : last) + 1);
}

void ParseLine(std::string_view line, int number, ParsedConf* out) {
  ConfEntry entry;
  entry.line = number;
  std::vector<Token> tokens;
  const auto token_error = Tokenize(line, &tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const ConfField field = FieldAt(i);
    std::string message = ParseField(field, tokens[i].text, &entry);
    if (message.empty()) continue;
    out->diagnostics.push_back({number, tokens[i].column, field, std::move(message)});
    return;
  }
  if (token_error) {
    out->diagnostics.push_back(
        {number, token_error->column, FieldAt(tokens.size()), token_error->message});
    return;
  }
  if (tokens.empty()) return;
  const ConfField next = FieldAt(tokens.size());
  if (next != ConfField::kEndOfLine) {
    out->diagnostics.push_back({number, static_cast<int>(line.size()) + 1, next,
                                "missing: the line ends before this field"});
    return;
  }
  out->entries.push_back(std::move(entry));
}

}  // namespace

std::string_view ConfFieldName(ConfField field) {
  switch (field) {
    case ConfField::kIaName:
      return "ia_name";
    case ConfField::kApiVersion:
      return "api_ver";
    case ConfField::kThreadSafety:
      return "thread_safety";
    case ConfField::kDefault:
      return "default";
    case ConfField::kLibrary:
      return "lib_path";
    case ConfField::kProviderVersion:
      return "provider_ver";
    case ConfField::kIaParams:
      return "ia_params";
    case ConfField::kPlatformParams:
      return "platform_params";
    case ConfField::kEndOfLine:
      return "end of line";
  }
  return "unknown";
}

ParsedConf ParseDatConf(std::string_view text) {
  ParsedConf out;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ParseLine(line, number, &out);
  }
  return out;
}

std::string DescribeDiagnostic(std::string_view path, const ConfDiagnostic& diagnostic) {
  return fmt::format("{}:{}:{}: field {} ({}): {}", path, diagnostic.line, diagnostic.column,
                     static_cast<int>(diagnostic.field), ConfFieldName(diagnostic.field),
                     diagnostic.message);
}

}  // namespace softdat::registry
