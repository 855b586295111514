// SPDX-License-Identifier: BSD-3-Clause
// The extension interface of 2005 in a program of uDAPL 1.2.
#include <dat/dat_extensions.h>

#include <map>
#include <utility>

#include "tests/bridge/pair.h"

namespace softdat::bridge_test {
namespace {

constexpr DAT_RETURN kNotImplemented = DAT_NOT_IMPLEMENTED;
constexpr DAT_COMPLETION_FLAGS kPlain = DAT_COMPLETION_DEFAULT_FLAG;
constexpr auto kWithAtomics = static_cast<DAT_MEM_PRIV_FLAGS>(int{DAT_MEM_PRIV_ALL_FLAG} |
                                                              int{DAT_EXT_MEM_PRIV_REMOTE_ATOMIC});

// What the IA has, from SOFTDAT_TEST_EXTENSIONS. "all" is the default. "messages": no atomics, and
// immediate data come as messages. "none": nothing.
std::string Expected() {
  const char* expected = std::getenv("SOFTDAT_TEST_EXTENSIONS");
  return expected != nullptr ? expected : "all";
}
bool AsMessages() { return Expected() == "messages"; }

class ExtensionTest : public ConnectedPair {
 protected:
  // The next `count` extension events, by their kind.
  std::map<DAT_EXT_EVENT_TYPE, DAT_EXTENSION_DATA> Extensions(
      int count, DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS) {
    std::map<DAT_EXT_EVENT_TYPE, DAT_EXTENSION_DATA> events;
    for (int i = 0; i < count; ++i) {
      const DAT_EXTENSION_DATA data = Next(DAT_EXTENSION_EVENT).event_data.extension_data;
      EXPECT_EQ(data.status, status);
      events[data.type] = data;
    }
    EXPECT_EQ(events.size(), static_cast<size_t>(count));
    return events;
  }
  uint64_t& Word(size_t offset) { return *reinterpret_cast<uint64_t*>(bytes_.data() + offset); }
  // Registers the same memory a second time, open to atomics.
  DAT_RMR_CONTEXT OpenToAtomics() {
    DAT_REGION_DESCRIPTION region;
    region.for_va = bytes_.data();
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT context = 0;
    EXPECT_DAT(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, kBytes, pz_, kWithAtomics, &lmr,
                              &atomic_context_, &context, nullptr, nullptr));
    DAT_LMR_PARAM param;
    EXPECT_DAT(dat_lmr_query(lmr, DAT_LMR_FIELD_MEM_PRIV, &param));
    EXPECT_EQ(param.mem_priv, kWithAtomics);
    return context;
  }
  DAT_LMR_CONTEXT atomic_context_ = 0;  // for windows
};

TEST_F(ExtensionTest, NamedAttributesTellTheServices) {
  DAT_PROVIDER_ATTR provider{};
  EXPECT_DAT(
      dat_ia_query(ia_, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR, &provider));
  std::map<std::string, std::string> named;
  for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
    const DAT_NAMED_ATTR& each = provider.provider_specific_attr[i];
    EXPECT_TRUE(named.emplace(each.name, each.value).second) << each.name << " twice";
  }
  const auto expect = [&named](const char* name, bool has) {
    EXPECT_EQ(named[name], has ? DAT_EXT_ATTR_TRUE : DAT_EXT_ATTR_FALSE) << name;
  };
  const bool all = Expected() == "all";
  for (const char* name : {DAT_EXT_ATTR, DAT_EXT_ATTR_RDMA_WRITE_IMMED, DAT_EXT_ATTR_RECV_IMMED})
    expect(name, Expected() != "none");
  expect(DAT_EXT_ATTR_RECV_IMMED_EVENT, all);
  expect(DAT_EXT_ATTR_RECV_IMMED_PAYLOAD, AsMessages());
  expect(DAT_EXT_ATTR_FETCH_AND_ADD, all);
  expect(DAT_EXT_ATTR_CMP_AND_SWAP, all);
}

// covers: semantics 15.3
TEST_F(ExtensionTest, AWriteWithImmediateData) {
  const DAT_EXT_EVENT_TYPE received =
      AsMessages() ? DAT_EXT_RECV_IMMED_DATA_PAYLOAD : DAT_EXT_RECV_IMMED_DATA_EVENT;
  for (const int confirm : {0, int{DAT_EXT_WRITE_CONFIRM_FLAG}}) {
    DAT_LMR_TRIPLET sink = Local(3000, 16);
    EXPECT_DAT(dat_ep_post_recv_immed(passive_, 1, &sink, Cookie(8), kPlain));
    std::memcpy(bytes_.data(), "with a number", 14);
    DAT_LMR_TRIPLET source = Local(0, 14);
    DAT_RMR_TRIPLET target = Remote(rmr_context_, 100, 14);
    EXPECT_DAT(dat_ep_post_write_immed(active_, 1, &source, Cookie(9), &target, 0x1234abcd,
                                       DAT_EXT_WRITE_IMMED_FLAG | confirm, kPlain));
    auto events = Extensions(2);
    const DAT_EXTENSION_DATA& done = events[DAT_EXT_RDMA_WRITE_IMMED_STATUS];
    EXPECT_EQ(done.ep_handle, active_);
    EXPECT_EQ(done.user_cookie.as_64, 9u);
    EXPECT_EQ(done.transfered_length, 14u);
    ASSERT_EQ(events.count(received), 1u);
    const DAT_EXTENSION_DATA& came = events[received];
    EXPECT_EQ(came.ep_handle, passive_);
    EXPECT_EQ(came.user_cookie.as_64, 8u);
    if (AsMessages()) {
      EXPECT_EQ(came.transfered_length, 4u);
      EXPECT_EQ(*reinterpret_cast<uint32_t*>(bytes_.data() + 3000), 0x1234abcdu);
      EXPECT_EQ(bytes_[3004], 0) << "and no more than that";
    } else {
      EXPECT_EQ(came.val.immed.data, 0x1234abcdu);
      EXPECT_EQ(came.transfered_length, 14u);
      EXPECT_EQ(bytes_[3000], 0) << "the receive's own memory";
    }
    EXPECT_STREQ(bytes_.data() + 100, "with a number");
    std::memset(bytes_.data() + 100, 0, 14);
    std::memset(bytes_.data() + 3000, 0, 16);
  }
}

TEST_F(ExtensionTest, ImmediateDataForAnOrdinaryReceive) {
  DAT_LMR_TRIPLET sink = Local(3000, 16);
  EXPECT_DAT(dat_ep_post_recv(passive_, 1, &sink, Cookie(8), kPlain));
  DAT_LMR_TRIPLET source = Local(0, 14);
  DAT_RMR_TRIPLET target = Remote(rmr_context_, 100, 14);
  EXPECT_DAT(dat_ep_post_write_immed(active_, 1, &source, Cookie(9), &target, 77,
                                     DAT_EXT_WRITE_IMMED_FLAG, DAT_COMPLETION_SUPPRESS_FLAG));
  if (AsMessages()) {
    EXPECT_EQ(Completion(8).transfered_length, 4u);
  } else {
    EXPECT_EQ(Extensions(1)[DAT_EXT_RECV_IMMED_DATA_EVENT].val.immed.data, 77u);
  }
}

// A write through this call completes as one of the extension even without immediate data. With
// CONFIRM its completion alone tells that the data have arrived.
TEST_F(ExtensionTest, AWriteWithoutImmediateData) {
  for (const int flags : {0, int{DAT_EXT_WRITE_CONFIRM_FLAG}}) {
    DAT_LMR_TRIPLET source = Local(0, 15);
    DAT_RMR_TRIPLET target = Remote(rmr_context_, 100, 15);
    std::memcpy(bytes_.data(), "without number", 15);
    EXPECT_DAT(dat_ep_post_write_immed(active_, 1, &source, Cookie(9), &target, 5, flags, kPlain));
    const DAT_EXTENSION_DATA done = Extensions(1)[DAT_EXT_RDMA_WRITE_IMMED_STATUS];
    EXPECT_EQ(done.user_cookie.as_64, 9u);
    EXPECT_EQ(done.ep_handle, active_);
    EXPECT_EQ(done.transfered_length, 15u);
    if (flags != 0) {
      EXPECT_STREQ(bytes_.data() + 100, "without number");
    }
  }
}

// covers: semantics 15.3
TEST_F(ExtensionTest, AMessageForAReceiveWithImmediateData) {
  for (const uint32_t length : {0u, 4u, 5u}) {
    DAT_LMR_TRIPLET sink = Local(100, 16);
    EXPECT_DAT(dat_ep_post_recv_immed(passive_, 1, &sink, Cookie(8), kPlain));
    DAT_LMR_TRIPLET source = Local(0, length);
    EXPECT_DAT(dat_ep_post_send(active_, 1, &source, Cookie(9), DAT_COMPLETION_SUPPRESS_FLAG));
    // Only the length tells a message with immediate data from another.
    const DAT_EXT_EVENT_TYPE type =
        AsMessages() && length == 4 ? DAT_EXT_RECV_IMMED_DATA_PAYLOAD : DAT_EXT_RECV_NO_IMMED;
    auto events = Extensions(1);
    ASSERT_EQ(events.count(type), 1u) << length;
    EXPECT_EQ(events[type].transfered_length, length);
    EXPECT_EQ(events[type].user_cookie.as_64, 8u);
    EXPECT_EQ(events[type].ep_handle, passive_);
  }
}

// Ordinary posts stay what they were, even beside those of the extension.
TEST_F(ExtensionTest, OrdinaryPostsCompleteAsDtos) {
  DAT_LMR_TRIPLET sink = Local(100, 16);
  EXPECT_DAT(dat_ep_post_recv(passive_, 1, &sink, Cookie(7), kPlain));
  EXPECT_DAT(dat_ep_post_recv_immed(passive_, 1, &sink, Cookie(8), kPlain));
  DAT_LMR_TRIPLET source = Local(0, 8);
  DAT_RMR_TRIPLET target = Remote(rmr_context_, 200, 8);
  EXPECT_DAT(dat_ep_post_rdma_write(active_, 1, &source, Cookie(5), &target, kPlain));
  EXPECT_DAT(dat_ep_post_send(active_, 1, &source, Cookie(6), kPlain));
  for (const uint64_t cookie : {5, 6, 7}) EXPECT_EQ(Completion(cookie).status, DAT_DTO_SUCCESS);
  EXPECT_DAT(dat_ep_post_send(active_, 1, &source, Cookie(9), DAT_COMPLETION_SUPPRESS_FLAG));
  EXPECT_EQ(Extensions(1)[DAT_EXT_RECV_NO_IMMED].user_cookie.as_64, 8u);
}

TEST_F(ExtensionTest, ARefusedWriteIsToldAsOne) {
  DAT_LMR_TRIPLET source = Local(0, 8);
  DAT_RMR_TRIPLET target = Remote(rmr_context_ ^ 0x5500, 96, 8);
  EXPECT_DAT(dat_ep_post_write_immed(active_, 1, &source, Cookie(4), &target, 0,
                                     DAT_EXT_WRITE_CONFIRM_FLAG, DAT_COMPLETION_SUPPRESS_FLAG));
  const auto events = Extensions(1, DAT_DTO_ERR_REMOTE_ACCESS);
  ASSERT_EQ(events.count(DAT_EXT_RDMA_WRITE_IMMED_STATUS), 1u);
  EXPECT_EQ(events.at(DAT_EXT_RDMA_WRITE_IMMED_STATUS).user_cookie.as_64, 4u);
  EXPECT_EQ(events.at(DAT_EXT_RDMA_WRITE_IMMED_STATUS).ep_handle, active_);
}

// covers: semantics 15.3
TEST_F(ExtensionTest, Atomics) {
  Word(0) = 40;
  DAT_LMR_TRIPLET old = Local(8, 16);
  DAT_RMR_TRIPLET word = Remote(OpenToAtomics(), 0, 8);
  EXPECT_DAT(dat_ep_post_fetch_and_add(active_, 2, &old, Cookie(1), &word, kPlain));
  const DAT_EXTENSION_DATA added = Extensions(1)[DAT_EXT_FETCH_AND_ADD_STATUS];
  EXPECT_EQ(added.user_cookie.as_64, 1u);
  EXPECT_EQ(added.ep_handle, active_);
  EXPECT_EQ(Word(0), 42u);
  EXPECT_EQ(Word(8), 40u);
  EXPECT_DAT(
      dat_ep_post_cmp_and_swap(active_, 42, uint64_t{1} << 40, &old, Cookie(2), &word, kPlain));
  EXPECT_EQ(Extensions(1)[DAT_EXT_CMP_AND_SWAP_STATUS].user_cookie.as_64, 2u);
  EXPECT_EQ(Word(0), uint64_t{1} << 40);
  EXPECT_EQ(Word(8), 42u);
  EXPECT_DAT(dat_ep_post_cmp_and_swap(active_, 42, 7, &old, Cookie(3), &word, kPlain));
  EXPECT_EQ(Extensions(1)[DAT_EXT_CMP_AND_SWAP_STATUS].user_cookie.as_64, 3u);
  EXPECT_EQ(Word(0), uint64_t{1} << 40) << "not equal, not stored";
}

TEST_F(ExtensionTest, AtomicsNeedEightBytesAtBothEnds) {
  const DAT_RMR_CONTEXT context = OpenToAtomics();
  for (const auto& [local, remote] : {std::pair{7, 8}, {8, 7}, {8, 4}, {8, 0}}) {
    DAT_LMR_TRIPLET old = Local(8, static_cast<DAT_VLEN>(local));
    DAT_RMR_TRIPLET word = Remote(context, 0, static_cast<DAT_VLEN>(remote));
    const DAT_RETURN refused = Failure(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
    EXPECT_EQ(dat_ep_post_fetch_and_add(active_, 2, &old, Cookie(1), &word, kPlain), refused)
        << local << ' ' << remote;
    EXPECT_EQ(dat_ep_post_cmp_and_swap(active_, 0, 2, &old, Cookie(1), &word, kPlain), refused)
        << local << ' ' << remote;
  }
  EXPECT_EQ(Word(0), 0u);
}

// Memory that the peer may read and write is not therefore open to its atomics.
TEST_F(ExtensionTest, AtomicsNeedTheirRight) {
  DAT_LMR_PARAM param;
  EXPECT_DAT(dat_lmr_query(lmr_, DAT_LMR_FIELD_MEM_PRIV, &param));
  EXPECT_EQ(param.mem_priv, DAT_MEM_PRIV_ALL_FLAG);
  Word(0) = 40;
  DAT_LMR_TRIPLET old = Local(8, 8);
  DAT_RMR_TRIPLET word = Remote(rmr_context_, 0, 8);
  EXPECT_DAT(dat_ep_post_fetch_and_add(active_, 2, &old, Cookie(1), &word, kPlain));
  EXPECT_EQ(Extensions(1, DAT_DTO_ERR_REMOTE_ACCESS).count(DAT_EXT_FETCH_AND_ADD_STATUS), 1u);
  EXPECT_EQ(Word(0), 40u);
}

// Services that the named attributes deny are refused, whatever their effect would be, and do no
// harm.
TEST_F(ExtensionTest, AbsentServicesAreNotImplemented) {
  DAT_LMR_TRIPLET local = Local(0, 8);
  DAT_RMR_TRIPLET target = Remote(rmr_context_, 96, 8);
  const DAT_DTO_COOKIE cookie = Cookie(1);
  EXPECT_EQ(dat_extension(active_, 77), kNotImplemented);
  if (Expected() != "all") {
    EXPECT_EQ(dat_ep_post_fetch_and_add(active_, 1, &local, cookie, &target, kPlain),
              kNotImplemented);
    EXPECT_EQ(dat_ep_post_cmp_and_swap(active_, 1, 2, &local, cookie, &target, kPlain),
              kNotImplemented);
  }
  if (Expected() == "none") {
    for (const int flags : {0, 1, 2, 3}) {
      EXPECT_EQ(dat_ep_post_write_immed(active_, 1, &local, cookie, &target, 0, flags, kPlain),
                kNotImplemented)
          << flags;
    }
    EXPECT_EQ(dat_ep_post_recv_immed(passive_, 1, &local, cookie, kPlain), kNotImplemented);
  }
  DAT_LMR_TRIPLET sink = Local(200, 8);
  EXPECT_DAT(dat_ep_post_recv(passive_, 1, &sink, Cookie(2), kPlain));
  EXPECT_DAT(dat_ep_post_send(active_, 1, &local, Cookie(3), kPlain));
  EXPECT_EQ(Completion(2).status, DAT_DTO_SUCCESS) << "the first receive that was posted";
  EXPECT_EQ(Completion(3).status, DAT_DTO_SUCCESS);
}

TEST_F(ExtensionTest, AtomicsThroughAWindow) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_rmr_create(pz_, &rmr));
  DAT_RMR_COOKIE cookie;
  cookie.as_64 = 77;
  OpenToAtomics();
  DAT_LMR_TRIPLET part = Local(0, 8);
  part.lmr_context = atomic_context_;
  DAT_RMR_CONTEXT context = 0;
  constexpr auto kBoth = static_cast<DAT_MEM_PRIV_FLAGS>(int{DAT_MEM_PRIV_REMOTE_READ_FLAG} |
                                                         int{DAT_MEM_PRIV_REMOTE_WRITE_FLAG} |
                                                         int{DAT_EXT_MEM_PRIV_REMOTE_ATOMIC});
  EXPECT_DAT(dat_rmr_bind(rmr, &part, kBoth, passive_, cookie, kPlain, &context));
  EXPECT_EQ(Next(DAT_RMR_BIND_COMPLETION_EVENT).event_data.rmr_completion_event_data.status,
            DAT_RMR_BIND_SUCCESS);
  DAT_RMR_PARAM param;
  EXPECT_DAT(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
  EXPECT_EQ(param.mem_priv, kBoth);
  Word(0) = 40;
  DAT_LMR_TRIPLET old = Local(8, 8);
  DAT_RMR_TRIPLET word = Remote(context, 0, 8);
  EXPECT_DAT(dat_ep_post_fetch_and_add(active_, 2, &old, Cookie(1), &word, kPlain));
  Extensions(1);
  EXPECT_EQ(Word(0), 42u);
  EXPECT_EQ(Word(8), 40u);
  EXPECT_DAT(dat_rmr_free(rmr));
}

TEST_F(ExtensionTest, WrongArguments) {
  DAT_LMR_TRIPLET source = Local(0, 8);
  DAT_RMR_TRIPLET target = Remote(rmr_context_, 96, 8);
  const DAT_DTO_COOKIE cookie = Cookie(1);
  EXPECT_EQ(dat_ep_post_write_immed(active_, 1, &source, cookie, &target, 0, 4, kPlain),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
  for (const int flags : {0, 1, 2, 3}) {
    for (const int unknown : {0x40, 0x80, 0x400}) {
      EXPECT_EQ(dat_ep_post_write_immed(active_, 1, &source, cookie, &target, 0, flags, unknown),
                Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8))
          << flags;
    }
    EXPECT_EQ(dat_ep_post_write_immed(active_, 1, &source, cookie, nullptr, 0, flags, kPlain),
              Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5))
        << flags;
  }
  EXPECT_EQ(dat_ep_post_fetch_and_add(active_, 1, nullptr, cookie, &target, kPlain),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_EQ(dat_ep_post_cmp_and_swap(active_, 1, 2, &source, cookie, nullptr, kPlain),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  target.target_address += 1;
  EXPECT_EQ(dat_ep_post_fetch_and_add(active_, 1, &source, cookie, &target, kPlain),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
  for (const DAT_HANDLE handle : {DAT_HANDLE{DAT_HANDLE_NULL}, pz_, ia_}) {
    EXPECT_EQ(dat_ep_post_recv_immed(handle, 1, &source, cookie, kPlain),
              Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
    EXPECT_EQ(dat_ep_post_write_immed(handle, 1, &source, cookie, &target, 0, 1, kPlain),
              Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  }
}

// Events of failed operations have their EP, cookie, status and kind.
TEST_F(ExtensionTest, FlushedAtTheEnd) {
  DAT_LMR_TRIPLET local = Local(8, 8);
  DAT_RMR_TRIPLET word = Remote(rmr_context_, 0, 8);
  EXPECT_DAT(dat_ep_post_recv_immed(passive_, 1, &local, Cookie(1), kPlain));
  Part();
  const auto expect = [this](DAT_EXT_EVENT_TYPE type, uint64_t cookie, DAT_EP_HANDLE ep) {
    const auto events = Extensions(1, DAT_DTO_ERR_FLUSHED);
    ASSERT_EQ(events.count(type), 1u) << cookie;
    EXPECT_EQ(events.at(type).user_cookie.as_64, cookie);
    EXPECT_EQ(events.at(type).ep_handle, ep);
  };
  expect(DAT_EXT_RECV_NO_IMMED, 1, passive_);
  EXPECT_DAT(dat_ep_post_recv_immed(passive_, 1, &local, Cookie(2), kPlain));
  expect(DAT_EXT_RECV_NO_IMMED, 2, passive_);
  for (const int flags : {0, 1, 2, 3}) {
    EXPECT_DAT(dat_ep_post_write_immed(active_, 1, &local, Cookie(3), &word, 0, flags, kPlain));
    expect(DAT_EXT_RDMA_WRITE_IMMED_STATUS, 3, active_);
  }
}

TEST_F(ExtensionTest, AtomicsAreFlushedAtTheEnd) {
  Part();
  DAT_LMR_TRIPLET old = Local(8, 8);
  DAT_RMR_TRIPLET word = Remote(rmr_context_, 0, 8);
  EXPECT_DAT(dat_ep_post_cmp_and_swap(active_, 1, 2, &old, Cookie(3), &word, kPlain));
  const DAT_EXTENSION_DATA data = Next(DAT_EXTENSION_EVENT).event_data.extension_data;
  EXPECT_EQ(data.status, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(data.type, DAT_EXT_CMP_AND_SWAP_STATUS);
  EXPECT_EQ(data.user_cookie.as_64, 3u);
  EXPECT_EQ(data.ep_handle, active_);
}

}  // namespace
}  // namespace softdat::bridge_test
