// SPDX-License-Identifier: BSD-3-Clause
// What a program of uDAPL 1.2 gets to see: attributes, return words of failures, handles, agents.
#include <atomic>

#include "tests/bridge/pair.h"

namespace softdat::bridge_test {
namespace {

using WordsTest = OpenIa;

// The 2.0 handle of the same object, which is not a handle in 1.2.
DAT_HANDLE Foreign(DAT_HANDLE handle) { return static_cast<char*>(handle) - 4; }

TEST_F(WordsTest, Attributes) {
  DAT_IA_ATTR ia;
  DAT_PROVIDER_ATTR provider{};
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_ia_query(ia_, &async, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider));
  EXPECT_EQ(async, async_);
  EXPECT_EQ(std::string(provider.provider_name), IaName());
  EXPECT_EQ(provider.dapl_version_major, 1u);
  EXPECT_EQ(provider.dapl_version_minor, 2u);
  EXPECT_GT(ia.max_message_size, 0u);
  EXPECT_GT(ia.max_eps, 0);
  ASSERT_NE(ia.ia_address_ptr, nullptr);
  EXPECT_EQ(dat_ia_query(ia_, nullptr, DAT_IA_FIELD_ALL + 1, &ia, 0, nullptr),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(WordsTest, EndPointsAreAskedAndChanged) {
  const DAT_EVD_HANDLE evd = MakeEvd();
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_ep_create(ia_, pz_, evd, evd, DAT_HANDLE_NULL, nullptr, &ep));
  DAT_EP_PARAM param;
  EXPECT_DAT(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(param.ia_handle, ia_);
  EXPECT_EQ(param.pz_handle, pz_);
  EXPECT_EQ(param.recv_evd_handle, evd);
  EXPECT_EQ(param.connect_evd_handle, DAT_HANDLE_NULL);
  EXPECT_EQ(param.ep_state, DAT_EP_STATE_UNCONNECTED);
  param.connect_evd_handle = evd;
  EXPECT_DAT(dat_ep_modify(ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &param));
  EXPECT_DAT(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(param.connect_evd_handle, evd);
  EXPECT_EQ(dat_ep_query(ep, 0x800, &param), Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_DAT(dat_ep_free(ep));
  EXPECT_EQ(dat_ep_free(ep), Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
}

TEST_F(WordsTest, TheContextIsTheConsumers) {
  DAT_CONTEXT context;
  for (const DAT_HANDLE handle : {ia_, pz_, async_}) {
    context.as_64 = 0x123456789abcdef0;
    EXPECT_DAT(dat_set_consumer_context(handle, context));
    context.as_64 = 0;
    EXPECT_DAT(dat_get_consumer_context(handle, &context));
    EXPECT_EQ(context.as_64, 0x123456789abcdef0u);
  }
  DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_CR;
  EXPECT_DAT(dat_get_handle_type(pz_, &type));
  EXPECT_EQ(type, DAT_HANDLE_TYPE_PZ);
  EXPECT_DAT(dat_get_handle_type(ia_, &type));
  EXPECT_EQ(type, DAT_HANDLE_TYPE_IA);
}

TEST_F(WordsTest, HandlesOf2AreNotTaken) {
  const DAT_EVD_HANDLE evd = MakeEvd();
  DAT_EVENT event;
  EXPECT_EQ(dat_pz_free(Foreign(pz_)), Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  EXPECT_EQ(DAT_GET_TYPE(dat_evd_dequeue(Foreign(evd), &event)), uint32_t{DAT_INVALID_HANDLE});
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_EQ(dat_ep_create(ia_, Foreign(pz_), evd, evd, evd, nullptr, &ep),
            Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  DAT_HANDLE_TYPE type;
  EXPECT_EQ(DAT_GET_TYPE(dat_get_handle_type(Foreign(evd), &type)), uint32_t{DAT_INVALID_HANDLE});
  const auto ia_of_2 = reinterpret_cast<DAT_IA_HANDLE>(reinterpret_cast<uintptr_t>(ia_) - 4096);
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  EXPECT_EQ(dat_pz_create(ia_of_2, &pz), Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
}

// Junk in place of a call's object, whatever it is.
TEST_F(WordsTest, JunkForHandles) {
  DAT_EVENT event;
  for (const uintptr_t value :
       {0, 1, 4, 8, 4095, 4096, 4097, 4100, 8191, 8192, 8193, 8196, 12290}) {
    const auto junk = reinterpret_cast<DAT_HANDLE>(value);
    EXPECT_EQ(dat_pz_free(junk), Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ)) << value;
    EXPECT_EQ(DAT_GET_TYPE(dat_evd_dequeue(junk, &event)), uint32_t{DAT_INVALID_HANDLE}) << value;
    EXPECT_EQ(dat_ep_post_send(junk, 0, nullptr, {}, DAT_COMPLETION_DEFAULT_FLAG),
              Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP))
        << value;
  }
  EXPECT_EQ(dat_pz_free(ia_), Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
}

// Arguments are counted as in 1.2, where the type of addresses is not among them.
// covers: semantics 7.2, 18
TEST_F(WordsTest, ArgumentsOfRegions) {
  DAT_REGION_DESCRIPTION region;
  region.for_va = this;
  DAT_VLEN size = 0;
  DAT_VADDR address = 0;
  DAT_LMR_CONTEXT context = 0;
  EXPECT_EQ(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, 8, pz_, DAT_MEM_PRIV_ALL_FLAG,
                           nullptr, &context, nullptr, &size, &address),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
}

// Another implementation's 1.2 has a privilege that means nothing here.
TEST_F(WordsTest, PrivilegesOf12) {
  char memory[8];
  DAT_REGION_DESCRIPTION region;
  region.for_va = memory;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  const auto create = [&](int privileges) {
    return dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, sizeof(memory), pz_,
                          static_cast<DAT_MEM_PRIV_FLAGS>(privileges), &lmr, nullptr, nullptr,
                          nullptr, nullptr);
  };
  EXPECT_EQ(create(DAT_MEM_PRIV_ALL_FLAG | 0x80), Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  EXPECT_DAT(create(DAT_MEM_PRIV_ALL_FLAG | 0x100));
  DAT_LMR_PARAM param;
  EXPECT_DAT(dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &param));
  EXPECT_EQ(param.mem_priv, DAT_MEM_PRIV_ALL_FLAG);
  EXPECT_DAT(dat_lmr_free(lmr));
}

TEST_F(WordsTest, AnEmptyQueueAndTimeouts) {
  const DAT_EVD_HANDLE evd = MakeEvd();
  DAT_EVENT event;
  DAT_COUNT more = 0;
  EXPECT_EQ(DAT_GET_TYPE(dat_evd_dequeue(evd, &event)), uint32_t{DAT_QUEUE_EMPTY});
  EXPECT_EQ(DAT_GET_TYPE(dat_evd_wait(evd, 0, 1, &event, &more)), uint32_t{DAT_TIMEOUT_EXPIRED});
  EXPECT_EQ(dat_evd_wait(evd, 0, 1, nullptr, &more),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
}

struct AgentCalls {
  std::atomic<int> calls{0};
  std::atomic<DAT_EVD_HANDLE> evd{DAT_HANDLE_NULL};
};

void CountCall(DAT_PVOID data, DAT_EVD_HANDLE evd) {
  auto* calls = static_cast<AgentCalls*>(data);
  calls->evd = evd;
  ++calls->calls;
}

TEST_F(WordsTest, AgentsAreCalledWithHandlesOf12) {
  AgentCalls calls;
  const DAT_OS_WAIT_PROXY_AGENT agent = {&calls, &CountCall};
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  EXPECT_DAT(dat_cno_create(ia_, agent, &cno));
  DAT_CNO_PARAM param;
  EXPECT_DAT(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
  EXPECT_EQ(param.ia_handle, ia_);
  EXPECT_EQ(param.agent.instance_data, &calls);
  EXPECT_EQ(param.agent.proxy_agent_func, &CountCall);
  const DAT_EVD_HANDLE evd = MakeEvd(cno, DAT_EVD_SOFTWARE_FLAG);
  DAT_EVENT event;
  std::memset(&event, 0, sizeof(event));
  event.event_number = DAT_SOFTWARE_EVENT;
  event.event_data.software_event_data.pointer = &event;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_DAT(dat_evd_post_se(evd, &event));
    EXPECT_EQ(calls.calls, i);
    EXPECT_EQ(calls.evd, evd);
    DAT_EVENT taken;
    EXPECT_DAT(dat_evd_dequeue(evd, &taken));
    EXPECT_EQ(taken.event_data.software_event_data.pointer, &event);
    EXPECT_DAT(dat_cno_modify_agent(cno, agent));  // a trigger removes it
  }
  // A wait for something that is not a CNO writes nothing.
  DAT_EVD_HANDLE untouched = evd;
  EXPECT_EQ(DAT_GET_TYPE(dat_cno_wait(Foreign(cno), 0, &untouched)), uint32_t{DAT_INVALID_HANDLE});
  EXPECT_EQ(untouched, evd);
  EXPECT_DAT(dat_evd_free(evd));
  EXPECT_DAT(dat_cno_free(cno));
  EXPECT_EQ(DAT_GET_TYPE(dat_cno_modify_agent(cno, agent)), uint32_t{DAT_INVALID_HANDLE});
}

TEST(Words, VersionsAndNames) {
  std::string name = IaName();
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  EXPECT_EQ(dat_ia_openv(name.data(), 8, &async, &ia, 2, 0, DAT_FALSE),
            Failure(DAT_PROVIDER_NOT_FOUND, DAT_MAJOR_NOT_FOUND));
  EXPECT_EQ(dat_ia_openv(name.data(), 8, &async, &ia, 1, 3, DAT_FALSE),
            Failure(DAT_PROVIDER_NOT_FOUND, DAT_MINOR_NOT_FOUND));
  char nobody[] = "softnet-nosuch0";
  EXPECT_EQ(dat_ia_open(nobody, 8, &async, &ia),
            Failure(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
  const char* major = nullptr;
  const char* minor = nullptr;
  EXPECT_DAT(dat_strerror(Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7), &major, &minor));
  EXPECT_STREQ(major, "DAT_INVALID_PARAMETER");
  EXPECT_STREQ(minor, "DAT_INVALID_ARG7");
  EXPECT_EQ(DAT_GET_TYPE(dat_strerror(Failure(DAT_INVALID_PARAMETER, 0x7f), &major, &minor)),
            uint32_t{DAT_INVALID_PARAMETER})
      << "no such subtype";
  EXPECT_STREQ(major, "DAT_INVALID_PARAMETER");

  // There is much room, because a host may have a dat.conf with dozens of lines.
  constexpr DAT_COUNT kRoom = 1024;
  std::vector<DAT_PROVIDER_INFO> infos(kRoom);
  std::vector<DAT_PROVIDER_INFO*> list;
  list.reserve(kRoom);
  for (DAT_PROVIDER_INFO& info : infos) list.push_back(&info);
  DAT_COUNT count = 0;
  EXPECT_DAT(dat_registry_list_providers(kRoom, &count, list.data()));
  bool found = false;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    EXPECT_EQ(infos[i].dapl_version_major, 1u);
    EXPECT_EQ(infos[i].dapl_version_minor, 2u);
    found = found || name == infos[i].ia_name;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace softdat::bridge_test
