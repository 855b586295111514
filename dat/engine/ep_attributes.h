// SPDX-License-Identifier: BSD-3-Clause
// Endpoint attributes: the defaults, and the attributes that a request is granted (semantics 8.1).
#ifndef SOFTDAT_DAT_ENGINE_EP_ATTRIBUTES_H_
#define SOFTDAT_DAT_ENGINE_EP_ATTRIBUTES_H_

#include "dat/transport/transport.h"
#include "dat2/udat.h"

namespace softdat::engine {

// The attributes of an EP that is created without attributes.
DAT_EP_ATTR DefaultEpAttributes(const transport::AdapterAttributes& limits);

// Turns the requested attributes into those that the EP will have and report. Or it returns
// INVALID_PARAMETER for argument `argument` (MODEL_NOT_SUPPORTED for a service or quality that does
// not exist here). `uses_srq`: receives come from an SRQ, so max_recv_iov is ignored.
DAT_RETURN GrantEpAttributes(const transport::AdapterAttributes& limits, bool uses_srq,
                             int argument, DAT_EP_ATTR* attr);

// Copies the attributes that `mask` names.
void CopyEpAttributes(DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR& from, DAT_EP_ATTR* to);

// The number of RDMA reads that the back end prepares for. A consumer who asked for none gets the
// default, because programs pass zeroed attributes and read all the same (semantics 8.1).
uint32_t GrantedReads(DAT_COUNT asked, uint32_t limit);

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EP_ATTRIBUTES_H_
