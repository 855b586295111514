// SPDX-License-Identifier: BSD-3-Clause
// A query of 1.2 is a query of 2.0 whose answer is translated.
#ifndef SOFTDAT_DAT_BRIDGE_QUERY_H_
#define SOFTDAT_DAT_BRIDGE_QUERY_H_

#include "dat/bridge/handles.h"
#include "dat/bridge/params.h"
#include "dat/bridge/return_words.h"

namespace softdat::bridge {

// Runs `query` on the object behind `handle`. When there is no place for the answer, the provider
// says what is wrong.
template <typename Param2, typename Mask2, typename Param12>
dat12::DAT_RETURN Query(::DAT_RETURN (*query)(::DAT_HANDLE, Mask2, Param2*), Handle handle,
                        Mask2 mask, Param12* answer) {
  Param2 param{};
  const ::DAT_RETURN result = query(To2(handle), mask, answer != nullptr ? &param : nullptr);
  if (result == ::DAT_SUCCESS) To12(param, answer);
  return ReturnTo12(result);
}

// For masks whose bits are the same in both.
template <typename Param2, typename Mask2, typename Param12, typename Mask12>
dat12::DAT_RETURN QueryAsItIs(::DAT_RETURN (*query)(::DAT_HANDLE, Mask2, Param2*), Handle handle,
                              Mask12 mask, Param12* answer) {
  return Query(query, handle, static_cast<Mask2>(mask), answer);
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_QUERY_H_
