// SPDX-License-Identifier: BSD-3-Clause
// The addresses of the null device, and its ways to others.
#include <errno.h>
#include <infiniband/verbs.h>

#include <cstring>
#include <mutex>

#include "tests/nulldevice/null_verbs.h"

namespace {

std::mutex g_mutex;  // protects the next two
size_t g_ways = 0;
ibv_ah_attr g_last_way{};

}  // namespace

namespace softdat::nulldevice {

size_t NullWays() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  return g_ways;
}

ibv_ah_attr LastNullWay() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  return g_last_way;
}

}  // namespace softdat::nulldevice

extern "C" {

// 127.0.0.1, first for RoCE v1.
int _ibv_query_gid_ex(ibv_context*, uint32_t, uint32_t index, ibv_gid_entry* entry, uint32_t,
                      size_t) {
  if (index > 1) return ENODATA;
  *entry = ibv_gid_entry{};
  constexpr uint8_t kGid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  std::memcpy(entry->gid.raw, kGid, sizeof kGid);
  entry->gid_index = index;
  entry->port_num = 1;
  entry->gid_type = index == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
  return 0;
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  auto* ah = new ibv_ah{};
  ah->context = pd->context;
  ah->pd = pd;
  const std::lock_guard<std::mutex> lock(g_mutex);
  ++g_ways;
  g_last_way = *attr;
  return ah;
}
int ibv_destroy_ah(ibv_ah* ah) {
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    --g_ways;
  }
  delete ah;
  return 0;
}

}  // extern "C"
