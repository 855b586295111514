// SPDX-License-Identifier: BSD-3-Clause
// Each rule of the dat.conf grammar (semantics 2.2).
#include "dat/registry/dat_conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::registry {
namespace {

constexpr char kGood[] = "ia0 u2.0 nonthreadsafe default libx.so fake.1.2 \"a b\" \"\"\n";

ConfEntry OneEntry(const std::string& text) {
  const ParsedConf parsed = ParseDatConf(text);
  for (const auto& diagnostic : parsed.diagnostics) {
    ADD_FAILURE() << DescribeDiagnostic("conf", diagnostic);
  }
  if (parsed.entries.size() == 1) return parsed.entries[0];
  ADD_FAILURE() << parsed.entries.size() << " entries in: " << text;
  return {};
}

// covers: semantics 2.2
TEST(DatConf, TakesAllEightFields) {
  const ConfEntry entry = OneEntry(kGood);
  EXPECT_EQ(entry.line, 1);
  EXPECT_EQ(entry.ia_name, "ia0");
  EXPECT_TRUE(entry.is_user_api);
  EXPECT_EQ(entry.major, 2u);
  EXPECT_EQ(entry.minor, 0u);
  EXPECT_FALSE(entry.thread_safe);
  EXPECT_TRUE(entry.is_default);
  EXPECT_EQ(entry.library, "libx.so");
  EXPECT_EQ(entry.provider_id, "fake");
  EXPECT_EQ(entry.provider_major, 1u);
  EXPECT_EQ(entry.provider_minor, 2u);
  EXPECT_EQ(entry.ia_params, "a b");
  EXPECT_EQ(entry.platform_params, "");
  EXPECT_TRUE(entry.IsRegistered());
}

// covers: semantics 2.2
TEST(DatConf, EmptyBlankAndCommentLinesAreNothing) {
  for (const char* text :
       {"", "\n", "\n\n", "  \t \n", "# a comment", "  # \"unclosed\n", "\r\n"}) {
    const ParsedConf parsed = ParseDatConf(text);
    EXPECT_TRUE(parsed.entries.empty()) << text;
    EXPECT_TRUE(parsed.diagnostics.empty()) << text;
  }
}

// covers: semantics 2.2
TEST(DatConf, LineEnds) {
  std::string text = kGood;
  text.pop_back();
  EXPECT_EQ(OneEntry(text).ia_name, "ia0");                // no newline at the end
  EXPECT_EQ(OneEntry(text + "\r\n").platform_params, "");  // CRLF
  EXPECT_EQ(OneEntry(text + "\r").platform_params, "");
  EXPECT_EQ(OneEntry("\r\n\r\n" + text + "\r\n").line, 3);
}

// One field of a good line is changed. The entry must say what is expected.
struct GoodField {
  const char* line;
  const char* expected;  // "name|major.minor|threadsafe|default|library|id|ia_params|platform"
};

std::string Summary(const ConfEntry& e) {
  return e.ia_name + "|" + (e.is_user_api ? "u" : "k") + std::to_string(e.major) + "." +
         std::to_string(e.minor) + "|" + (e.thread_safe ? "ts" : "nts") + "|" +
         (e.is_default ? "def" : "nodef") + "|" + e.library + "|" + e.provider_id + "|" +
         e.ia_params + "|" + e.platform_params;
}

class GoodFields : public testing::TestWithParam<GoodField> {};

// covers: semantics 2.2
TEST_P(GoodFields, AreTaken) { EXPECT_EQ(Summary(OneEntry(GetParam().line)), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    DatConf, GoodFields,
    testing::Values(
        // Tabs, many blanks, blanks in front.
        GoodField{"\t ia0\tu2.0  nonthreadsafe\t\tdefault l p.1.0 a b ",
                  "ia0|u2.0|nts|def|l|p|a|b"},
        // A name may hold '#', quotes and backslashes. A quoted name may hold blanks, too.
        GoodField{"na#me u2.0 nonthreadsafe default l p.1.0 a b", "na#me|u2.0|nts|def|l|p|a|b"},
        GoodField{"\"na me\" u2.0 nonthreadsafe default l p.1.0 a b", "na me|u2.0|nts|def|l|p|a|b"},
        GoodField{"na\\me u2.0 nonthreadsafe default l p.1.0 a b", "na\\me|u2.0|nts|def|l|p|a|b"},
        GoodField{"na\"me u2.0 nonthreadsafe default l p.1.0 a b", "na\"me|u2.0|nts|def|l|p|a|b"},
        // Versions are decimal numbers.
        GoodField{"i u02.00 nonthreadsafe default l p.1.0 a b", "i|u2.0|nts|def|l|p|a|b"},
        GoodField{"i u1.2 nonthreadsafe default l p.1.0 a b", "i|u1.2|nts|def|l|p|a|b"},
        GoodField{"i u4294967295.7 nonthreadsafe default l p.1.0 a b",
                  "i|u4294967295.7|nts|def|l|p|a|b"},
        GoodField{"i k2.0 nonthreadsafe default l p.1.0 a b", "i|k2.0|nts|def|l|p|a|b"},
        // Only the prefix counts.
        GoodField{"i u2.0 threadsafeXYZ default l p.1.0 a b", "i|u2.0|ts|def|l|p|a|b"},
        GoodField{"i u2.0 nonthreadsafe! defaultish l p.1.0 a b", "i|u2.0|nts|def|l|p|a|b"},
        GoodField{"i u2.0 threadsafe nondefaultX l p.1.0 a b", "i|u2.0|ts|nodef|l|p|a|b"},
        // Escapes work inside quotes, and only there.
        GoodField{"i u2.0 nonthreadsafe default l p.1.0 \"a\\\"b\\\\c\\d\" a\\\"b",
                  "i|u2.0|nts|def|l|p|a\"b\\c\\d|a\\\"b"},
        GoodField{"i u2.0 nonthreadsafe default l p.1.0 \"#x\" \"# y\"",
                  "i|u2.0|nts|def|l|p|#x|# y"},
        // A comment may follow, even right after a closing quote.
        GoodField{"i u2.0 nonthreadsafe default l p.1.0 a \"b\"# c d e", "i|u2.0|nts|def|l|p|a|b"},
        GoodField{"i u2.0 nonthreadsafe default l p.1.0 a b # c", "i|u2.0|nts|def|l|p|a|b"},
        GoodField{"i u2.0 nonthreadsafe default l p.1.0 a b#c", "i|u2.0|nts|def|l|p|a|b#c"},
        // A closing quote ends a token.
        GoodField{"i u2.0 nonthreadsafe default l p.1.0 \"a\"\"b\"", "i|u2.0|nts|def|l|p|a|b"}));

struct BadField {
  const char* line;
  ConfField field;
  int column;
};

class BadFields : public testing::TestWithParam<BadField> {};

// covers: semantics 2.2
TEST_P(BadFields, AreNamedAndHideNoGoodLine) {
  const std::string text = std::string(kGood) + GetParam().line + "\n" + kGood;
  const ParsedConf parsed = ParseDatConf(text);
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].line, 2);
  EXPECT_EQ(parsed.diagnostics[0].field, GetParam().field);
  EXPECT_EQ(parsed.diagnostics[0].column, GetParam().column);
  EXPECT_FALSE(parsed.diagnostics[0].message.empty());
  ASSERT_EQ(parsed.entries.size(), 2u);
  EXPECT_EQ(parsed.entries[0].line, 1);
  EXPECT_EQ(parsed.entries[1].line, 3);
}

INSTANTIATE_TEST_SUITE_P(
    DatConf, BadFields,
    testing::Values(
        BadField{"\"\" u2.0 nonthreadsafe default l p.1.0 a b", ConfField::kIaName, 1},
        BadField{"i 2.0 nonthreadsafe default l p.1.0 a b", ConfField::kApiVersion, 3},
        BadField{"i u2 nonthreadsafe default l p.1.0 a b", ConfField::kApiVersion, 3},
        BadField{"i u2. nonthreadsafe default l p.1.0 a b", ConfField::kApiVersion, 3},
        BadField{"i u.0 nonthreadsafe default l p.1.0 a b", ConfField::kApiVersion, 3},
        BadField{"i u2.0x nonthreadsafe default l p.1.0 a b", ConfField::kApiVersion, 3},
        BadField{"i U2.0 nonthreadsafe default l p.1.0 a b", ConfField::kApiVersion, 3},
        BadField{"i u-2.0 nonthreadsafe default l p.1.0 a b", ConfField::kApiVersion, 3},
        BadField{"i u4294967296.0 nonthreadsafe default l p.1.0 a b", ConfField::kApiVersion, 3},
        BadField{"i u2.0 Threadsafe default l p.1.0 a b", ConfField::kThreadSafety, 8},
        BadField{"i u2.0 thread_safe default l p.1.0 a b", ConfField::kThreadSafety, 8},
        BadField{"i u2.0 threadsafe DEFAULT l p.1.0 a b", ConfField::kDefault, 19},
        BadField{"i u2.0 threadsafe default \"\" p.1.0 a b", ConfField::kLibrary, 27},
        BadField{"i u2.0 threadsafe default l provider1.0 a b", ConfField::kProviderVersion, 29},
        BadField{"i u2.0 threadsafe default l x.2 a b", ConfField::kProviderVersion, 29},
        BadField{"i u2.0 threadsafe default l .2.0 a b", ConfField::kProviderVersion, 29},
        BadField{"i u2.0 threadsafe default l p.1.0", ConfField::kIaParams, 34},
        BadField{"i u2.0 threadsafe default l p.1.0 a", ConfField::kPlatformParams, 36},
        BadField{"i u2.0 threadsafe default l p.1.0 a #b", ConfField::kPlatformParams, 39},
        BadField{"i u2.0 threadsafe default l p.1.0 a b c", ConfField::kEndOfLine, 39},
        BadField{"i u2.0 threadsafe default l p.1.0 a \"b\"c", ConfField::kEndOfLine, 40},
        BadField{"i u2.0 threadsafe default l p.1.0 a \"b", ConfField::kPlatformParams, 37},
        BadField{"i u2.0 threadsafe default l p.1.0 \"a b c", ConfField::kIaParams, 35},
        BadField{"i u2.0 threadsafe default l p.1.0 a \"b\\\"", ConfField::kPlatformParams, 37},
        BadField{"i", ConfField::kApiVersion, 2}));

// covers: semantics 2.2
TEST(DatConf, ThereIsNoLineContinuation) {
  const ParsedConf parsed = ParseDatConf("i u2.0 threadsafe default l p.1.0 a \\\nb\n");
  ASSERT_EQ(parsed.entries.size(), 1u);
  EXPECT_EQ(parsed.entries[0].platform_params, "\\");
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].line, 2);
}

// covers: semantics 2.2
TEST(DatConf, NameLengthIsBounded) {
  const std::string rest = " u2.0 threadsafe default l p.1.0 a b";
  EXPECT_EQ(OneEntry(std::string(255, 'n') + rest).ia_name.size(), 255u);
  const ParsedConf parsed = ParseDatConf(std::string(256, 'n') + rest);
  EXPECT_TRUE(parsed.entries.empty());
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].field, ConfField::kIaName);
}

TEST(DatConf, ZeroBytesAreRefused) {
  const ParsedConf parsed =
      ParseDatConf(std::string("i u2.0 threadsafe default l\0x p.1.0 a b", 40));
  EXPECT_TRUE(parsed.entries.empty());
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].field, ConfField::kLibrary);
}

// covers: semantics 2.2
TEST(DatConf, KernelAndNondefaultLinesAreNotRegistered) {
  EXPECT_FALSE(OneEntry("i k2.0 threadsafe default l p.1.0 a b").IsRegistered());
  EXPECT_FALSE(OneEntry("i u2.0 threadsafe nondefault l p.1.0 a b").IsRegistered());
}

TEST(DatConf, DiagnosticsNameFileLineColumnAndField) {
  const ParsedConf parsed = ParseDatConf("\ni uX nonthreadsafe\n");
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(DescribeDiagnostic("/etc/dat.conf", parsed.diagnostics[0]),
            "/etc/dat.conf:2:3: field 2 (api_ver): 'uX' is not u or k, a major and a minor number, "
            "as in u2.0");
}

TEST(DatConf, DiagnosticsAreSafeToPrint) {
  const ParsedConf parsed = ParseDatConf("i u\x1b[2J nonthreadsafe\n");
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_THAT(parsed.diagnostics[0].message, testing::HasSubstr("\\x1b"));
}

}  // namespace
}  // namespace softdat::registry
