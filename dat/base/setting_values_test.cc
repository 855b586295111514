// SPDX-License-Identifier: BSD-3-Clause
#include "dat/base/setting_values.h"

#include <gtest/gtest.h>

namespace softdat {
namespace {

TEST(SettingValues, Bool) {
  for (const char* text : {"on", "ON", "yes", "True", "1"}) EXPECT_EQ(ParseBool(text), true);
  for (const char* text : {"off", "No", "false", "0"}) EXPECT_EQ(ParseBool(text), false);
  for (const char* text : {"", "2", "onn", " on", "o"}) EXPECT_FALSE(ParseBool(text)) << text;
}

TEST(SettingValues, Int) {
  EXPECT_EQ(ParseInt("0"), 0);
  EXPECT_EQ(ParseInt("-3"), -3);
  EXPECT_EQ(ParseInt("007"), 7);
  EXPECT_EQ(ParseInt("0xFF"), 255);
  EXPECT_EQ(ParseInt("0Xff"), 255);
  EXPECT_EQ(ParseInt("9223372036854775807"), INT64_MAX);
  for (const char* text :
       {"", "x", "1x", " 1", "1 ", "0x", "0x-1", "--1", "+1", "9223372036854775808", "1.5"}) {
    EXPECT_FALSE(ParseInt(text)) << text;
  }
}

TEST(SettingValues, Size) {
  EXPECT_EQ(ParseSize("4096"), 4096);
  EXPECT_EQ(ParseSize("4K"), 4096);
  EXPECT_EQ(ParseSize("4KiB"), 4096);
  EXPECT_EQ(ParseSize("2m"), 2 << 20);
  EXPECT_EQ(ParseSize("1GB"), 1 << 30);
  for (const char* text : {"", "K", "4T", "4KX", "-1", "9999999999G", "1 K"}) {
    EXPECT_FALSE(ParseSize(text)) << text;
  }
}

TEST(SettingValues, Duration) {
  EXPECT_EQ(ParseDurationUs("20"), 20);
  EXPECT_EQ(ParseDurationUs("20us"), 20);
  EXPECT_EQ(ParseDurationUs("5ms"), 5000);
  EXPECT_EQ(ParseDurationUs("2s"), 2000000);
  EXPECT_EQ(ParseDurationMs("300"), 300);
  EXPECT_EQ(ParseDurationMs("2s"), 2000);
  EXPECT_EQ(ParseDurationMs("1us"), 1);
  EXPECT_EQ(ParseDurationMs("1000us"), 1);
  EXPECT_EQ(ParseDurationMs("1001us"), 2);
  EXPECT_EQ(ParseDurationMs("0us"), 0);
  for (const char* text : {"", "us", "-1", "5m", "5 ms", "9223372036854775807s"}) {
    EXPECT_FALSE(ParseDurationUs(text)) << text;
    EXPECT_FALSE(ParseDurationMs(text)) << text;
  }
}

TEST(SettingValues, Words) {
  EXPECT_EQ(FindWord("auto|on|off", "auto"), 0);
  EXPECT_EQ(FindWord("auto|on|off", "OFF"), 2);
  for (const char* text : {"", "aut", "on|off", "|"}) EXPECT_FALSE(FindWord("auto|on|off", text));
  EXPECT_EQ(WordAt("auto|on|off", 1), "on");
  EXPECT_EQ(WordAt("auto|on|off", 3), "");
}

TEST(SettingValues, TextFromOutsideIsMadeSafe) {
  EXPECT_EQ(Printable("a\nb\x1b[0m\xff"), "a\\x0ab\\x1b[0m\\xff");
  const std::string path = std::string(100, 'a') + "/" + std::string(100, 'b');
  EXPECT_EQ(Printable(path), path.substr(0, 60) + "..." + path.substr(61));
  EXPECT_EQ(JsonString("a\"b\\c\n\xe9"), "\"a\\\"b\\\\c\\u000a\\u00e9\"");
}

}  // namespace
}  // namespace softdat
