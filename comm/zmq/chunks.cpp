#include "comm/zmq/chunks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "comm/limits.h"
#include "ops/base/check.h"

namespace shoal::comm {

void SendQueue::push(Message message) {
  bytes_ += message.payload.size();
  messages_.push_back(std::move(message));
}

void SendQueue::clear() {
  messages_.clear();
  offset_ = 0;
  bytes_ = 0;
}

SendQueue::Piece SendQueue::peek(std::size_t chunk_bytes) const {
  SHOAL_CHECK(!empty() && chunk_bytes > 0, "a frame is cut from a message");
  const Message& message = messages_.front();
  const std::uint64_t left = message.payload.size() - offset_;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, chunk_bytes));
  return {encode_header(message, message.payload.size(), offset_),
          message.payload.slice(offset_, count), count == left};
}

void SendQueue::take(const Piece& piece) {
  offset_ += piece.chunk.size();
  bytes_ -= piece.chunk.size();
  if (piece.last) {
    messages_.pop_front();
    offset_ = 0;
  }
}

/// Grows by realloc, which moves large blocks by page tables rather than by copying them.
struct Reassembly::Buffer {
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data); }

  [[nodiscard]] bool append(ByteSpan chunk, std::uint64_t announced) {
    if (size + chunk.size() > capacity) {
      // A failed attempt drops the message, so the capacity may be raised first.
      capacity = std::min<std::uint64_t>(
          announced, std::max<std::uint64_t>(2 * capacity, 4 * limits::kChunkBytesMax));
      capacity = std::max(capacity, size + chunk.size());
      auto* grown = static_cast<std::byte*>(std::realloc(data, capacity));
      if (grown == nullptr) {
        return false;
      }
      data = grown;
    }
    std::memcpy(data + size, chunk.data(), chunk.size());
    size += chunk.size();
    return true;
  }

  std::byte* data = nullptr;
  std::uint64_t size = 0;
  std::uint64_t capacity = 0;
};

Result<std::optional<Message>> Reassembly::add(Frame frame) {
  const std::uint64_t arrived = buffer_ ? buffer_->size : 0;
  const std::size_t count = frame.message.payload.size();
  const bool fits = frame.chunk_offset == arrived && count <= frame.payload_bytes - arrived &&
                    (count > 0 || frame.payload_bytes == 0);
  const bool same = !buffer_ || (first_.header.sequence == frame.message.header.sequence &&
                                 first_.header.session == frame.message.header.session &&
                                 first_.body.index() == frame.message.body.index());
  if (frame.payload_bytes > payload_bytes_max_ || frame.payload_bytes < arrived || !fits || !same) {
    buffer_.reset();
    return bad_frame("bad-chunk: a chunk at " + std::to_string(frame.chunk_offset) + " of " +
                     std::to_string(frame.payload_bytes) + " bytes came where " +
                     std::to_string(arrived) + " had arrived");
  }
  if (!buffer_ && count == frame.payload_bytes) {
    return std::optional(std::move(frame.message));
  }
  if (!buffer_) {
    buffer_ = std::make_shared<Buffer>();
    first_ = frame.message;
  }
  if (!buffer_->append(frame.message.payload.span(), frame.payload_bytes)) {
    buffer_.reset();
    return bad_frame("no-memory: none for a payload of " + std::to_string(frame.payload_bytes) +
                     " bytes");
  }
  if (buffer_->size < frame.payload_bytes) {
    return std::optional<Message>();
  }
  const auto whole = std::exchange(buffer_, nullptr);
  first_.payload = Bytes(whole, {whole->data, whole->size});
  return std::optional(std::exchange(first_, Message()));
}

}  // namespace shoal::comm
