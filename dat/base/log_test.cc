// SPDX-License-Identifier: BSD-3-Clause
#include "dat/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace softdat {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string TempFile(const std::string& name) {
  const char* dir = getenv("TEST_TMPDIR");
  return std::string(dir != nullptr ? dir : "/tmp") + "/" + name;
}

std::string Contents(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

LogConfig ToFile(const std::string& path, uint32_t enabled) {
  std::remove(path.c_str());
  LogConfig config;
  config.enabled = enabled;
  config.file = path;
  return config;
}

TEST(LogConfig, OffByDefault) {
  LogConfig config = MakeLogConfig(Settings(), false);
  EXPECT_EQ(config.enabled, 0u);
  EXPECT_FALSE(config.to_stderr);
  EXPECT_FALSE(config.to_syslog);
  EXPECT_EQ(config.file, "");
}

TEST(LogConfig, LevelsIncludeTheGraverOnes) {
  Settings settings;
  settings.log = "stderr";
  settings.log_level = LogLevel::kInfo;
  LogConfig config = MakeLogConfig(settings, false);
  EXPECT_TRUE(config.to_stderr);
  EXPECT_EQ(config.enabled, kLogLevelError | kLogLevelWarning | kLogLevelInfo);
}

TEST(LogConfig, Destinations) {
  Settings settings;
  settings.log = "syslog";
  EXPECT_TRUE(MakeLogConfig(settings, false).to_syslog);
  settings.log = "/var/log/softdat";
  EXPECT_EQ(MakeLogConfig(settings, false).file, "/var/log/softdat");
}

// Standard error takes the place of OFA's standard output.
// covers: semantics 2.3
TEST(LogConfig, OfaVariablesCountOnlyWhenSet) {
  Settings settings;
  settings.dat_dbg_type = 0x05;
  settings.dat_dbg_dest = 1;
  EXPECT_FALSE(MakeLogConfig(settings, false).to_stderr);
  LogConfig config = MakeLogConfig(settings, true);
  EXPECT_TRUE(config.to_stderr);
  EXPECT_FALSE(config.to_syslog);
  EXPECT_EQ(config.enabled, kLogLevelError | kLogLevelWarning | kLogAreaStaticRegistry);
  settings.dat_dbg_dest = 2;
  EXPECT_TRUE(MakeLogConfig(settings, true).to_syslog);
  EXPECT_FALSE(MakeLogConfig(settings, true).to_stderr);
  settings.dat_dbg_dest = 3;
  EXPECT_TRUE(MakeLogConfig(settings, true).to_syslog);
  EXPECT_TRUE(MakeLogConfig(settings, true).to_stderr);
  settings.log = "/file";  // SOFTDAT_LOG decides where lines go; DAT_DBG_TYPE adds which
  EXPECT_FALSE(MakeLogConfig(settings, true).to_stderr);
  EXPECT_TRUE(MakeLogConfig(settings, true).enabled & kLogAreaStaticRegistry);
}

TEST(Log, NothingIsWrittenOrFormattedWhenOff) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  ConfigureLog(LogConfig());
  int evaluated = 0;
  SOFTDAT_LOG(Error, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Log, WritesWhatIsEnabled) {
  const std::string path = TempFile("enabled.log");
  ConfigureLog(ToFile(path, kLogLevelError | kLogAreaStaticRegistry));
  SOFTDAT_LOG(Error, "port {}", 7);
  SOFTDAT_LOG(Info, "hidden");
  SOFTDAT_LOG_AREA(Debug, StaticRegistry, "shown for its area");
  SOFTDAT_LOG_AREA(Debug, DynamicRegistry, "hidden too");
  ConfigureLog(LogConfig());
  const std::string text = Contents(path);
  EXPECT_THAT(text, HasSubstr("error: port 7\n"));
  EXPECT_THAT(text, HasSubstr("debug: shown for its area\n"));
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
}

TEST(Log, GoesToStderrNeverToStdout) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  LogConfig config;
  config.enabled = kLogLevelError;
  config.to_stderr = true;
  ConfigureLog(config);
  SOFTDAT_LOG(Error, "seen");
  ConfigureLog(LogConfig());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("error: seen\n"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Log, ControlBytesCannotFakeALine) {
  const std::string path = TempFile("control.log");
  ConfigureLog(ToFile(path, kLogLevelError));
  SOFTDAT_LOG(Error, "{}", "a\nsoftdat error: fake\x1b[2J");
  SOFTDAT_LOG(Error, "{}", std::string(100000, 'x'));
  ConfigureLog(LogConfig());
  const std::string text = Contents(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(text.size(), 5000u);
}

TEST(Log, UnopenableFileMeansNoLog) {
  ConfigureLog(ToFile("/nonexistent-folder/x.log", kLogLevelError));
  EXPECT_FALSE(LogEnabled(kLogLevelError));
}

TEST(Log, LinesOfThreadsDoNotMix) {
  const std::string path = TempFile("threads.log");
  ConfigureLog(ToFile(path, kLogLevelError));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) SOFTDAT_LOG(Error, "<{}>", std::string(50, 'a' + t));
    });
  }
  for (auto& thread : threads) thread.join();
  ConfigureLog(LogConfig());
  std::ifstream in(path);
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) {
    ++lines;
    const std::string body = line.substr(line.find('<') + 1, 50);
    EXPECT_EQ(body, std::string(50, body[0]));
    EXPECT_EQ(line.back(), '>');
  }
  EXPECT_EQ(lines, 800);
}

}  // namespace
}  // namespace softdat
