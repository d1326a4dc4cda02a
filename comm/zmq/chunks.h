#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "comm/wire/message.h"

namespace shoal::comm {

/// Messages of one class on their way to one peer, cut into frames in order.
class SendQueue {
 public:
  [[nodiscard]] bool empty() const { return messages_.empty(); }
  [[nodiscard]] std::size_t messages() const { return messages_.size(); }
  /// Payload that has not been taken.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  void push(Message message);
  void clear();

  struct Piece {
    Bytes header;
    Bytes chunk;
    bool last = false;  ///< of its message
  };
  /// The next frame, its chunk at most `chunk_bytes`; it stays until taken. Requires: not empty.
  [[nodiscard]] Piece peek(std::size_t chunk_bytes) const;
  void take(const Piece& piece);

 private:
  std::deque<Message> messages_;
  std::uint64_t offset_ = 0;  ///< taken of the first message
  std::uint64_t bytes_ = 0;
};

/// Puts the chunks of one connection together again. They come in order, one message after the
/// other; memory grows with what has arrived, never with what was announced.
class Reassembly {
 public:
  explicit Reassembly(std::uint64_t payload_bytes_max) : payload_bytes_max_(payload_bytes_max) {}

  /// The whole message when this was its last chunk. A message of one chunk costs no copy, others
  /// one.
  /// Errors: kBadFrame; what had arrived of a message is dropped with it.
  Result<std::optional<Message>> add(Frame frame);

 private:
  struct Buffer;
  std::uint64_t payload_bytes_max_;
  std::shared_ptr<Buffer> buffer_;  ///< of the message in arrival
  Message first_;                   ///< with its first chunk's header and body
};

}  // namespace shoal::comm
