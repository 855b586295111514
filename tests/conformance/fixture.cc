// SPDX-License-Identifier: BSD-3-Clause
// The conformance fixture.
#include "tests/conformance/fixture.h"

#include <netinet/in.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "dat/backend_kit/testing/own_qualifier.h"

namespace softdat::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// This is SOFTDAT_ATTR_COMPLETION of dat2/softdat.h, which programs of 1.2 do not include.
constexpr char kCompletionAttribute[] = "SOFTDAT_COMPLETION";

DAT_LMR_TRIPLET* Iov(std::initializer_list<DAT_LMR_TRIPLET> iov) {
  // The call copies the triplets and never writes them.
  return iov.size() == 0 ? nullptr : const_cast<DAT_LMR_TRIPLET*>(iov.begin());
}

}  // namespace

DAT_DTO_COOKIE Cookie(uint64_t value) {
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = value;
  return cookie;
}

const char* EventName(DAT_EVENT_NUMBER number) {
  switch (number) {
    case DAT_DTO_COMPLETION_EVENT:
      return "DTO_COMPLETION";
    case DAT_RMR_BIND_COMPLETION_EVENT:
      return "RMR_BIND_COMPLETION";
    case DAT_CONNECTION_REQUEST_EVENT:
      return "CONNECTION_REQUEST";
    case DAT_CONNECTION_EVENT_ESTABLISHED:
      return "ESTABLISHED";
    case DAT_CONNECTION_EVENT_PEER_REJECTED:
      return "PEER_REJECTED";
    case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
      return "NON_PEER_REJECTED";
    case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
      return "ACCEPT_COMPLETION_ERROR";
    case DAT_CONNECTION_EVENT_DISCONNECTED:
      return "DISCONNECTED";
    case DAT_CONNECTION_EVENT_BROKEN:
      return "BROKEN";
    case DAT_CONNECTION_EVENT_TIMED_OUT:
      return "TIMED_OUT";
    case DAT_CONNECTION_EVENT_UNREACHABLE:
      return "UNREACHABLE";
    case DAT_ASYNC_ERROR_EVD_OVERFLOW:
      return "ASYNC_ERROR_EVD_OVERFLOW";
    case DAT_SOFTWARE_EVENT:
      return "SOFTWARE";
    default:
      return "another event";
  }
}

Buffer::Buffer(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, size_t size, uint8_t fill,
               DAT_MEM_PRIV_FLAGS rights)
    : size_(size), fill_(fill), bytes_(size + 2 * kGuard, kGuardByte) {
  std::fill_n(data(), size, fill);
  DAT_REGION_DESCRIPTION region{};
  region.for_va = data();
  DAT_VLEN registered_size = 0;
  DAT_VADDR registered_address = 0;
  EXPECT_OK(CreateLmr(ia, DAT_MEM_TYPE_VIRTUAL, region, size, pz, rights, &lmr_, &lmr_context_,
                      &rmr_context_, &registered_size, &registered_address));
}

Buffer::~Buffer() {
  if (lmr_ != DAT_HANDLE_NULL) {
    EXPECT_OK(Free());
  }
}

DAT_RETURN Buffer::Free() { return dat_lmr_free(std::exchange(lmr_, DAT_HANDLE_NULL)); }

bool Buffer::guards_intact() const {
  const auto is_guard = [](uint8_t byte) { return byte == kGuardByte; };
  return std::all_of(bytes_.begin(), bytes_.begin() + kGuard, is_guard) &&
         std::all_of(bytes_.end() - kGuard, bytes_.end(), is_guard);
}

bool Buffer::untouched() const {
  return guards_intact() &&
         std::all_of(data(), data() + size_, [this](uint8_t byte) { return byte == fill_; });
}

void Buffer::FillPattern(uint8_t seed) {
  for (size_t i = 0; i < size_; ++i) data()[i] = static_cast<uint8_t>(seed + i % 251);
}

DAT_LMR_TRIPLET Buffer::local(size_t offset, size_t length) const {
  DAT_LMR_TRIPLET triplet{};
  triplet.virtual_address = address() + offset;
  triplet.segment_length = static_cast<SegmentLength>(length);
  triplet.lmr_context = lmr_context_;
  return triplet;
}

DAT_RMR_TRIPLET Buffer::remote(size_t offset, size_t length) const {
  DAT_RMR_TRIPLET triplet{};
  AddressOf(triplet) = address() + offset;
  triplet.segment_length = static_cast<SegmentLength>(length);
  triplet.rmr_context = rmr_context_;
  return triplet;
}

Side::Side(EventMode mode, std::string ia_name) : mode_(mode) {
  EXPECT_OK(dat_ia_open(ia_name.data(), 16, &async_evd, &ia));
  EXPECT_OK(dat_pz_create(ia, &pz));
  if (mode == EventMode::kCno) {
    EXPECT_OK(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  }
  recv_evd = MakeEvd(DAT_EVD_DTO_FLAG, 512);
  request_evd = MakeEvd(static_cast<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG), 512);
  connect_evd = MakeEvd(DAT_EVD_CONNECTION_FLAG);
  cr_evd = MakeEvd(DAT_EVD_CR_FLAG);
  ep = MakeEp();
}

Side::~Side() {
  for (const DAT_EP_HANDLE made : eps_) EXPECT_OK(dat_ep_free(made));
  ExpectOneEndEach();
  for (const DAT_EVD_HANDLE made : evds_) EXPECT_OK(dat_evd_free(made));
  if (cno != DAT_HANDLE_NULL) {
    EXPECT_OK(dat_cno_free(cno));
  }
  EXPECT_OK(dat_pz_free(pz));
  EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

// Checks the events that the case has not read. A connection ends only once.
void Side::ExpectOneEndEach() {
  std::map<DAT_EP_HANDLE, int> ends;
  for (const DAT_EVENT& event : Drain(connect_evd)) {
    int& of_ep = ends[event.event_data.connect_event_data.ep_handle];
    of_ep += event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED ? -1 : 1;
    EXPECT_LE(of_ep, 1) << "a second final event, " << EventName(event.event_number);
  }
}

DAT_EVD_HANDLE Side::MakeEvd(DAT_EVD_FLAGS flags, DAT_COUNT qlen) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_OK(dat_evd_create(ia, qlen, cno, flags, &evd));
  evds_.push_back(evd);
  return evd;
}

DAT_EP_HANDLE Side::MakeEp(const DAT_EP_ATTR* attr) {
  DAT_EP_HANDLE made = DAT_HANDLE_NULL;
  EXPECT_OK(dat_ep_create(ia, pz, recv_evd, request_evd, connect_evd, attr, &made));
  eps_.push_back(made);
  return made;
}

void Side::FreeEp(DAT_EP_HANDLE made) {
  std::erase(eps_, made);
  EXPECT_OK(dat_ep_free(made));
}

DAT_EVENT Side::Next(DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  // The IA has made this EVD itself, without a CNO that would tell of its events.
  if (mode_ == EventMode::kWait || (mode_ == EventMode::kCno && evd == async_evd)) {
    DAT_COUNT nmore = -1;
    EXPECT_OK(dat_evd_wait(evd, kPatienceUs, 1, &event, &nmore));
    EXPECT_GE(nmore, 0);
    return event;
  }
  const Clock::time_point deadline = Clock::now() + std::chrono::microseconds(kPatienceUs);
  while (true) {
    const DAT_RETURN ret = dat_evd_dequeue(evd, &event);
    if (ret == DAT_SUCCESS) return event;
    if (DAT_GET_TYPE(ret) != DAT_QUEUE_EMPTY || Clock::now() > deadline) {
      ADD_FAILURE() << "no event came; dat_evd_dequeue says " << Name(ret);
      return {};
    }
    if (mode_ == EventMode::kPoll) {
      sched_yield();
      continue;
    }
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    const DAT_RETURN waited = dat_cno_wait(cno, kPatienceUs, &hint);
    if (waited != DAT_SUCCESS) {
      ADD_FAILURE() << "no event came; dat_cno_wait says " << Name(waited);
      return {};
    }
  }
}

void Side::ExpectSilence(DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  const DAT_RETURN ret = dat_evd_wait(evd, kSilenceUs, 1, &event, &nmore);
  // The bits of the class may be there or not. Another test checks them.
  EXPECT_EQ(DAT_GET_TYPE(ret), DAT_UINT32{DAT_TIMEOUT_EXPIRED})
      << Name(ret) << ' ' << EventName(event.event_number);
}

DAT_EVENT Side::Expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number) {
  const DAT_EVENT event = Next(evd);
  EXPECT_EQ(event.event_number, number)
      << EventName(event.event_number) << " came, expected was " << EventName(number);
  EXPECT_EQ(event.evd_handle, evd);
  return event;
}

DAT_CONNECTION_EVENT_DATA Side::ExpectConnection(DAT_EP_HANDLE of, DAT_EVENT_NUMBER number) {
  const DAT_CONNECTION_EVENT_DATA data = Expect(connect_evd, number).event_data.connect_event_data;
  EXPECT_EQ(data.ep_handle, of);
  return data;
}

void Side::ExpectEnd(DAT_EP_HANDLE of) {
  const DAT_EVENT event = Next(connect_evd);
  EXPECT_TRUE(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
              event.event_number == DAT_CONNECTION_EVENT_BROKEN)
      << EventName(event.event_number);
  EXPECT_EQ(event.event_data.connect_event_data.ep_handle, of);
}

DAT_DTO_COMPLETION_EVENT_DATA Side::ExpectDto(DAT_EVD_HANDLE evd, DAT_EP_HANDLE of, uint64_t cookie,
                                              DAT_DTO_COMPLETION_STATUS status) {
  const DAT_DTO_COMPLETION_EVENT_DATA data =
      Expect(evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
  EXPECT_EQ(data.ep_handle, of);
  EXPECT_EQ(data.user_cookie.as_64, cookie);
  EXPECT_EQ(data.status, status);
  return data;
}

std::vector<DAT_EVENT> Side::Drain(DAT_EVD_HANDLE evd) {
  std::vector<DAT_EVENT> events;
  DAT_EVENT event{};
  while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) events.push_back(event);
  return events;
}

bool ConfirmsCompletions(DAT_IA_HANDLE ia) {
  DAT_PROVIDER_ATTR attr{};
  EXPECT_OK(dat_ia_query(ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr));
  for (int i = 0; i < attr.num_provider_specific_attr; ++i) {
    const DAT_NAMED_ATTR& named = attr.provider_specific_attr[i];
    if (std::strcmp(named.name, kCompletionAttribute) == 0) {
      return std::strcmp(named.value, "confirmed") == 0;
    }
  }
  return true;
}

bool HasWindows(DAT_IA_HANDLE ia) {
  DAT_IA_ATTR attr{};
  EXPECT_OK(dat_ia_query(ia, nullptr, DAT_IA_FIELD_ALL, &attr, 0, nullptr));
  return attr.max_rmrs > 0;
}

DAT_EP_STATE StateOf(DAT_EP_HANDLE ep) {
  DAT_EP_STATE state = DAT_EP_STATE_UNCONFIGURED_UNCONNECTED;
  EXPECT_OK(dat_ep_get_status(ep, &state, nullptr, nullptr));
  return state;
}

void PairTest::SetUp() {
  a_ = std::make_unique<Side>(variant().mode);
  b_ = std::make_unique<Side>(variant().mode, TheOptions().passive_ia);
  ASSERT_NE(a_->ia, DAT_HANDLE_NULL);
  ASSERT_NE(b_->ia, DAT_HANDLE_NULL);
  if (variant().family == AF_INET6) {
    sockaddr_in6 loopback{};
    loopback.sin6_family = AF_INET6;
    loopback.sin6_addr = in6addr_loopback;
    std::memcpy(&address_, &loopback, sizeof loopback);
  } else {
    DAT_IA_ATTR attr{};
    ASSERT_OK(dat_ia_query(b_->ia, nullptr, DAT_IA_FIELD_ALL, &attr, 0, nullptr));
    std::memcpy(&address_, attr.ia_address_ptr, sizeof(sockaddr_in));
  }
}

void PairTest::TearDown() {
  a_.reset();
  b_.reset();
}

DAT_IA_ADDRESS_PTR PairTest::address() { return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address_); }

DAT_PSP_HANDLE PairTest::Listen(Side& side, DAT_CONN_QUAL* qualifier) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  EXPECT_OK(dat_psp_create_any(side.ia, qualifier, side.cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  return psp;
}

DAT_CONN_QUAL PairTest::FreeQualifier() {
  const DAT_CONN_QUAL qualifier = OwnQualifier([this](uint64_t own) {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    const DAT_RETURN ret = dat_psp_create(b_->ia, own, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &psp);
    if (ret == DAT_SUCCESS) {
      EXPECT_OK(dat_psp_free(psp));
      return true;
    }
    EXPECT_TYPE(ret, DAT_CONN_QUAL_IN_USE);
    return false;
  });
  EXPECT_NE(qualifier, 0u) << "no qualifier is free";
  return qualifier;
}

DAT_RETURN PairTest::Connect(DAT_EP_HANDLE ep, DAT_CONN_QUAL qualifier, std::span<uint8_t> data,
                             DAT_TIMEOUT timeout_us) {
  return dat_ep_connect(ep, address(), qualifier, timeout_us, static_cast<DAT_COUNT>(data.size()),
                        data.empty() ? nullptr : data.data(), DAT_QOS_BEST_EFFORT,
                        DAT_CONNECT_DEFAULT_FLAG);
}

DAT_CR_HANDLE PairTest::NextRequest(Side& side) {
  return side.Expect(side.cr_evd, DAT_CONNECTION_REQUEST_EVENT)
      .event_data.cr_arrival_event_data.cr_handle;
}

void PairTest::Join(Side& active, DAT_EP_HANDLE active_ep, Side& passive,
                    DAT_EP_HANDLE passive_ep) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(passive, &qualifier);
  ASSERT_OK(Connect(active_ep, qualifier));
  const DAT_CR_HANDLE cr = NextRequest(passive);
  ASSERT_NE(cr, DAT_HANDLE_NULL);
  ASSERT_OK(dat_cr_accept(cr, passive_ep, 0, nullptr));
  if (&active == &passive) {
    // On one EVD the events come in the order in which the ends learn of the connection.
    std::set<DAT_EP_HANDLE> established;
    for (int i = 0; i < 2; ++i) {
      established.insert(active.Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED)
                             .event_data.connect_event_data.ep_handle);
    }
    EXPECT_EQ(established, (std::set<DAT_EP_HANDLE>{active_ep, passive_ep}));
  } else {
    active.ExpectConnection(active_ep, DAT_CONNECTION_EVENT_ESTABLISHED);
    passive.ExpectConnection(passive_ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  EXPECT_EQ(StateOf(active_ep), DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(StateOf(passive_ep), DAT_EP_STATE_CONNECTED);
  EXPECT_OK(dat_psp_free(psp));
}

void PairTest::Part() {
  EXPECT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
}

void PairTest::ResetBoth() {
  EXPECT_OK(dat_ep_reset(a_->ep));
  EXPECT_OK(dat_ep_reset(b_->ep));
}

void PairTest::ExpectNothingMore(std::initializer_list<DAT_EVD_HANDLE> evds) {
  if (StateOf(a_->ep) != DAT_EP_STATE_CONNECTED || StateOf(b_->ep) != DAT_EP_STATE_CONNECTED) {
    for (const DAT_EP_HANDLE ep : {a_->ep, b_->ep}) {
      if (StateOf(ep) == DAT_EP_STATE_DISCONNECTED) {
        EXPECT_OK(dat_ep_reset(ep));
      }
    }
    Join();
    if (HasFatalFailure()) return;
  }
  Part();
  std::vector<DAT_EVD_HANDLE> all(evds);
  all.insert(all.end(), {a_->connect_evd, b_->connect_evd});
  for (const DAT_EVD_HANDLE evd : all) {
    for (const DAT_EVENT& event : Side::Drain(evd)) {
      ADD_FAILURE() << EventName(event.event_number) << " came, where nothing was to come";
    }
  }
}

DAT_RETURN PostSend(DAT_EP_HANDLE ep, std::initializer_list<DAT_LMR_TRIPLET> iov, uint64_t cookie,
                    DAT_COMPLETION_FLAGS flags) {
  return dat_ep_post_send(ep, static_cast<DAT_COUNT>(iov.size()), Iov(iov), Cookie(cookie), flags);
}

DAT_RETURN PostRecv(DAT_EP_HANDLE ep, std::initializer_list<DAT_LMR_TRIPLET> iov, uint64_t cookie) {
  return dat_ep_post_recv(ep, static_cast<DAT_COUNT>(iov.size()), Iov(iov), Cookie(cookie),
                          DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN PostWrite(DAT_EP_HANDLE ep, std::initializer_list<DAT_LMR_TRIPLET> iov,
                     const DAT_RMR_TRIPLET& remote, uint64_t cookie, DAT_COMPLETION_FLAGS flags) {
  return dat_ep_post_rdma_write(ep, static_cast<DAT_COUNT>(iov.size()), Iov(iov), Cookie(cookie),
                                &remote, flags);
}

DAT_RETURN PostRead(DAT_EP_HANDLE ep, std::initializer_list<DAT_LMR_TRIPLET> iov,
                    const DAT_RMR_TRIPLET& remote, uint64_t cookie, DAT_COMPLETION_FLAGS flags) {
  return dat_ep_post_rdma_read(ep, static_cast<DAT_COUNT>(iov.size()), Iov(iov), Cookie(cookie),
                               &remote, flags);
}

}  // namespace softdat::conformance
