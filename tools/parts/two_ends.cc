// SPDX-License-Identifier: BSD-3-Clause
// Both ends of a connection in one thread. An end looks at its queue only when something has come,
// so no look is in vain, and the instructions of a message can be counted one by one.
// tools/benchmarks/parts.py runs it under a counter that collects inside two_ends_exchange() alone.
//
//   two_ends IA WORK COUNT     WORK: send, notice, sends, writes
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "dat/client/endpoint.h"
#include "dat/client/events.h"
#include "dat/client/ia.h"
#include "dat/client/memory.h"
#include "dat/client/post.h"
#include "tools/common/exit_codes.h"

namespace softdat::tools {
namespace {

constexpr size_t kBytes = 64;
constexpr uint32_t kWindow = 64;
constexpr DAT_COUNT kDepth = 2 * kWindow;
constexpr DAT_TIMEOUT kPatienceUs = 30'000'000;

void Must(const client::Result& result) {
  if (!result.ok()) throw std::runtime_error(result.Describe());
}

// One of the two programs, with an adapter of its own.
class End {
 public:
  explicit End(const std::string& name) {
    Must(ia_.Open(name));
    Must(pz_.Create(ia_));
    Must(connections_.Create(ia_, DAT_EVD_CONNECTION_FLAG, 8));
    Must(arrivals_.Create(ia_, DAT_EVD_CR_FLAG, 8));
    Must(receives_.Create(ia_, DAT_EVD_DTO_FLAG, kDepth));
    Must(requests_.Create(ia_, DAT_EVD_DTO_FLAG, kDepth));
    if (!memory_.Map(4096)) throw std::runtime_error("no memory");
    Must(memory_.Register(ia_, pz_));
    DAT_EP_ATTR attributes{};
    attributes.service_type = DAT_SERVICE_TYPE_RC;
    attributes.max_message_size = attributes.max_rdma_size = kBytes;
    attributes.max_recv_dtos = attributes.max_request_dtos = kDepth;
    attributes.max_recv_iov = attributes.max_request_iov = attributes.max_rdma_write_iov = 1;
    Must(ep_.Create(ia_, pz_,
                    {.receives = receives_, .requests = requests_, .connections = connections_},
                    &attributes));
  }

  void ConnectTo(End& listener) {
    client::ServicePoint service;
    Must(service.ListenAny(listener.ia_, listener.arrivals_));
    Must(client::Connect(ep_, listener.ia_.address(), service.qualifier(), kPatienceUs));
    client::ConnectionRequest request(listener.ia_, Next(listener.arrivals_));
    Must(request.Accept(listener.ep_));
    for (const End* end : {static_cast<const End*>(this), static_cast<const End*>(&listener)}) {
      if (Next(end->connections_).event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
        throw std::runtime_error("the ends cannot be connected");
    }
    peer_ = &listener;
    listener.peer_ = this;
  }

  void PostReceive() { Must(client::PostReceive(ep_, memory_.Local(0, kBytes), 0)); }
  void PostSend(DAT_COMPLETION_FLAGS flags) {
    Must(client::PostSend(ep_, memory_.Local(1024, kBytes), 0, flags));
  }
  void PostNotice(DAT_COMPLETION_FLAGS flags) {
    Must(client::PostSend(ep_, client::Segments({}), 0, flags));
  }
  void PostWrite(DAT_COMPLETION_FLAGS flags) {
    Must(client::PostWrite(ep_, memory_.Local(1024, kBytes), peer_->memory_.Remote(2048, kBytes), 0,
                           flags));
  }
  // Whether a receive, or a request, has completed by now.
  bool TryReceive() { return Try(receives_); }
  bool TryRequest() { return Try(requests_); }
  void Receive() {
    Until([this] { return TryReceive(); });
  }

  // Looks many times, and then gives up.
  static void Until(const std::function<bool()>& done) {
    constexpr uint64_t kLooks = 1 << 24;
    for (uint64_t i = 0; i < kLooks; ++i) {
      if (done()) return;
    }
    throw std::runtime_error("nothing has come for a long time");
  }

 private:
  static DAT_EVENT Next(DAT_EVD_HANDLE evd) {
    DAT_EVENT event{};
    Must(client::WaitEvent(evd, kPatienceUs, &event));
    return event;
  }
  static bool Try(DAT_EVD_HANDLE evd) {
    DAT_EVENT event;
    if (dat_evd_dequeue(evd, &event) != DAT_RETURN{DAT_SUCCESS}) return false;
    const auto& data = event.event_data.dto_completion_event_data;
    if (event.event_number != DAT_DTO_COMPLETION_EVENT || data.status != DAT_DTO_SUCCESS)
      throw std::runtime_error("a transfer has failed");
    return true;
  }

  client::Ia ia_;
  client::Pz pz_;
  client::Evd connections_, arrivals_, receives_, requests_;
  client::Memory memory_;
  client::Ep ep_;
  End* peer_ = nullptr;
};

// A message there and one back. Few of them ask for a completion, as in dat_perf. It has come some
// messages later.
void PingPong(End& a, End& b, uint64_t count, const std::function<void(End&, bool)>& give) {
  constexpr uint64_t kAsks = 16;
  for (uint64_t i = 0; i < count; ++i) {
    for (End* end : {&a, &b}) {
      End& other = end == &a ? b : a;
      give(*end, i % kAsks == 0);
      end->PostReceive();
      other.Receive();
      if (i % kAsks == kAsks / 2) End::Until([end] { return end->TryRequest(); });
    }
  }
}

// One way, with a window under way. Each asks for a completion.
void Stream(End& a, End& b, uint64_t count, const std::function<void(End&)>& post) {
  uint64_t posted = 0;
  for (uint64_t done = 0; done < count;) {
    for (; posted < count && posted - done < kWindow; ++posted) post(a);
    End::Until([&] {
      while (b.TryReceive()) b.PostReceive();
      if (!a.TryRequest()) return false;
      for (++done; a.TryRequest(); ++done) {
      }
      return true;
    });
  }
}

constexpr DAT_COMPLETION_FLAGS Flags(bool asks) {
  return asks ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG;
}

void Work(End& a, End& b, std::string_view work, uint64_t count) {
  if (work == "send") {
    PingPong(a, b, count, [](End& end, bool asks) { end.PostSend(Flags(asks)); });
  } else if (work == "notice") {
    PingPong(a, b, count, [](End& end, bool asks) {
      end.PostWrite(DAT_COMPLETION_SUPPRESS_FLAG);
      end.PostNotice(Flags(asks));
    });
  } else if (work == "sends") {
    Stream(a, b, count, [](End& end) { end.PostSend(DAT_COMPLETION_DEFAULT_FLAG); });
  } else if (work == "writes") {
    Stream(a, b, count, [](End& end) { end.PostWrite(DAT_COMPLETION_DEFAULT_FLAG); });
  } else {
    throw std::runtime_error(fmt::format("no work '{}': send, notice, sends, writes", work));
  }
}

}  // namespace

// What is counted. It has a plain name, so that a counter finds it.
extern "C" [[gnu::noinline]] void two_ends_exchange(void* a, void* b, const char* work,
                                                    uint64_t count) {
  Work(*static_cast<End*>(a), *static_cast<End*>(b), work, count);
}

namespace {

int Main(int argc, char** argv) {
  const bool help = argc == 2 && std::string_view(argv[1]) == "--help";
  const uint64_t count = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (help || count == 0) {
    fmt::print(help ? stdout : stderr,
               "usage: two_ends IA WORK COUNT\n"
               "Both ends of a connection in one thread, for counting instructions.\n"
               "WORK: send    a message of 64 B there and one back\n"
               "      notice  an RDMA write and an empty message there, and both back\n"
               "      sends   messages one way, 64 under way\n"
               "      writes  RDMA writes one way, 64 under way\n"
               "COUNT: how many are counted, after as many to get warm\n");
    return help ? kExitOk : kExitUsage;
  }
  End a(argv[1]), b(argv[1]);
  for (uint32_t i = 0; i < kWindow; ++i) {
    a.PostReceive();
    b.PostReceive();
  }
  a.ConnectTo(b);
  Work(a, b, argv[2], count);
  two_ends_exchange(&a, &b, argv[2], count);
  return kExitOk;
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) {
  try {
    return softdat::tools::Main(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "two_ends: {}\n", e.what());
    return softdat::tools::kExitFailed;
  }
}
