// SPDX-License-Identifier: BSD-3-Clause
// Making and ending a connection.
#include "tools/traffic/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dat/client/names.h"
#include "tools/common/address.h"
#include "tools/common/dat_calls.h"

namespace softdat::tools {
namespace {

using client::EventName;

constexpr uint32_t kConnectQueue = 8;  // plus two for each connection
constexpr uint32_t kRequestQueue = 8;  // connection requests, plus one for each connection
// Places for control messages, in addition to a full window. Their completions are suppressed, so
// nothing tells when their places in the queue are free again.
constexpr int kControlMessages = 8;
// The time in which the other side must finish its part of a set-up or a graceful end.
constexpr DAT_TIMEOUT kSettleUs = 10'000'000;

Outcome NextConnectionEvent(const client::Evd& evd, DAT_TIMEOUT timeout_us, const char* what,
                            DAT_EVENT* event) {
  const client::Result result = client::WaitEvent(evd, timeout_us, event);
  if (result.type() == DAT_TIMEOUT_EXPIRED)
    return Outcome::Fail(fmt::format("{}: no answer for {} s", what, timeout_us / 1000000));
  return Check(result);
}

// Returns why an event that is not DAT_CONNECTION_EVENT_ESTABLISHED came in its place.
Outcome WhyNotEstablished(const char* what, DAT_EVENT_NUMBER number) {
  const char* why = "";
  if (number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED) why = "refused, nobody listens there";
  if (number == DAT_CONNECTION_EVENT_UNREACHABLE) why = "unreachable";
  if (number == DAT_CONNECTION_EVENT_TIMED_OUT) why = "no answer in time";
  const std::string name = EventName(number);
  return Outcome::Fail(*why == 0 ? fmt::format("{}: {}", what, name)
                                 : fmt::format("{}: {} ({})", what, why, name));
}

}  // namespace

Outcome Link::Open(const std::string& ia_name, const LinkDepths& depths, uint32_t connections) {
  auto ia = std::make_shared<client::Ia>();
  SOFTDAT_TRY(OpenIa(ia_name, ia.get()));
  return Open(std::move(ia), depths, connections);
}

Outcome Link::Open(std::shared_ptr<const client::Ia> ia, const LinkDepths& depths,
                   uint32_t connections) {
  ia_ = std::move(ia);
  connections_ = connections;
  eps_ = std::make_unique<client::Ep[]>(connections);
  const DAT_IA_ATTR& attr = ia_->attributes();
  depths_ = depths;
  const auto share = static_cast<int>(connections);
  for (const int limit : {attr.max_dto_per_ep, attr.max_evd_qlen / share}) {
    if (limit > kControlMessages) {
      depths_.receives = std::min(depths_.receives, limit);
      depths_.requests = std::min(depths_.requests, limit - kControlMessages);
    }
  }
  SOFTDAT_TRY(Check(pz_.Create(*ia_)));
  const auto connect_queue = static_cast<DAT_COUNT>(kConnectQueue + 2 * connections);
  const DAT_COUNT request_queue = (depths_.requests + kControlMessages) * share;
  SOFTDAT_TRY(
      Check(connect_evd_.Create(*ia_, DAT_EVD_CONNECTION_FLAG, connect_queue), "connection"));
  SOFTDAT_TRY(Check(requests_.evd.Create(*ia_, DAT_EVD_DTO_FLAG, request_queue), "request"));
  return Check(receives_.evd.Create(*ia_, DAT_EVD_DTO_FLAG, depths_.receives * share), "receive");
}

Outcome Link::MakeEndPoint(client::Ep* ep) {
  const DAT_IA_ATTR& adapter = ia_->attributes();
  DAT_EP_ATTR attr{};
  attr.service_type = DAT_SERVICE_TYPE_RC;
  attr.max_message_size = adapter.max_message_size;
  attr.max_rdma_size = adapter.max_rdma_size;
  attr.qos = DAT_QOS_BEST_EFFORT;
  attr.max_recv_dtos = depths_.receives;
  attr.max_request_dtos = depths_.requests + kControlMessages;
  attr.max_recv_iov = 1;
  attr.max_request_iov = 1;
  attr.max_rdma_read_in = adapter.max_rdma_read_per_ep_in;
  attr.max_rdma_read_out = adapter.max_rdma_read_per_ep_out;
  attr.max_rdma_read_iov = 1;
  attr.max_rdma_write_iov = 1;
  return Check(ep->Create(*ia_, pz_, {receives_.evd, requests_.evd, connect_evd_}, &attr));
}

Outcome Link::Listen(uint64_t conn_qual) {
  const auto queue = static_cast<DAT_COUNT>(kRequestQueue + connections_);
  SOFTDAT_TRY(Check(cr_evd_.Create(*ia_, DAT_EVD_CR_FLAG, queue), "connection requests"));
  if (conn_qual == 0) {
    SOFTDAT_TRY(Check(psp_.ListenAny(*ia_, cr_evd_)));
  } else {
    SOFTDAT_TRY(Check(psp_.Listen(*ia_, cr_evd_, conn_qual),
                      fmt::format("connection qualifier {}", conn_qual)));
  }
  conn_qual_ = psp_.qualifier();
  return {};
}

Outcome Link::Accept(Order order) {
  constexpr char kWhat[] = "accepting a connection";
  end_.reset();
  ended_ = 0;
  for (uint32_t i = 0; i < connections_; ++i) {
    SOFTDAT_TRY(MakeEndPoint(&eps_[i]));
    DAT_EVENT event{};
    SOFTDAT_TRY(NextConnectionEvent(cr_evd_, DAT_TIMEOUT_INFINITE, "listening", &event));
    if (event.event_number != DAT_CONNECTION_REQUEST_EVENT)
      return Outcome::Fail("listening: " + EventName(event.event_number));
    SOFTDAT_TRY(Check(client::ConnectionRequest(*ia_, event).Accept(eps_[i])));
    if (order == Order::kOneByOne) SOFTDAT_TRY(AwaitEstablished(kWhat, 1));
  }
  return order == Order::kAtOnce ? AwaitEstablished(kWhat, connections_) : Outcome();
}

Outcome Link::Connect(const sockaddr* address, uint64_t conn_qual, uint32_t timeout_us,
                      Order order) {
  end_.reset();
  ended_ = 0;
  conn_qual_ = conn_qual;
  const std::string what =
      fmt::format("connecting to {}, connection qualifier {}", FormatAddress(address), conn_qual);
  for (uint32_t i = 0; i < connections_; ++i) {
    SOFTDAT_TRY(MakeEndPoint(&eps_[i]));
    SOFTDAT_TRY(Check(client::Connect(eps_[i], address, conn_qual, timeout_us)));
    if (order == Order::kOneByOne) SOFTDAT_TRY(AwaitEstablished(what.c_str(), 1));
  }
  return order == Order::kAtOnce ? AwaitEstablished(what.c_str(), connections_) : Outcome();
}

Outcome Link::AwaitEstablished(const char* what, uint32_t count) {
  while (count > 0) {
    DAT_EVENT event{};
    // The provider ends a connect that takes too long with an event of its own.
    SOFTDAT_TRY(NextConnectionEvent(connect_evd_, DAT_TIMEOUT_INFINITE, what, &event));
    if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) {
      --count;
    } else if (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED) {
      // The peer has all of its connections, and ends the first ones before the last ones are
      // established here.
      NoteEnd(event.event_number);
    } else {
      return WhyNotEstablished(what, event.event_number);
    }
  }
  return {};
}

Outcome Link::Disconnect() {
  for (uint32_t i = 0; i < connections_; ++i) {
    SOFTDAT_TRY(Check("dat_ep_disconnect", dat_ep_disconnect(eps_[i], DAT_CLOSE_GRACEFUL_FLAG)));
  }
  return AwaitDisconnect();
}

Outcome Link::AwaitEnd() {
  DAT_EVENT event{};
  SOFTDAT_TRY(NextConnectionEvent(connect_evd_, kSettleUs, "disconnecting", &event));
  NoteEnd(event.event_number);
  return {};
}

void Link::NoteEnd(DAT_EVENT_NUMBER number) {
  ++ended_;
  if (!end_) end_ = number;
}

Outcome Link::AwaitDisconnect() {
  while (ended_ < connections_) SOFTDAT_TRY(AwaitEnd());
  for (uint32_t i = 0; i < connections_; ++i) eps_[i].Reset();
  // Flushed completions belong to the connections that are gone.
  for (Completions* completions : {&receives_, &requests_}) {
    DAT_EVENT flushed{};
    while (Take(completions, &flushed) == DAT_SUCCESS) {
    }
  }
  if (end_ == DAT_CONNECTION_EVENT_DISCONNECTED) return {};
  return Outcome::Fail("disconnecting: " + EventName(*end_));
}

std::string Link::LocalName() const {
  DAT_EP_PARAM param{};
  if (!eps_ || !eps_[0] || dat_ep_query(eps_[0], DAT_EP_FIELD_ALL, &param) != DAT_SUCCESS)
    return FormatAddress(ia_->attributes().ia_address_ptr);
  return fmt::format("{}, port qualifier {}", FormatAddress(param.local_ia_address_ptr),
                     param.local_port_qual);
}

std::string Link::RemoteName() const {
  DAT_EP_PARAM param{};
  if (!eps_ || !eps_[0] || dat_ep_query(eps_[0], DAT_EP_FIELD_ALL, &param) != DAT_SUCCESS)
    return "nobody";
  return fmt::format("{}, port qualifier {}", FormatAddress(param.remote_ia_address_ptr),
                     param.remote_port_qual);
}

}  // namespace softdat::tools
