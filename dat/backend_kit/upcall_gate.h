// SPDX-License-Identifier: BSD-3-Clause
// The contract's rule for destruction: "waits until no upcall to its sink is running (unless the
// caller is that upcall) and after it none will come". Every object with a sink has a gate. Every
// upcall goes through the gate, and the object's destructor closes it.
#ifndef SOFTDAT_DAT_BACKEND_KIT_UPCALL_GATE_H_
#define SOFTDAT_DAT_BACKEND_KIT_UPCALL_GATE_H_

#include <condition_variable>
#include <mutex>

namespace softdat {

class UpcallGate {
 public:
  // One upcall, for as long as the object lives. A thread that is cancelled inside the upcall ends
  // the pass, too.
  class Pass {
   public:
    explicit Pass(UpcallGate& gate);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    // False when the gate is closed: make no upcall.
    bool open() const { return open_; }

   private:
    friend class UpcallGate;
    UpcallGate& gate_;
    bool open_;
    Pass* outer_;  // the pass of this thread that encloses this one
  };

  // Waits for the upcalls of other threads. Passes made later are not open.
  void Close();

 private:
  std::mutex mutex_;  // protects the two members below
  std::condition_variable left_;
  unsigned running_ = 0;
  bool closed_ = false;
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BACKEND_KIT_UPCALL_GATE_H_
