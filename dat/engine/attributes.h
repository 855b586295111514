// SPDX-License-Identifier: BSD-3-Clause
// What dat_ia_query reports, derived from the back end's attributes (semantics 12).
#ifndef SOFTDAT_DAT_ENGINE_ATTRIBUTES_H_
#define SOFTDAT_DAT_ENGINE_ATTRIBUTES_H_

#include <deque>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "dat2/udat.h"

namespace softdat::engine {

// The named provider attributes: name and value strings that live as long as their IA.
class SpecificAttributes {
 public:
  void Fill(const std::string& ia_name, const transport::AdapterAttributes& a);
  DAT_COUNT count() const { return static_cast<DAT_COUNT>(attributes_.size()); }
  DAT_NAMED_ATTR* data() { return attributes_.data(); }

 private:
  void Add(const char* name, const std::string& value);

  std::deque<std::string> strings_;  // stable addresses
  std::vector<DAT_NAMED_ATTR> attributes_;
};

// Fills in the part of DAT_IA_ATTR that depends only on the back end. The caller adds the address.
void FillIaAttributes(const transport::AdapterAttributes& a, DAT_IA_ATTR* attr);
// Fills in the part of DAT_PROVIDER_ATTR that does not depend on the registration.
void FillProviderAttributes(const transport::AdapterAttributes& a, DAT_PROVIDER_ATTR* attr);

// Copies a name into one of DAT's fixed arrays. It is cut if it is too long, and always terminated.
void CopyName(const std::string& name, char (&out)[DAT_NAME_MAX_LENGTH]);

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_ATTRIBUTES_H_
