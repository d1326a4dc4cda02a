#include "node/run/report.h"

#include <cstdio>

#include "node/files.h"
#include "node/units.h"

namespace shoal::node {

Result<int> conclude(const RunSummary& run, const RunFolder& folder, const Cli& cli) {
  SHOAL_TRY(write_file(folder.summary(), run.json()));
  if (cli.json) {
    std::fputs(run.json().c_str(), stdout);
  }
  const Log log = cli.log();
  const PeerSummary* best = run.speaker();
  if (run.status == "failed" || best == nullptr) {
    log.error(run.error);
    return run.exit_code();
  }
  if (best->rounds == 0) {
    log.info(run.status + ": " + best->error);
    return run.exit_code();
  }
  char text[192];
  std::snprintf(text, sizeof text,
                "%s: round %llu, test accuracy %.4f, test loss %.4f, %.1f s, parameters %.16s",
                run.status.c_str(), static_cast<unsigned long long>(best->rounds),
                best->test_accuracy, best->test_loss, run.wall_s, best->parameter_hash.c_str());
  log.info(text);
  log.info("each peer sent about " + bytes_text(static_cast<double>(best->bytes_sent)) +
           " and received " + bytes_text(static_cast<double>(best->bytes_received)) +
           "; summary: " + folder.summary().string());
  return run.exit_code();
}

}  // namespace shoal::node
