// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "dat/base/setting_values.h"
#include "tools/common/exit_codes.h"
#include "tools/common/option_values.h"
#include "tools/rds/stress_message.h"

namespace softdat::tools {
namespace {

constexpr char kSummary[] =
    R"(Loads RDS with messages and RDMA between two ends, and verifies what arrives.

  rds-softstress [options]                the passive end, of one run
  rds-softstress [options] -s ADDRESS     the active end: it says what is done)";

constexpr char kFooter[] = R"(
WHAT IS DONE
  The two ends talk over a TCP connection to the port of -p at the passive end. There the active end
  says what is to be done. Each end then starts as many tasks as -t says, each of them a process with
  a socket of its own. A task sends requests to all tasks of the other end, and answers each request
  with an ack. It keeps as many requests outstanding to each of them as -d says.

  The socket of task 0 is bound to the port of -p plus 1, that of task 1 to the next one, and so on.
  If both ends have the same address, the ports of the active end follow those of the passive end.

  Checked is always: that requests and acks come in order, once, whole, from where they must come;
  that each request gets its ack, when the run ends, too; that a cookie comes back as it was given
  out; that every RDMA ends with status 0. With -v also every byte of messages and of memory.

WITH RDMA (-D)
  A request opens memory of its sender, by an RDMA_MAP control message. The task that answers reads
  from there or writes there, by an RDMA_ARGS control message of the ack. The sender releases the
  memory when it has the ack. The first requests to each task are plain ones. Status messages are
  always asked for, because they tell when the memory at the end that answers is free again.
    --rdma-use-get-mr 1   the memory is opened by the socket option RDS_GET_MR, and the cookie sent
                          by RDMA_DEST
    --rdma-use-once 1     RDS releases the memory by itself when the ack comes. With -v this is checked
    --rdma-cache-mrs 1    memory is opened once and never released
    --rdma-use-fence 0    the ack of a read need not wait for the read
    --rdma-alignment N    memory begins N bytes behind the start of a page
    -I N                  the memory at the end that answers is N vectors of the bytes of -D; the
                          memory of the request is as large as all of them
    --rdma-key-o-meter    count R_Keys that are given out again

SIZES
  Bytes, or with K, M or G. A message has 32 bytes at least, and 1M at most; so has RDMA (1 byte to
  1M, all vectors together).

WHAT IS PRINTED
  Once a second, and as an average at the end:
    tsks       tasks of this end
    tx/s       requests that were sent, a second       rx/s   requests that came, a second
    tx+rx K/s  KiB of messages, requests and acks both ways
    mbi K/s    KiB that RDMA has put into memory of this end; mbo K/s: that it has taken from there
    tx us/c    microseconds in a call of sendmsg       rtt us  from a request to its ack
    cpu %      of all processors, by everything on this host; -1.00 without -c
  With --json one object at the end of the run has it all, with percentiles of the round trips.

HOW IT ENDS
  After the seconds of -T, or by SIGINT or SIGTERM at either end. Requests that are outstanding then
  still get their acks; it is an error if one has none after 30 seconds. With --cancel-sent-to they
  are given up by the socket option RDS_CANCEL_SENT_TO, and how long that took is printed.
  --abort-after SECONDS ends the processes of both ends in the midst of everything.

NOT SUPPORTED of rds-stress
  --async (Linux has no such control message), --rdma-use-notify 0 (see above), --show-perfdata.

Environment: SOFTDAT_RDS_IA says which interface adapter has an address (docs/rds.md).

Exit status: 0 all went well; 1 a call, the connection or the other end failed, or an ack is missing,
the reasons are on standard error; 2 the command line; 3 something arrived that must not.

Examples:
  rds-softstress &  rds-softstress -s 10.0.0.2 -T 10 -t 4 -d 8 -v
  rds-softstress -r 10.0.0.1 -s 10.0.0.2 -T 10 -D 64K -q 128 -a 128 -v
  rds-softstress -s 10.0.0.2 -T 5 -q 64 -a 64 -o --wait block --json     a ping-pong)";

// Texts that are converted after parsing.
struct Texts {
  std::string wait = "poll";
  uint32_t mode = 0;
  bool use_notify = true;
  uint64_t request_bytes = 1024;
  uint64_t ack_bytes = 256;
};

void AddEnds(CLI::App* app, StressOptions* options) {
  app->add_option("-s,--send-addr", options->send_address,
                  "address of the passive end; without it: be the passive end");
  app->add_option("-r,--recv-addr", options->receive_address,
                  "own address (passive: that to which the other end connects; active: that from "
                  "which ADDRESS is reached)");
  app->add_option("-p,--port", options->port, "TCP port, and the port before the RDS ports")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app->add_option("--connect-retries", options->connect_retries,
                  "try so often again, once a second, if nobody listens yet (0)")
      ->check(CLI::Range(0, 1000000));
  app->add_flag("--kernel", options->kernel, "use the kernel's RDS instead of librds.so");
}

void AddWork(CLI::App* app, StressOptions* options, Texts* texts) {
  StressJob* job = &options->job;
  app->add_option("-t,--tasks", job->tasks, "tasks of each end")->capture_default_str();
  app->add_option("-d,--depth", job->depth, "requests outstanding from each task to each")
      ->capture_default_str();
  app->add_option("-q,--req-bytes", texts->request_bytes, "bytes of a request")
      ->transform(SizeValue(int64_t{1} << 40))
      ->capture_default_str();
  app->add_option("-a,--ack-bytes", texts->ack_bytes, "bytes of an ack")
      ->transform(SizeValue(int64_t{1} << 40))
      ->capture_default_str();
  app->add_flag("-o,--one-way", job->one_way, "the active end alone sends requests");
  app->add_flag("-v,--verify", job->verify, "fill messages and memory, and verify every byte");
  app->add_option("-Q,--tos", job->tos, "type of service (0)");
  app->add_option("--use-cong-monitor", job->monitor,
                  "be told when a congested port is free again, by RDS_CONG_MONITOR (1)");
  app->add_flag("--cancel-sent-to", job->cancel, "end by RDS_CANCEL_SENT_TO");
  app->add_option("-D,--rdma-bytes", job->rdma_bytes, "bytes of RDMA, of a vector (0: no RDMA)")
      ->transform(SizeValue(int64_t{1} << 40));
  app->add_option("-I,--rdma-buffers", job->rdma_vectors, "vectors (1)");
  app->add_option("-M,--rdma-mode", texts->mode,
                  "0 reads and writes in turn, 1 reads, 2 writes (0)")
      ->check(CLI::Range(0, 2));
  app->add_option("--rdma-use-once", job->use_once, "0 or 1 (0)");
  app->add_option("--rdma-use-get-mr", job->get_mr, "0 or 1 (0)");
  app->add_option("--rdma-use-fence", job->fence, "0 or 1 (1)");
  app->add_option("--rdma-cache-mrs", job->cache_mrs, "0 or 1 (0)");
  app->add_option("--rdma-alignment", job->rdma_alignment, "bytes, below 4096 (0)");
  app->add_flag("--rdma-key-o-meter", job->key_meter, "count R_Keys that are given out again");
  app->add_option("--rdma-use-notify", texts->use_notify)->group("");
}

void AddConduct(CLI::App* app, StressOptions* options, Texts* texts) {
  app->add_option("-T,--time", options->seconds, "seconds to run (active; 0: until a signal)")
      ->check(CLI::Range(0.0, 1e9));
  app->add_option("--abort-after", options->abort_after, "seconds after which all is ended")
      ->check(CLI::Range(0.01, 1e9));
  app->add_option("--wait", texts->wait, "how a task awaits messages: poll, block or spin (poll)")
      ->check(CLI::IsMember({"poll", "block", "spin"}));
  app->add_flag("-c,--report-cpu", options->report_cpu, "show the use of the processors");
  app->add_flag("-z,--report-summary", options->summary_only, "show the average alone");
  app->add_flag("-R,--rtprio", options->realtime,
                "the process that reports gets real-time priority (SCHED_RR)");
  app->add_flag("-V,--trace", options->trace, "show each message on standard error");
  app->add_flag("--show-params", options->show_params, "show what was agreed on");
  app->add_flag("--show-histogram", options->histogram, "show a histogram of the round trips");
  app->add_option("--show-outliers", options->outliers_usec,
                  "show each round trip of more microseconds, on standard error");
  app->add_flag("--reset", options->reset,
                "drop the connection between the addresses of -r and -s, and end");
  app->add_flag("--json", options->json, "the result as one JSON object on standard output");
}

void AddUnsupported(CLI::App* app) {
  static constexpr std::pair<const char*, const char*> kUnsupported[] = {
      {"--async", "Linux has no control message for it"},
      {"--show-perfdata", "--json has the rates"},
  };
  for (const auto& [name, why] : kUnsupported) {
    app->add_flag_callback(name,
                           [name = name, why = why] {
                             throw CLI::ValidationError(name, std::string("not supported: ") + why);
                           })
        ->group("");
  }
}

// Options that the other end decides about.
std::string Misplaced(const CLI::App& app) {
  for (const char* name : {"-t",
                           "-d",
                           "-q",
                           "-a",
                           "-o",
                           "-v",
                           "-Q",
                           "-D",
                           "-I",
                           "-M",
                           "-T",
                           "--use-cong-monitor",
                           "--cancel-sent-to",
                           "--rdma-use-once",
                           "--rdma-use-get-mr",
                           "--rdma-use-fence",
                           "--rdma-cache-mrs",
                           "--rdma-alignment",
                           "--rdma-key-o-meter",
                           "--connect-retries",
                           "--reset"}) {
    if (app.count(name) > 0)
      return fmt::format("{} is for the active end, which has -s; the passive end is told", name);
  }
  return "";
}

std::string Inconsistent(const CLI::App& app, const StressOptions& options, const Texts& texts) {
  if (!options.active()) return Misplaced(app);
  if (options.reset && options.receive_address.empty())
    return "--reset needs both addresses of the connection: -r OWN -s PEER";
  if (!texts.use_notify)
    return "--rdma-use-notify 0: status messages tell when memory is free again";
  if (options.summary_only && options.seconds == 0 && options.abort_after == 0)
    return "-z shows nothing until the end: say with -T when that is";
  for (const auto& [name, bytes] :
       {std::pair{"-q", texts.request_bytes}, {"-a", texts.ack_bytes}}) {
    if (bytes > kMostBytes)
      return fmt::format("{} {}: a message has {} bytes at most", name, bytes, kMostBytes);
  }
  // Both ends may be at one address.
  if (options.port + uint64_t{2} * options.job.tasks > 65535)
    return fmt::format("-p {} -t {}: the ports behind {} do not suffice", options.port,
                       options.job.tasks, options.port);
  return JobProblem(options.job);
}

}  // namespace

std::optional<StressOptions> ParseStressOptions(const std::vector<std::string>& arguments,
                                                int* exit_status, std::string* output) {
  StressOptions options;
  Texts texts;
  CLI::App app(kSummary, "rds-softstress");
  app.footer(kFooter);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("{}\nTry rds-softstress --help.\n", error.what());
  });
  AddEnds(&app, &options);
  AddWork(&app, &options, &texts);
  AddConduct(&app, &options, &texts);
  AddUnsupported(&app);
  try {
    auto reversed = arguments;
    std::reverse(reversed.begin(), reversed.end());
    app.parse(reversed);
    options.job.request_bytes =
        static_cast<uint32_t>(std::min<uint64_t>(texts.request_bytes, UINT32_MAX));
    options.job.ack_bytes = static_cast<uint32_t>(std::min<uint64_t>(texts.ack_bytes, UINT32_MAX));
    options.job.rdma_mode = static_cast<RdmaMode>(texts.mode);
    options.wait = texts.wait == "block"  ? RdsWait::kBlock
                   : texts.wait == "spin" ? RdsWait::kSpin
                                          : RdsWait::kPoll;
    if (std::string problem = Inconsistent(app, options, texts); !problem.empty())
      throw CLI::ValidationError(problem);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    *exit_status = app.exit(error, out, err) == 0 ? kExitOk : kExitUsage;
    *output = *exit_status == kExitOk ? out.str() : "rds-softstress: " + err.str();
    return std::nullopt;
  }
  return options;
}

}  // namespace softdat::tools
