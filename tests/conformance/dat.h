// SPDX-License-Identifier: BSD-3-Clause
// The version of the API under test, and one spelling for what the two versions spell differently.
// The same cases run over uDAPL 2.0 and, with CONFORMANCE_UDAPL_12 defined, over 1.2. Cases that
// only 2.0 has are in files that 1.2 does not build, or behind `#if DAT_VERSION_MAJOR >= 2`.
#ifndef SOFTDAT_TESTS_CONFORMANCE_DAT_H_
#define SOFTDAT_TESTS_CONFORMANCE_DAT_H_

#ifdef CONFORMANCE_UDAPL_12
#include "dat/udat.h"
#else
#include "dat2/udat.h"
#endif

namespace softdat::conformance {

#if DAT_VERSION_MAJOR >= 2

using SegmentLength = DAT_SEG_LENGTH;

// The address where the peer's memory begins.
inline DAT_VADDR& AddressOf(DAT_RMR_TRIPLET& triplet) { return triplet.virtual_address; }

inline DAT_RETURN CreateLmr(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
                            DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS rights,
                            DAT_LMR_HANDLE* lmr, DAT_LMR_CONTEXT* lmr_context,
                            DAT_RMR_CONTEXT* rmr_context, DAT_VLEN* registered_size,
                            DAT_VADDR* registered_address) {
  return dat_lmr_create(ia, type, region, length, pz, rights, DAT_VA_TYPE_VA, lmr, lmr_context,
                        rmr_context, registered_size, registered_address);
}

inline DAT_RETURN BindRmr(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET* triplet,
                          DAT_MEM_PRIV_FLAGS rights, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
                          DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  return dat_rmr_bind(rmr, lmr, triplet, rights, DAT_VA_TYPE_VA, ep, cookie, flags, context);
}
// The number of the flags among the arguments of a bind.
inline constexpr int kFlagsOfBind = 8;

// Every call that creates a window.
inline constexpr DAT_RETURN (*kRmrCreators[])(DAT_PZ_HANDLE, DAT_RMR_HANDLE*) = {
    dat_rmr_create, dat_rmr_create_for_ep};

inline DAT_RETURN Reject(DAT_CR_HANDLE cr) { return dat_cr_reject(cr, 0, nullptr); }

// The agent of a CNO that has one.
inline DAT_OS_WAIT_PROXY_AGENT AgentOf(const DAT_CNO_PARAM& param) {
  return param.proxy_type == DAT_PROXY_TYPE_AGENT ? param.proxy.agent : DAT_OS_WAIT_PROXY_AGENT{};
}

#else

using SegmentLength = DAT_VLEN;

inline DAT_VADDR& AddressOf(DAT_RMR_TRIPLET& triplet) { return triplet.target_address; }

inline DAT_RETURN CreateLmr(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
                            DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS rights,
                            DAT_LMR_HANDLE* lmr, DAT_LMR_CONTEXT* lmr_context,
                            DAT_RMR_CONTEXT* rmr_context, DAT_VLEN* registered_size,
                            DAT_VADDR* registered_address) {
  return dat_lmr_create(ia, type, region, length, pz, rights, lmr, lmr_context, rmr_context,
                        registered_size, registered_address);
}

// The context in the triplet says which region is meant.
inline DAT_RETURN BindRmr(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE, const DAT_LMR_TRIPLET* triplet,
                          DAT_MEM_PRIV_FLAGS rights, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
                          DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  return dat_rmr_bind(rmr, triplet, rights, ep, cookie, flags, context);
}
inline constexpr int kFlagsOfBind = 6;

inline constexpr DAT_RETURN (*kRmrCreators[])(DAT_PZ_HANDLE, DAT_RMR_HANDLE*) = {dat_rmr_create};

inline DAT_RETURN Reject(DAT_CR_HANDLE cr) { return dat_cr_reject(cr); }

inline DAT_OS_WAIT_PROXY_AGENT AgentOf(const DAT_CNO_PARAM& param) { return param.agent; }

#endif

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_DAT_H_
