#include <algorithm>
#include <cstdio>
#include <limits>

#include "comm/round/engine.h"

namespace shoal::comm {
namespace {

constexpr Duration kSayAgain = std::chrono::seconds(10);

std::string sentence(std::uint64_t round, const std::string& what, const CodecChoice& choice,
                     const Picked& picked, double first_s) {
  std::map<std::string, std::size_t> links;
  for (const std::size_t offer : picked.offers) {
    ++links[choice.offers()[offer].name];
  }
  std::string names;
  for (const auto& [name, count] : links) {
    names += (names.empty() ? "" : ", ") + name;
    if (links.size() > 1) {
      names += " on " + std::to_string(count) + " links";
    }
  }
  char times[96];
  std::snprintf(times, sizeof times, ": %.3g s predicted, %.3g s with %s alone", picked.seconds,
                first_s, choice.offers().front().name.c_str());
  return "from round " + std::to_string(round) + " on " + what + " as " + names + times;
}

std::string outcome(double predicted_s, double achieved_s) {
  char text[96];
  std::snprintf(text, sizeof text, "; the last round took %.3g s, %.3g s of them predicted",
                achieved_s, predicted_s);
  return achieved_s > 0 ? text : "";
}

Duration of_elements(double each_s, std::uint64_t elements) {
  return from_seconds(each_s * static_cast<double>(elements));
}

}  // namespace

/// The most of the last rounds: TCP sees less than a link can carry when there is little to send.
/// Source: BBR's bottleneck bandwidth, Cardwell et al., ACM Queue 14(5), 2016.
double GroupMean::Engine::link_rate(std::size_t member) {
  const PeerId& peer = cur_.view.members[member].id.peer;
  auto& rates = link_rates_[peer];
  rates[cur_.round % rates.size()] = static_cast<double>(net_.rate_of(peer));
  return *std::max_element(rates.begin(), rates.end());
}

/// Whether people should hear of another pick: not at every wink of a link.
bool GroupMean::Engine::worth_saying(const Picked& picked, const Picked& before) {
  if (picked.offers == before.offers || loop_.now() < picks_said_ + kSayAgain) {
    return false;
  }
  picks_said_ = loop_.now();
  return true;
}

void GroupMean::Engine::pick_part_codecs(OwnContribution& own) {
  const CodecChoice& choice = *own.choice;
  own.codecs.assign(cur_.parts(), choice.first());
  std::vector<Outgoing> encodings;
  std::vector<std::size_t> parts;
  for (std::size_t p = 0; p < cur_.parts(); ++p) {
    const Range part = cur_.view.part(p);
    if (p != cur_.me && !part.empty() && !own.empty(part)) {
      encodings.push_back({part.size() * kGranule, choice.fixed() ? 0 : link_rate(p)});
      parts.push_back(p);
    }
  }
  const Picked picked = choice.pick(encodings, parts_picked_, achieved_s_);
  if (!choice.fixed()) {
    picked_round_ = cur_.round;
  }
  if (!choice.fixed() && worth_saying(picked, parts_picked_)) {
    log_.info(
        sentence(cur_.round, "contributions go out", choice, picked, choice.first_s(encodings)) +
        outcome(predicted_s_, achieved_s_));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const CodecOffer& offer = choice.offers()[picked.offers[i]];
    own.codecs[parts[i]] = offer.codec;
    ++stats_.encoded[offer.name];
  }
  parts_picked_ = picked;
}

/// An answer goes to all other members: the slowest link counts. Everybody decodes the answers of
/// all owners, and an owner its own once before.
std::shared_ptr<const compress::Codec> GroupMean::Engine::pick_answer_codec(std::size_t part) {
  Outgoing out{cur_.view.part(part).size() * kGranule, 0,
               static_cast<double>(cur_.view.size() + 1)};
  for (std::size_t i = 0; i < cur_.view.size() && !answer_codec_.fixed(); ++i) {
    const double rate = i == cur_.me ? 0 : link_rate(i);
    if (rate > 0 && (out.rate == 0 || rate < out.rate)) {
      out.rate = rate;
    }
  }
  const Picked picked = answer_codec_.pick({&out, 1}, answer_picked_, achieved_s_);
  answer_picked_ = picked;
  const CodecOffer& offer = answer_codec_.offers()[picked.offers.front()];
  ++stats_.encoded[offer.name];
  return offer.codec;
}

/// The mean of a round is here: what its codecs were predicted to take, and what it took.
void GroupMean::Engine::note_outcome(std::uint64_t round) {
  if (round != picked_round_) {
    return;
  }
  predicted_s_ = parts_picked_.seconds + answer_picked_.seconds;
  achieved_s_ = seconds(loop_.now() - contributed_at_);
  stats_.predicted_s += predicted_s_;
  stats_.achieved_s += achieved_s_;
}

Duration GroupMean::Engine::encode_cost(const OwnContribution& own) const {
  Duration cost{0};
  for (std::size_t p = 0; p < cur_.parts(); ++p) {
    const double each_s = options_.codec_cost(*own.codecs[p]).encode_s;
    cost += of_elements(each_s, cur_.view.part(p).size() * kGranule);
  }
  return cost;
}

Duration GroupMean::Engine::decode_cost(const VectorOfAnswers& vector,
                                        const std::map<Hash256, StoredAnswer>& answers) const {
  Duration cost{0};
  for (const auto& hash : vector.answers) {
    const auto it = answers.find(hash);
    if (it == answers.end()) {
      continue;
    }
    const auto* codec = compress::codec_by_wire_id(it->second.answer.codec);
    if (codec != nullptr) {
      cost += of_elements(options_.codec_cost(*codec).decode_s,
                          it->second.answer.granules.size() * kGranule);
    }
  }
  return cost;
}

Duration GroupMean::Engine::reduce_cost(const ReduceTask& task) const {
  const std::uint64_t elements = task.granules.size() * kGranule;
  const auto answer = options_.codec_cost(*task.answer_codec);
  Duration cost = of_elements(answer.encode_s + answer.decode_s, elements);
  for (const auto& input : task.inputs) {
    if (const auto* codec = compress::codec_by_wire_id(input.codec)) {
      cost += of_elements(options_.codec_cost(*codec).decode_s, elements);
    }
  }
  return cost;
}

}  // namespace shoal::comm
