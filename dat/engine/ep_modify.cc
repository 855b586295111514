// SPDX-License-Identifier: BSD-3-Clause
// Endpoint: dat_ep_modify, which changes everything or nothing (semantics 8.2).
#include <optional>
#include <utility>

#include "dat/engine/enum_value.h"
#include "dat/engine/ep.h"
#include "dat/engine/ep_attributes.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/srq.h"

namespace softdat::engine {
namespace {

// Facts about an EP that nobody can set.
constexpr DAT_EP_PARAM_MASK kFixed =
    DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_EP_STATE | DAT_EP_FIELD_COMM |
    DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR | DAT_EP_FIELD_LOCAL_PORT_QUAL |
    DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR | DAT_EP_FIELD_REMOTE_PORT_QUAL | DAT_EP_FIELD_SRQ_HANDLE;

bool MayModify(DAT_EP_STATE state, DAT_EP_PARAM_MASK mask) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      return true;
    case DAT_EP_STATE_RESERVED:
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      return (mask & DAT_EP_FIELD_PZ_HANDLE) == 0;
    default:
      return false;
  }
}

// An EVD that the mask names. NULL takes the old one away.
class NamedEvd {
 public:
  NamedEvd(DAT_EP_PARAM_MASK mask, DAT_EP_PARAM_MASK bit, DAT_EVD_HANDLE handle)
      : named_((mask & bit) != 0), null_(handle == DAT_HANDLE_NULL) {
    if (named_ && !null_) evd_.emplace(handle);
  }
  // The EVD of the mask, or else the present one.
  Evd* Or(Evd* now) const { return named_ ? get() : now; }
  // Whether the EVD is of the right kind. For DTO streams it must also belong to this IA, whose
  // adapter moves them.
  bool Fits(DAT_EVD_FLAGS stream, const IaCore* ia) const {
    if (!named_ || null_) return true;
    return get() != nullptr && get()->Accepts(stream) && (ia == nullptr || &get()->ia() == ia);
  }

 private:
  Evd* get() const { return evd_ ? evd_->get() : nullptr; }

  const bool named_;
  const bool null_;
  std::optional<Pinned<Evd>> evd_;
};

}  // namespace

// One call of dat_ep_modify.
struct Ep::Modification {
  Modification(DAT_EP_PARAM_MASK bits, const DAT_EP_PARAM& wanted)
      : mask(bits),
        param(wanted),
        pz(Names(DAT_EP_FIELD_PZ_HANDLE) ? wanted.pz_handle : DAT_HANDLE_NULL),
        recv(bits, DAT_EP_FIELD_RECV_EVD_HANDLE, wanted.recv_evd_handle),
        request(bits, DAT_EP_FIELD_REQUEST_EVD_HANDLE, wanted.request_evd_handle),
        connect(bits, DAT_EP_FIELD_CONNECT_EVD_HANDLE, wanted.connect_evd_handle) {}

  bool Names(DAT_EP_PARAM_MASK bits) const { return (mask & bits) != 0; }

  const DAT_EP_PARAM_MASK mask;
  const DAT_EP_PARAM& param;
  const Pinned<Pz> pz;
  const NamedEvd recv;
  const NamedEvd request;
  const NamedEvd connect;
  // The configuration that the EP will have. After FinishModification has exchanged the two, the
  // configuration that it had before.
  Configuration other;
  DAT_COUNT hard_watermark = DAT_WATERMARK_INFINITE;
};

DAT_RETURN Ep::Modify(DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM& param) {
  Modification m(mask, param);
  DAT_RETURN ret = CheckModification(m);
  if (ret == DAT_SUCCESS) ret = BeginModification(&m);
  if (ret != DAT_SUCCESS) return ret;
  const Status status = qp_->Configure(QueueAttributes(m.other));
  FinishModification(&m, status.ok());
  if (!status.ok()) return Fail(status, Subject::kEp);
  if (uses_srq() && m.Names(DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW) &&
      ia().attributes().receive_watermarks) {
    const DAT_COUNT soft = param.ep_attr.srq_soft_hw;
    return SetWatermarks(soft == 0 ? DAT_HW_DEFAULT : soft, m.hard_watermark);
  }
  return DAT_SUCCESS;
}

DAT_RETURN Ep::CheckModification(const Modification& m) {
  if (m.Names(DAT_EP_FIELD_PZ_HANDLE) && (!m.pz || &m.pz->ia() != &ia())) {
    return BadHandle(DAT_INVALID_HANDLE_PZ);
  }
  if (m.pz && srq_ != nullptr && m.pz.get() != srq_->pz()) {
    return BadArgument(3, "an EP and its SRQ must be in one protection zone");
  }
  if (!m.recv.Fits(DAT_EVD_DTO_FLAG, &ia())) return BadHandle(DAT_INVALID_HANDLE_EVD_RECV);
  if (!m.request.Fits(DAT_EVD_DTO_FLAG, &ia())) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  if (!m.connect.Fits(DAT_EVD_CONNECTION_FLAG, nullptr))
    return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
  if (m.Names(kFixed)) return BadArgument(3, "the mask names a parameter that cannot be modified");
  return DAT_SUCCESS;
}

DAT_RETURN Ep::BeginModification(Modification* m) {
  std::lock_guard<std::mutex> lock(mu_);
  if (!MayModify(state(), m->mask)) return WrongEpState(state());
  if (modifying_ || retired_) return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PROVIDERCONTROL);
  const DAT_RETURN ret = ModifiedConfiguration(*m, &m->other);
  if (ret != DAT_SUCCESS) return ret;
  modifying_ = true;
  // Both EVDs may hold completions of the receives from now on.
  Evd* const before = configuration_.recv.get();
  if (before != nullptr && before != m->other.recv.get()) before->ShareReceives(*received_);
  return DAT_SUCCESS;
}

DAT_RETURN Ep::ModifiedConfiguration(const Modification& m, Configuration* next) {
  next->attr = configuration_.attr;
  CopyEpAttributes(m.mask, m.param.ep_attr, &next->attr);
  const DAT_RETURN ret = GrantEpAttributes(ia().attributes(), uses_srq(), 3, &next->attr);
  if (ret != DAT_SUCCESS) return ret;
  if (RawValue(next->attr.service_type) != RawValue(configuration_.attr.service_type))
    return BadArgument(3, "the service type of an EP cannot be modified");
  next->pz = Use<Pz>(m.pz ? m.pz.get() : configuration_.pz.get());
  if (m.pz && !next->pz) return BadHandle(DAT_INVALID_HANDLE_PZ);
  Evd* const connect = m.connect.Or(configuration_.connect.get());
  next->connect = Use<Evd>(connect);
  if (connect != nullptr && !next->connect) return BadHandle(DAT_INVALID_HANDLE_EVD_CONN);
  Evd* const recv = m.recv.Or(configuration_.recv.get());
  if (!next->recv.AttachReceives(recv, next->attr.recv_completion_flags, handle(), received_))
    return BadHandle(DAT_INVALID_HANDLE_EVD_RECV);
  Evd* const request = m.request.Or(configuration_.request.get());
  if (!next->request.Attach(request, next->attr.request_completion_flags))
    return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  return DAT_SUCCESS;
}

void Ep::FinishModification(Modification* m, bool taken) {
  std::lock_guard<std::mutex> lock(mu_);
  modifying_ = false;
  if (!taken) return;
  // dat_ep_set_watermark may have been called meanwhile. Its value wins.
  if (!m->Names(DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW))
    m->other.attr.srq_soft_hw = configuration_.attr.srq_soft_hw;
  m->hard_watermark = hard_watermark_;
  std::swap(configuration_, m->other);
  PublishLimits();
}

}  // namespace softdat::engine
