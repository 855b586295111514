// SPDX-License-Identifier: BSD-3-Clause
// The rows of the table of targets.
#include "tools/bench/target_rows.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kSmall = 64;
constexpr uint32_t kPage = 4096;
constexpr uint32_t kLarge = 1 << 20;
constexpr uint32_t kLargeWindow = 8;
constexpr uint32_t kWindow = 64;

Job Latency(Operation operation, uint32_t size, WaitMode wait) {
  Job job;
  job.operation = operation;
  job.size = size;
  job.wait = wait;
  return job;
}

Job Stream(Operation operation, uint32_t size, uint32_t window, WaitMode wait) {
  Job job = Latency(operation, size, wait);
  job.shape = Shape::kStream;
  job.window = window;
  return job;
}

// What RDS adds to its IA.
std::vector<TargetRow> RdsRows() {
  using enum Operation;
  using enum Measure;
  const auto row = [](const char* what, Measure measure, double target, const Job& job) {
    return TargetRow{.what = what,
                     .measure = measure,
                     .target = target,
                     .floor = "",
                     .job = job,
                     .prefix = "rds:"};
  };
  constexpr uint32_t kDatagram = 8192, kDatagrams = 32;
  return {
      row("RDS: 64 B there and back, polling", kLatency, 1.35,
          Latency(kSend, kSmall, WaitMode::kPoll)),
      row("RDS: 64 B there and back, waiting", kLatency, 1.35,
          Latency(kSend, kSmall, WaitMode::kWait)),
      row("RDS: 8 KiB one way, polling", kBandwidth, 0.5,
          Stream(kSend, kDatagram, kDatagrams, WaitMode::kPoll)),
      row("RDS: 8 KiB one way, waiting", kBandwidth, 0.5,
          Stream(kSend, kDatagram, kDatagrams, WaitMode::kWait)),
      row("RDS: 1 MiB writes by cookie", kBandwidth, 0.9,
          Stream(kWrite, kLarge, kLargeWindow, WaitMode::kPoll)),
      row("RDS: 1 MiB reads by cookie", kBandwidth, 0.9,
          Stream(kRead, kLarge, kLargeWindow, WaitMode::kPoll)),
  };
}

// What message-passing layers do with small and large messages, beside one plain message there and
// one back, of as many bytes.
std::vector<TargetRow> MessageRows() {
  using enum Operation;
  const auto row = [](const char* what, double target, const Job& job, const char* settings = "") {
    return TargetRow{.what = what,
                     .measure = Measure::kLatency,
                     .target = target,
                     .floor = job.wait == WaitMode::kPoll ? "raw:tcp-poll" : "raw:tcp-epoll",
                     .job = job,
                     .settings = settings,
                     .floor_job = Latency(kSend, job.size * job.TransfersInARow(), job.wait)};
  };
  const auto pair = [](Operation operation, WaitMode wait) {
    Job job = Latency(operation, kSmall, wait);
    job.messages = 2;
    return job;
  };
  const auto message = [](uint32_t size, Operation operation = kMessage) {
    return Latency(operation, size, WaitMode::kPoll);
  };
  // A plain loop that asks before it sends, as a message layer must with messages of any length.
  const auto beside_rendezvous = [&message](const char* what, uint32_t size) {
    return TargetRow{.what = what,
                     .measure = Measure::kLatency,
                     .target = 1.25,
                     .floor = "raw:tcp-rendezvous",
                     .job = message(size),
                     .floor_job = Latency(kSend, size, WaitMode::kPoll)};
  };
  constexpr uint32_t kEager = 16 << 10, kMedium = 64 << 10, kHuge = 4 << 20;
  constexpr auto kWaitMode = WaitMode::kWait;
  return {
      row("64 B write and its notice, polling", 1.25, pair(kWrite, WaitMode::kPoll)),
      row("64 B write and its notice, waiting", 1.25, pair(kWrite, kWaitMode)),
      row("two 64 B sends in a row, polling", 1.25, pair(kSend, WaitMode::kPoll)),
      row("two 64 B sends in a row, waiting", 1.25, pair(kSend, kWaitMode)),
      row("message layer: 64 B", 1.05, message(kSmall)),
      row("message layer: 16 KiB", 1.05, message(kEager)),
      row("message layer: 64 KiB", 1.05, message(kMedium)),
      beside_rendezvous("message layer: 64 KiB, beside a rendezvous", kMedium),
      row("message layer: 64 KiB, waiting", 1.05, Latency(kMessage, kMedium, kWaitMode)),
      row("message layer: 64 KiB, two end points", 1.05, message(kMedium), "@2"),
      row("message layer: 1 MiB", 1.0, message(kLarge)),
      beside_rendezvous("message layer: 1 MiB, beside a rendezvous", kLarge),
      row("message layer: 1 MiB, waiting", 1.0, Latency(kMessage, kLarge, kWaitMode)),
      row("message layer: 1 MiB, two end points", 1.0, message(kLarge), "@2"),
      row("message layer: 1 MiB, by read", 1.0, message(kLarge, kMessageByRead)),
      row("message layer: 4 MiB", 1.0, message(kHuge)),
      beside_rendezvous("message layer: 4 MiB, beside a rendezvous", kHuge),
  };
}

// Several threads at each end, and several end points at work. All wait, or all poll: threads that
// poll need a processor each.
//
// The rows are about what threads cost each other, so the threads of each end stay on one
// processor. Where the kernel may move them it also matters who is whose neighbour: a thread and
// its peer, or two of one end. The rows that say "unpinned" show that.
std::vector<TargetRow> CrowdRows() {
  using enum Operation;
  using enum Measure;
  constexpr auto kTwoCpus = Where::kTwoCpus;
  constexpr auto kAnywhere = Where::kAnywhere;
  const Job wait = Latency(kSend, kSmall, WaitMode::kWait);
  const Job stream = Stream(kSend, kSmall, kWindow, WaitMode::kWait);
  Job pair = Latency(kWrite, kSmall, WaitMode::kWait);
  pair.messages = 2;
  const Job each = Stream(kSend, kSmall, kWindow, WaitMode::kPoll);
  const Job one_each = Stream(kSend, kSmall, 1, WaitMode::kPoll);
  // Threads are started, and find their places, at the beginning of each slice.
  constexpr double kLonger = 4;
  const auto threads = [](const char* what, const Job& job, const char* settings, Where where) {
    return TargetRow{.what = what,
                     .measure = kCpu,
                     .target = 1.1,
                     .floor = "",
                     .job = job,
                     .where = where,
                     .settings = settings,
                     .longer = kLonger};
  };
  const auto end_points = [&each](const char* what, const char* settings) {
    return TargetRow{.what = what,
                     .measure = kLatency,
                     .target = 1.1,
                     .floor = "",
                     .job = each,
                     .settings = settings,
                     .longer = kLonger};
  };
  return {
      threads("64 B send, 2 threads on one IA, CPU", wait, "@2threads", kTwoCpus),
      threads("64 B send, 4 threads on one IA, CPU", wait, "@4threads", kTwoCpus),
      threads("64 B send, 8 threads on one IA, CPU", wait, "@8threads", kTwoCpus),
      threads("64 B send, 4 threads with IAs of their own, CPU", wait, "@4ias", kTwoCpus),
      {.what = "64 B send, 4 threads, one IA beside four",
       .measure = kRate,
       .target = 0.9,
       .floor = "@4ias",
       .job = wait,
       .settings = "@4threads",
       .longer = kLonger},
      threads("64 B send, 4 threads on one IA, unpinned, CPU", wait, "@4threads", kAnywhere),
      threads("64 B write and notice, 4 threads on one IA, CPU", pair, "@4threads", kTwoCpus),
      threads("window 64, 2 threads on one IA, CPU", stream, "@2threads", kTwoCpus),
      threads("window 64, 4 threads on one IA, CPU", stream, "@4threads", kTwoCpus),
      threads("window 64, 8 threads on one IA, CPU", stream, "@8threads", kTwoCpus),
      threads("window 64, 4 threads with IAs of their own, CPU", stream, "@4ias", kTwoCpus),
      threads("window 64, 4 threads on one IA, unpinned, CPU", stream, "@4threads", kAnywhere),
      // Each end point has as much to do as the one in the floor.
      end_points("window 64 on each of 16 end points", "@16"),
      end_points("window 64 on each of 64 end points", "@64"),
      {"one 64 B send on each of 64 end points", kLatency, 1.1, "", one_each, kTwoCpus, "@64"},
  };
}

std::vector<TargetRow> TcpRows() {
  using enum Operation;
  using enum Measure;
  constexpr auto kPollMode = WaitMode::kPoll;
  const Job send = Latency(kSend, kSmall, kPollMode);
  const Job wait = Latency(kSend, kSmall, WaitMode::kWait);
  const Job page = Latency(kSend, kPage, kPollMode);
  const Job sends = Stream(kSend, kSmall, kWindow, kPollMode);
  const Job writes = Stream(kWrite, kSmall, kWindow, kPollMode);
  const Job pages = Stream(kWrite, kPage, kWindow, kPollMode);
  const Job large = Stream(kWrite, kLarge, kLargeWindow, WaitMode::kWait);
  const Job reads = Stream(kRead, kLarge, kLargeWindow, WaitMode::kWait);
  const Job notice = Latency(kWrite, kSmall, WaitMode::kWait);  // a write, and a message after it
  Job pair = wait;
  pair.messages = 2;
  const Job large_sends = Stream(kSend, kLarge, kLargeWindow, WaitMode::kWait);
  static constexpr char kCrc[] = ",SOFTDAT_CRC=on";  // the rows point to it
  // Rows with this floor show the additional cost of the default, in which a completion means that
  // the peer has the data.
  static constexpr char kTaken[] = ",SOFTDAT_COMPLETION=taken";
  std::vector<TargetRow> rows = {
      {"64 B send, polling", kLatency, 1.08, "raw:tcp-poll", send},
      {"64 B write, memory and EVD", kLatency, 1.10, "raw:tcp-poll",
       Latency(kWrite, kSmall, kPollMode)},
      {"64 B write, memory alone", kLatency, 2.5, "raw:tcp-epoll",
       Latency(kWrite, kSmall, WaitMode::kMemory)},
      {"64 B write, memory alone, a CPU busy", kLatency, 5, "raw:tcp-epoll",
       Latency(kWrite, kSmall, WaitMode::kMemory), Where::kAnywhereOneBusy},
      {"64 B write, memory alone, beside a thread", kLatency, 1.25, "raw:tcp-thread",
       Latency(kWrite, kSmall, WaitMode::kMemory)},
      {"64 B write, memory alone, a CPU busy, beside a thread", kLatency, 1.5, "raw:tcp-thread",
       Latency(kWrite, kSmall, WaitMode::kMemory), Where::kAnywhereOneBusy},
      {"64 B send, dat_evd_wait", kLatency, 0.60, "raw:tcp-epoll", wait},
      {"64 B send, dat_cno_wait", kLatency, 0.70, "raw:tcp-epoll",
       Latency(kSend, kSmall, WaitMode::kCno)},
      {"64 B send, descriptor of a CNO", kLatency, 1.15, "raw:tcp-epoll",
       Latency(kSend, kSmall, WaitMode::kFd)},
      {"4 KiB send, polling", kLatency, 1.10, "raw:tcp-poll", page},
      {"4 KiB send, polling, CRC", kLatency, 1.20, "raw:tcp-poll", page, Where::kTwoCpus, kCrc},
      {"64 B sends, window 64", kRate, 0.6, "raw:tcp-gather", sends},
      {"64 B writes, window 64", kRate, 0.7, "raw:tcp-gather", writes},
      {"64 B sends, window 64, CPU", kCpu, 2, "raw:tcp-gather", sends},
      {"64 B writes, window 64, CPU", kCpu, 2, "raw:tcp-gather", writes},
      {"4 KiB writes, window 64", kBandwidth, 0.6, "raw:tcp-gather", pages},
      {"1 MiB writes", kBandwidth, 0.95, "raw:tcp-block", large},
      {"1 MiB writes, CRC", kBandwidth, 0.7, "raw:tcp-block", large, Where::kTwoCpus, kCrc},
      {"1 MiB reads", kBandwidth, 0.9, "raw:tcp-block", reads},
      {"64 B send, dat_evd_wait, one CPU", kLatency, 1.05, "raw:tcp-block", wait, Where::kOneCpu},
      {"64 B send, dat_evd_wait, unpinned", kLatency, 0.8, "raw:tcp-block", wait, Where::kAnywhere},
      {"64 B send, dat_evd_wait, a CPU busy", kLatency, 1.3, "raw:tcp-block", wait,
       Where::kAnywhereOneBusy},
      {"64 B send, dat_evd_wait, an end's CPU busy", kLatency, 1.3, "raw:tcp-block", wait,
       Where::kTwoCpusOneBusy},
      {"64 B send, one of 1000 end points", kLatency, 1.2, "", send, Where::kTwoCpus, "@1000"},
      {"64 B send, one of 4000 end points", kLatency, 1.1, "", send, Where::kTwoCpus, "@4000"},
      {.what = "64 B write and its notice, beside a send",
       .measure = kLatency,
       .target = 1.35,
       .floor = "",
       .job = notice,
       .floor_job = wait},
      {.what = "two 64 B sends in a row, beside one",
       .measure = kLatency,
       .target = 1.35,
       .floor = "",
       .job = pair,
       .floor_job = wait},
      {"confirmed: 64 B send, polling", kLatency, 1.03, kTaken, send},
      {"confirmed: 64 B write, memory and EVD", kLatency, 1.03, kTaken,
       Latency(kWrite, kSmall, kPollMode)},
      {"confirmed: 64 B sends, window 64", kRate, 0.9, kTaken, sends},
      {"confirmed: 64 B writes, window 64", kRate, 0.9, kTaken, writes},
      {"confirmed: 1 MiB sends", kBandwidth, 0.97, kTaken, large_sends},
      {"confirmed: 1 MiB writes", kBandwidth, 0.97, kTaken, large},
      {"connections, one by one",
       kRate,
       0.5,
       "raw:tcp-block",
       {},
       Where::kTwoCpus,
       "",
       WorkerTask::kConnections},
      {.what = "connections, 64 at once",
       .measure = kRate,
       .target = 0.5,
       .floor = "raw:tcp-block",
       .job = {},
       .task = WorkerTask::kConnectionBursts},
      {.what = "connections, one by one, beside a handshake",
       .measure = kRate,
       .target = 0.7,
       .floor = "raw:tcp-handshake",
       .job = {},
       .task = WorkerTask::kConnections},
      {.what = "connections, 64 at once, beside a handshake",
       .measure = kRate,
       .target = 0.7,
       .floor = "raw:tcp-handshake",
       .job = {},
       .task = WorkerTask::kConnectionBursts},
  };
  for (const auto& more : {MessageRows(), CrowdRows(), RdsRows()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

// Bandwidths count as met when they reach this, in MB/s, or else the share of the floor.
constexpr double kFastEnough = 2500;

std::vector<TargetRow> UdpRows() {
  using enum Operation;
  using enum Measure;
  constexpr auto kPollMode = WaitMode::kPoll;
  const Job send = Latency(kSend, kSmall, kPollMode);
  const Job sends = Stream(kSend, kSmall, kWindow, kPollMode);
  const Job pages = Stream(kWrite, kPage, kWindow, kPollMode);
  const Job large = Stream(kWrite, kLarge, kLargeWindow, kPollMode);
  const Job reads = Stream(kRead, kLarge, kLargeWindow, kPollMode);
  const Job large_sends = Stream(kSend, kLarge, kLargeWindow, kPollMode);
  // A plain datagram holds no MiB. It holds what a packet of the largest path MTU does.
  const Job packets = Stream(kSend, kPage, kWindow, kPollMode);
  static constexpr char kLoss[] = ",SOFTDAT_UDP_LOSS=1%";
  static constexpr char kSummed[] = "raw:udp-gso-crc";
  return {
      {"64 B send, polling", kLatency, 1.25, "raw:udp", send},
      {"64 B write, memory and EVD", kLatency, 1.25, "raw:udp", Latency(kWrite, kSmall, kPollMode)},
      {.what = "4 KiB writes, window 64",
       .measure = kBandwidth,
       .target = 0.8,
       .floor = kSummed,
       .job = pages,
       .floor_job = packets,
       .enough = kFastEnough},
      {.what = "1 MiB writes",
       .measure = kBandwidth,
       .target = 0.8,
       .floor = kSummed,
       .job = large,
       .floor_job = packets,
       .enough = kFastEnough},
      {.what = "1 MiB reads",
       .measure = kBandwidth,
       .target = 0.8,
       .floor = kSummed,
       .job = reads,
       .floor_job = packets,
       .enough = kFastEnough},
      {.what = "64 B sends, window 64",
       .measure = kRate,
       .target = 0,
       .floor = "raw:udp",
       .job = sends,
       .enough = 1},
      {"64 B sends, window 64, CPU", kCpu, 2, "raw:udp", sends},
      {"4 KiB writes, window 64, 1 % lost", kBandwidth, 0.7, "", pages, Where::kTwoCpus, kLoss},
      {"1 MiB writes, 1 % lost", kBandwidth, 0.7, "", large, Where::kTwoCpus, kLoss},
      {"1 MiB reads, 1 % lost", kBandwidth, 0.7, "", reads, Where::kTwoCpus, kLoss},
      {"1 MiB sends, 1 % lost", kBandwidth, 0.7, "", large_sends, Where::kTwoCpus, kLoss},
      {"64 B sends, window 64, 1 % lost", kRate, 0.7, "", sends, Where::kTwoCpus, kLoss},
      {"64 B send, one of 1000 end points", kLatency, 1.2, "", send, Where::kTwoCpus, "@1000"},
  };
}

}  // namespace

std::vector<TargetRow> TargetRowsFor(std::string_view ia) {
  return ia.starts_with("softnet-udp-") ? UdpRows() : TcpRows();
}

}  // namespace softdat::tools
