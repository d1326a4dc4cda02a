#include "node/run/membership_file.h"

#include "node/files.h"
#include "node/json.h"

namespace shoal::node {
namespace {

std::filesystem::path path_of(const RunFolder& folder) { return folder.path() / "membership.json"; }

}  // namespace

Status write_membership(const RunFolder& folder, const MembershipFile& file) {
  const nlohmann::ordered_json json = {
      {"run", file.run}, {"name", file.name}, {"addresses", file.addresses}, {"keys", file.keys}};
  return write_file(path_of(folder), json.dump(2) + "\n");
}

Result<MembershipFile> read_membership(const RunFolder& folder) {
  const auto path = path_of(folder);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return data_error("no peer of the run in " + folder.path().string() +
                      " lets others in; start it with swarm.peers above the peers started here");
  }
  SHOAL_ASSIGN(const Bytes bytes, read_file(path));
  try {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    const auto json = nlohmann::ordered_json::parse(text, text + bytes.size());
    return MembershipFile{json.at("run"), json.at("name"),
                          json.at("addresses").get<std::vector<std::string>>(), json.at("keys")};
  } catch (const nlohmann::json::exception& e) {
    return data_error(path.string() + " is damaged: " + e.what());
  }
}

}  // namespace shoal::node
