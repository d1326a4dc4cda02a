#include "ops/base/result.h"

namespace shoal {

int exit_code(Code code) noexcept {
  switch (code) {
    case Code::kCancelled:
      return 0;
    case Code::kConfig:
      return 2;
    case Code::kData:
      return 3;
    case Code::kNetwork:
    case Code::kBadFrame:
      return 4;
    case Code::kDevice:
      return 5;
    case Code::kInternal:
      return 1;
  }
  return 1;
}

const char* code_name(Code code) noexcept {
  switch (code) {
    case Code::kCancelled:
      return "cancelled";
    case Code::kConfig:
      return "config";
    case Code::kData:
      return "data";
    case Code::kNetwork:
      return "network";
    case Code::kBadFrame:
      return "bad-frame";
    case Code::kDevice:
      return "device";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace shoal
