#include "node/run/interrupt.h"

#include <signal.h>

namespace shoal::node {
namespace {

volatile sig_atomic_t g_interrupted = 0;

void remember(int /*signal*/) { g_interrupted = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // a child or a reader that went away is seen when writing
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace shoal::node
