// SPDX-License-Identifier: BSD-3-Clause
// What the field tests share.
#include "tests/field/field.h"

#include <sys/mman.h>

#include <cstdlib>
#include <utility>

namespace softdat::field {

std::string IaName() {
  const char* name = std::getenv("SOFTDAT_TEST_IA");
  return name != nullptr ? name : "toy-0";
}

std::string Text(DAT_RETURN ret) {
  const char* major = "";
  const char* minor = "";
  dat_strerror(ret, &major, &minor);
  return std::string(major) + " " + minor;
}

DAT_DTO_COOKIE Cookie(uint64_t value) {
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = value;
  return cookie;
}

Ia::Ia() {
  std::string name = IaName();
  EXPECT_DAT_OK(dat_ia_open(name.data(), 64, &async_evd_, &handle_));
  EXPECT_DAT_OK(dat_pz_create(handle_, &pz_));
  DAT_IA_ATTR attr{};
  EXPECT_DAT_OK(dat_ia_query(handle_, nullptr, DAT_IA_FIELD_ALL, &attr, 0, nullptr));
  address_ = attr.ia_address_ptr;
}

Ia::~Ia() {
  if (handle_ != DAT_HANDLE_NULL) EXPECT_DAT_OK(dat_ia_close(handle_, DAT_CLOSE_ABRUPT_FLAG));
}

DAT_RETURN Ia::Close(DAT_CLOSE_FLAGS flags) {
  if (flags == DAT_CLOSE_GRACEFUL_FLAG) EXPECT_DAT_OK(dat_pz_free(pz_));
  const DAT_RETURN ret = dat_ia_close(handle_, flags);
  if (ret == DAT_SUCCESS) handle_ = DAT_HANDLE_NULL;
  return ret;
}

DAT_EVD_HANDLE Ia::NewEvd(int flags, DAT_COUNT qlen, DAT_CNO_HANDLE cno) const {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_DAT_OK(dat_evd_create(handle_, qlen, cno, static_cast<DAT_EVD_FLAGS>(flags), &evd));
  return evd;
}

Memory::Memory(const Ia& ia, size_t size) : size_(size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) std::abort();
  data_ = static_cast<uint8_t*>(p);
  DAT_REGION_DESCRIPTION region{};
  region.for_va = data_;
  DAT_VLEN registered_size = 0;
  DAT_VADDR registered_address = 0;
  EXPECT_DAT_OK(dat_lmr_create(ia.handle(), DAT_MEM_TYPE_VIRTUAL, region, size, ia.pz(),
                               DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr_, &lmr_context_,
                               &rmr_context_, &registered_size, &registered_address));
}

Memory::~Memory() {
  if (lmr_ != DAT_HANDLE_NULL) EXPECT_DAT_OK(dat_lmr_free(lmr_));
  munmap(data_, size_);
}

DAT_LMR_TRIPLET Memory::Local(size_t offset, size_t length) const {
  DAT_LMR_TRIPLET triplet{};
  triplet.virtual_address = reinterpret_cast<uintptr_t>(data_) + offset;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  triplet.lmr_context = lmr_context_;
  return triplet;
}

DAT_RMR_TRIPLET Memory::Remote(size_t offset, size_t length) const {
  DAT_RMR_TRIPLET triplet{};
  triplet.virtual_address = reinterpret_cast<uintptr_t>(data_) + offset;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  triplet.rmr_context = rmr_context_;
  return triplet;
}

bool Await(DAT_EVD_HANDLE evd, DAT_EVENT* event, DAT_TIMEOUT timeout_us) {
  DAT_COUNT nmore = 0;
  const DAT_RETURN ret = dat_evd_wait(evd, timeout_us, 1, event, &nmore);
  EXPECT_EQ(ret, DAT_SUCCESS) << "no event: " << Text(ret);
  return ret == DAT_SUCCESS;
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
  recv_evd = ia.NewEvd(DAT_EVD_DTO_FLAG, options.dto_qlen, options.cno);
  request_evd = ia.NewEvd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, options.dto_qlen, options.cno);
  connect_evd = ia.NewEvd(DAT_EVD_CONNECTION_FLAG, 64, options.cno);
  cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG, 64, options.cno);
  EXPECT_DAT_OK(
      dat_ep_create(ia.handle(), ia.pz(), recv_evd, request_evd, connect_evd, options.attr, &ep));
}

End::~End() {
  if (ep != DAT_HANDLE_NULL) EXPECT_DAT_OK(dat_ep_free(ep));
  for (const DAT_EVD_HANDLE evd : {recv_evd, request_evd, connect_evd, cr_evd}) {
    if (evd != DAT_HANDLE_NULL) EXPECT_DAT_OK(dat_evd_free(evd));
  }
}

void End::Forget() { ep = recv_evd = request_evd = connect_evd = cr_evd = DAT_HANDLE_NULL; }

DAT_EP_STATE End::state() const {
  DAT_EP_STATE now{};
  EXPECT_DAT_OK(dat_ep_get_status(ep, &now, nullptr, nullptr));
  return now;
}

DAT_RETURN PostSend(DAT_EP_HANDLE ep, const DAT_LMR_TRIPLET& segment, uint64_t cookie,
                    DAT_COMPLETION_FLAGS flags) {
  DAT_LMR_TRIPLET iov = segment;
  return dat_ep_post_send(ep, 1, &iov, Cookie(cookie), flags);
}

DAT_RETURN PostReceive(DAT_EP_HANDLE ep, const DAT_LMR_TRIPLET& segment, uint64_t cookie) {
  DAT_LMR_TRIPLET iov = segment;
  return dat_ep_post_recv(ep, 1, &iov, Cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN PostWrite(DAT_EP_HANDLE ep, const DAT_LMR_TRIPLET& segment,
                     const DAT_RMR_TRIPLET& remote, uint64_t cookie, DAT_COMPLETION_FLAGS flags) {
  DAT_LMR_TRIPLET iov = segment;
  return dat_ep_post_rdma_write(ep, 1, &iov, Cookie(cookie), &remote, flags);
}

DAT_RETURN PostRead(DAT_EP_HANDLE ep, const DAT_LMR_TRIPLET& segment, const DAT_RMR_TRIPLET& remote,
                    uint64_t cookie) {
  DAT_LMR_TRIPLET iov = segment;
  return dat_ep_post_rdma_read(ep, 1, &iov, Cookie(cookie), &remote, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN StartConnect(DAT_EP_HANDLE active, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qualifier,
                        DAT_TIMEOUT timeout_us) {
  return dat_ep_connect(active, address, qualifier, timeout_us, 0, nullptr, DAT_QOS_BEST_EFFORT,
                        DAT_CONNECT_DEFAULT_FLAG);
}

bool AcceptNext(DAT_EVD_HANDLE cr_evd, DAT_EP_HANDLE ep) {
  DAT_EVENT event{};
  if (!Expect(cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event)) return false;
  const DAT_RETURN ret =
      dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr);
  EXPECT_EQ(ret, DAT_SUCCESS) << Text(ret);
  return ret == DAT_SUCCESS;
}

bool Join(End& active, End& passive) {
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  const DAT_RETURN ret = dat_psp_create_any(passive.ia().handle(), &qualifier, passive.cr_evd,
                                            DAT_PSP_CONSUMER_FLAG, &psp);
  EXPECT_EQ(ret, DAT_SUCCESS) << Text(ret);
  if (ret != DAT_SUCCESS) return false;
  EXPECT_DAT_OK(StartConnect(active.ep, passive.ia().address(), qualifier));
  const bool joined = AcceptNext(passive.cr_evd, passive.ep) &&
                      Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED) &&
                      Expect(passive.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_DAT_OK(dat_psp_free(psp));
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
