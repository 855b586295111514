// SPDX-License-Identifier: BSD-3-Clause
// The extension interface of 2005 in a program of uDAPL 1.2.
#include <dat/dat_extensions.h>

#include <map>

#include "tests/bridge/pair.h"

namespace softdat::bridge_test {
namespace {

constexpr DAT_RETURN kNotImplemented = DAT_NOT_IMPLEMENTED;
constexpr DAT_COMPLETION_FLAGS kPlain = DAT_COMPLETION_DEFAULT_FLAG;

class ExtensionTest : public ConnectedPair {
 protected:
  // The next `count` extension events, by their kind.
  std::map<DAT_EXT_EVENT_TYPE, DAT_EXTENSION_DATA> Extensions(int count) {
    std::map<DAT_EXT_EVENT_TYPE, DAT_EXTENSION_DATA> events;
    for (int i = 0; i < count; ++i) {
      const DAT_EXTENSION_DATA data = Next(DAT_EXTENSION_EVENT).event_data.extension_data;
      EXPECT_EQ(data.status, DAT_DTO_SUCCESS);
      events[data.type] = data;
    }
    EXPECT_EQ(events.size(), static_cast<size_t>(count));
    return events;
  }
  uint64_t& Word(size_t offset) { return *reinterpret_cast<uint64_t*>(bytes_.data() + offset); }
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
  for (const char* name :
       {DAT_EXT_ATTR, DAT_EXT_ATTR_RDMA_WRITE_IMMED, DAT_EXT_ATTR_RECV_IMMED,
        DAT_EXT_ATTR_RECV_IMMED_EVENT, DAT_EXT_ATTR_FETCH_AND_ADD, DAT_EXT_ATTR_CMP_AND_SWAP}) {
    EXPECT_EQ(named[name], DAT_EXT_ATTR_TRUE) << name;
  }
  EXPECT_EQ(named[DAT_EXT_ATTR_RECV_IMMED_PAYLOAD], DAT_EXT_ATTR_FALSE);
}

TEST_F(ExtensionTest, AWriteWithImmediateData) {
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
    const DAT_EXTENSION_DATA& came = events[DAT_EXT_RECV_IMMED_DATA_EVENT];
    EXPECT_EQ(came.ep_handle, passive_);
    EXPECT_EQ(came.user_cookie.as_64, 8u);
    EXPECT_EQ(came.val.immed.data, 0x1234abcdu);
    EXPECT_EQ(came.transfered_length, 14u);
    EXPECT_STREQ(bytes_.data() + 100, "with a number");
    EXPECT_EQ(bytes_[3000], 0) << "the receive's own memory";
    std::memset(bytes_.data() + 100, 0, 14);
  }
}

// Nothing else tells that the data are there.
TEST_F(ExtensionTest, AConfirmedWriteIsThere) {
  DAT_LMR_TRIPLET source = Local(0, 14);
  DAT_RMR_TRIPLET target = Remote(rmr_context_, 100, 14);
  std::memcpy(bytes_.data(), "without number", 14);
  EXPECT_DAT(dat_ep_post_write_immed(active_, 1, &source, Cookie(9), &target, 0,
                                     DAT_EXT_WRITE_CONFIRM_FLAG, kPlain));
  EXPECT_EQ(Completion(9).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(std::memcmp(bytes_.data() + 100, "without number", 14), 0);
}

TEST_F(ExtensionTest, AMessageForAReceiveWithImmediateData) {
  DAT_LMR_TRIPLET sink = Local(100, 16);
  EXPECT_DAT(dat_ep_post_recv_immed(passive_, 1, &sink, Cookie(8), kPlain));
  DAT_LMR_TRIPLET source = Local(0, 5);
  EXPECT_DAT(dat_ep_post_send(active_, 1, &source, Cookie(9), kPlain));
  EXPECT_EQ(Completion(8).transfered_length, 5u);
  EXPECT_EQ(Completion(9).status, DAT_DTO_SUCCESS);
}

TEST_F(ExtensionTest, Atomics) {
  Word(0) = 40;
  DAT_LMR_TRIPLET old = Local(8, 8);
  DAT_RMR_TRIPLET word = Remote(rmr_context_, 0, 8);
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

TEST_F(ExtensionTest, AtomicsThroughAWindow) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_rmr_create(pz_, &rmr));
  DAT_RMR_COOKIE cookie;
  cookie.as_64 = 77;
  const DAT_LMR_TRIPLET part = Local(0, 8);
  DAT_RMR_CONTEXT context = 0;
  constexpr auto kBoth = static_cast<DAT_MEM_PRIV_FLAGS>(int{DAT_MEM_PRIV_REMOTE_READ_FLAG} |
                                                         int{DAT_MEM_PRIV_REMOTE_WRITE_FLAG});
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

// The privilege that atomics need in 2.0 does not show in 1.2.
TEST_F(ExtensionTest, PrivilegesAreTheConsumers) {
  DAT_LMR_PARAM param;
  EXPECT_DAT(dat_lmr_query(lmr_, DAT_LMR_FIELD_MEM_PRIV, &param));
  EXPECT_EQ(param.mem_priv, DAT_MEM_PRIV_ALL_FLAG);
}

TEST_F(ExtensionTest, WrongArguments) {
  DAT_LMR_TRIPLET source = Local(0, 8);
  DAT_RMR_TRIPLET target = Remote(rmr_context_, 96, 8);
  const DAT_DTO_COOKIE cookie = Cookie(1);
  EXPECT_EQ(dat_ep_post_write_immed(active_, 1, &source, cookie, &target, 0, 4, kPlain),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
  for (const int flags : {0, 1, 2, 3}) {
    for (const int unknown : {0x80, 0x400}) {
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
  EXPECT_EQ(dat_extension(active_, 77), kNotImplemented);
}

// Events of operations that failed have their EP, cookie, status and kind.
TEST_F(ExtensionTest, FlushedAtTheEnd) {
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
