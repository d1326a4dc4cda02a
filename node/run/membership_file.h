#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/run/run_folder.h"
#include "ops/base/result.h"

namespace shoal::node {

/// What `shoal invite` needs to know of a peer of this machine that lets others in. Holds no
/// secret: the key lies where `keys` says.
struct MembershipFile {
  std::uint64_t run = 0;
  std::string name;
  std::vector<std::string> addresses;
  std::string keys;  ///< folder of the identity
};

/// Errors: kData.
Status write_membership(const RunFolder& folder, const MembershipFile& file);
/// Errors: kData when the run takes no joiners from here.
Result<MembershipFile> read_membership(const RunFolder& folder);

}  // namespace shoal::node
