// SPDX-License-Identifier: BSD-3-Clause
// Forwarding of upcalls. The back end below reports to such a sink, which passes everything on to
// the sink above. A wrapper that looks at upcalls, or changes them, derives from the one of its
// kind.
#ifndef SOFTDAT_DAT_TRANSPORT_FORWARDING_SINKS_H_
#define SOFTDAT_DAT_TRANSPORT_FORWARDING_SINKS_H_

#include <memory>
#include <span>
#include <string>

#include "dat/transport/transport.h"

namespace softdat::transport {

// Knows the sink above.
template <typename Interface>
class ForwardingSink : public Interface {
 public:
  explicit ForwardingSink(Interface* above) : above_(above) {}
  // Only while no upcall can come. A queue pair is configured when it is idle or ended.
  void SetAbove(Interface* above) { above_ = above; }

 protected:
  Interface& above() { return *above_; }

 private:
  Interface* above_;
};

class ForwardingConnectionSink : public ForwardingSink<ConnectionSink> {
 public:
  using ForwardingSink::ForwardingSink;
  void OnEstablished(std::span<const uint8_t> private_data) override {
    above().OnEstablished(private_data);
  }
  void OnFailed(RejectReason reason, std::span<const uint8_t> private_data,
                const std::string& why) override {
    above().OnFailed(reason, private_data, why);
  }
  void OnEnded(EndReason reason, const std::string& why) override { above().OnEnded(reason, why); }
  void OnReceiveWatermark() override { above().OnReceiveWatermark(); }
};

class ForwardingCompletionSink : public ForwardingSink<CompletionSink> {
 public:
  using ForwardingSink::ForwardingSink;
  void OnCompletion() override { above().OnCompletion(); }
  void OnOverflow() override { above().OnOverflow(); }
};

class ForwardingSharedReceiveSink : public ForwardingSink<SharedReceiveSink> {
 public:
  using ForwardingSink::ForwardingSink;
  void OnLimit() override { above().OnLimit(); }
};

class ForwardingAdapterSink : public ForwardingSink<AdapterSink> {
 public:
  using ForwardingSink::ForwardingSink;
  void OnCatastrophic(const std::string& why) override { above().OnCatastrophic(why); }
};

class ForwardingAdapter;

// Requests go up wrapped, by the adapter that listens. If the sink above leaves a request in place,
// it is rejected below, because its wrapper is destroyed here.
class ForwardingListenerSink : public ForwardingSink<ListenerSink> {
 public:
  ForwardingListenerSink(ForwardingAdapter& adapter, ListenerSink* above)
      : ForwardingSink(above), adapter_(adapter) {}
  void OnRequest(std::unique_ptr<ConnectionRequest>& request) override;
  void OnRequestsHeld(const std::string& why) override { above().OnRequestsHeld(why); }

 private:
  ForwardingAdapter& adapter_;
};

}  // namespace softdat::transport

#endif  // SOFTDAT_DAT_TRANSPORT_FORWARDING_SINKS_H_
