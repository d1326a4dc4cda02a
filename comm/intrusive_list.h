#pragma once

namespace shoal::comm {

/// A place in an `IntrusiveList`: links itself out when destroyed, so that whoever waits on a list
/// may vanish at any moment. Neither copied nor moved.
class ListNode {
 public:
  ListNode() = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;
  ~ListNode() { unlink(); }

  [[nodiscard]] bool linked() const { return next_ != this; }
  void unlink() {
    previous_->next_ = next_;
    next_->previous_ = previous_;
    previous_ = this;
    next_ = this;
  }

 private:
  template <typename T>
  friend class IntrusiveList;
  ListNode* previous_ = this;
  ListNode* next_ = this;
};

/// First in, first out; owns nothing and allocates nothing. `T` derives from ListNode. Nodes that
/// are still linked when the list is destroyed are left unlinked.
template <typename T>
class IntrusiveList {
 public:
  IntrusiveList() = default;
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;
  ~IntrusiveList() {
    while (pop_front() != nullptr) {
    }
  }

  [[nodiscard]] bool empty() const { return !head_.linked(); }
  /// Appends a node, taking it off the list it was on.
  void push_back(ListNode& node) {
    node.unlink();
    node.previous_ = head_.previous_;
    node.next_ = &head_;
    head_.previous_->next_ = &node;
    head_.previous_ = &node;
  }
  /// Takes the oldest node off; null when the list is empty.
  T* pop_front() {
    if (empty()) {
      return nullptr;
    }
    ListNode* const first = head_.next_;
    first->unlink();
    return static_cast<T*>(first);
  }
  /// Moves all nodes of `other` behind ours.
  void splice(IntrusiveList& other) {
    if (other.empty()) {
      return;
    }
    ListNode* const first = other.head_.next_;
    ListNode* const last = other.head_.previous_;
    other.head_.next_ = &other.head_;
    other.head_.previous_ = &other.head_;
    first->previous_ = head_.previous_;
    head_.previous_->next_ = first;
    last->next_ = &head_;
    head_.previous_ = last;
  }

 private:
  ListNode head_;
};

}  // namespace shoal::comm
