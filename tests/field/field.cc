// SPDX-License-Identifier: BSD-3-Clause
// Functions that the field tests share.
#include "tests/field/field.h"

#include <cstdlib>

#include "dat/backend_kit/testing/own_qualifier.h"

namespace softdat::field {
namespace {

bool IsFree(const Ia& ia, DAT_CONN_QUAL qualifier) {
  client::Evd requests;
  client::ServicePoint point;
  EXPECT_DAT_OK(requests.Create(ia, DAT_EVD_CR_FLAG, 1));
  const client::Result listening = point.Listen(ia, requests, qualifier);
  if (!listening.ok()) EXPECT_DAT_TYPE(listening, DAT_CONN_QUAL_IN_USE);
  EXPECT_DAT_OK(point.Free());
  EXPECT_DAT_OK(requests.Free());
  return listening.ok();
}

}  // namespace

std::string IaName() {
  const char* name = std::getenv("SOFTDAT_TEST_IA");
  return name != nullptr ? name : "toy-0";
}

Ia::Ia() {
  EXPECT_DAT_OK(Open(IaName(), 64));
  EXPECT_DAT_OK(pz_.Create(*this));
}

client::Result Ia::Close(DAT_CLOSE_FLAGS flags) {
  if (flags == DAT_CLOSE_GRACEFUL_FLAG) EXPECT_DAT_OK(pz_.Free());
  return client::Ia::Close(flags);
}

DAT_EVD_HANDLE Ia::NewEvd(int flags, DAT_COUNT qlen, DAT_CNO_HANDLE cno) const {
  client::Evd evd;
  EXPECT_DAT_OK(evd.Create(*this, flags, qlen, cno));
  return evd.Release();
}

Memory::Memory(const Ia& ia, size_t size) {
  if (!Map(size)) std::abort();
  EXPECT_DAT_OK(Register(ia, ia.pz()));
}

bool Await(DAT_EVD_HANDLE evd, DAT_EVENT* event, DAT_TIMEOUT timeout_us) {
  const client::Result result = client::WaitEvent(evd, timeout_us, event);
  EXPECT_EQ(result, DAT_RETURN{DAT_SUCCESS}) << "no event: " << result.Describe();
  return result == DAT_SUCCESS;
}

bool Expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT* event) {
  DAT_EVENT mine{};
  if (!Await(evd, &mine)) return false;
  EXPECT_EQ(mine.event_number, number);
  if (event != nullptr) *event = mine;
  return mine.event_number == number;
}

bool ExpectDto(DAT_EVD_HANDLE evd, uint64_t cookie, uint64_t length) {
  DAT_EVENT event{};
  if (!Expect(evd, DAT_DTO_COMPLETION_EVENT, &event)) return false;
  const DAT_DTO_COMPLETION_EVENT_DATA& data = event.event_data.dto_completion_event_data;
  EXPECT_EQ(data.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(data.user_cookie.as_64, cookie);
  EXPECT_EQ(data.transfered_length, length);
  return data.status == DAT_DTO_SUCCESS && data.user_cookie.as_64 == cookie &&
         data.transfered_length == length;
}

End::End(const Ia& ia, const Options& options) : ia_(ia) {
  constexpr int kRequests = DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG;
  EXPECT_DAT_OK(recv_evd.Create(ia, DAT_EVD_DTO_FLAG, options.dto_qlen, options.cno));
  EXPECT_DAT_OK(request_evd.Create(ia, kRequests, options.dto_qlen, options.cno));
  EXPECT_DAT_OK(connect_evd.Create(ia, DAT_EVD_CONNECTION_FLAG, 64, options.cno));
  EXPECT_DAT_OK(cr_evd.Create(ia, DAT_EVD_CR_FLAG, 64, options.cno));
  EXPECT_DAT_OK(ep.Create(ia, ia.pz(), evds(), options.attr));
}

End::~End() {
  EXPECT_DAT_OK(ep.Free());
  for (client::Evd* evd : {&recv_evd, &request_evd, &connect_evd, &cr_evd})
    EXPECT_DAT_OK(evd->Free());
}

DAT_EP_STATE End::state() const {
  DAT_EP_STATE now{};
  EXPECT_DAT_OK(dat_ep_get_status(ep, &now, nullptr, nullptr));
  return now;
}

bool AcceptNext(DAT_EVD_HANDLE cr_evd, DAT_EP_HANDLE ep) {
  DAT_EVENT event{};
  if (!Expect(cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event)) return false;
  const DAT_RETURN ret =
      dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr);
  EXPECT_EQ(ret, DAT_SUCCESS) << Text(ret);
  return ret == DAT_SUCCESS;
}

DAT_CONN_QUAL FreeQualifier(const Ia& ia) {
  const DAT_CONN_QUAL qualifier = OwnQualifier([&ia](uint64_t own) { return IsFree(ia, own); });
  EXPECT_NE(qualifier, 0u) << "no qualifier is free";
  return qualifier;
}

DAT_CONN_QUAL FreeLargeQualifier(const Ia& ia) {
  const DAT_CONN_QUAL qualifier =
      OwnLargeQualifier([&ia](uint64_t own) { return IsFree(ia, own); });
  EXPECT_NE(qualifier, 0u) << "no qualifier is free";
  return qualifier;
}

bool Join(End& active, End& passive) {
  client::ServicePoint service;
  const client::Result listening = service.ListenAny(passive.ia(), passive.cr_evd);
  EXPECT_DAT_OK(listening);
  if (!listening.ok()) return false;
  EXPECT_DAT_OK(StartConnect(active.ep, passive.ia().address(), service.qualifier()));
  const bool joined = AcceptNext(passive.cr_evd, passive.ep) &&
                      Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED) &&
                      Expect(passive.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_DAT_OK(service.Free());
  return joined;
}

void WarmUp() {
  Ia ia;
  End a(ia);
  End b(ia);
  EXPECT_TRUE(Join(a, b));
}

DAT_RETURN PostNumber(DAT_EVD_HANDLE evd, uint64_t number) {
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  event.event_data.software_event_data.pointer = reinterpret_cast<void*>(number);
  return dat_evd_post_se(evd, &event);
}

uint64_t NumberOf(const DAT_EVENT& event) {
  return reinterpret_cast<uintptr_t>(event.event_data.software_event_data.pointer);
}

}  // namespace softdat::field
