#include "comm/codec_choice.h"

#include <algorithm>
#include <limits>

#include "ops/base/check.h"

namespace shoal::comm {
namespace {

constexpr double kWorthTaking = 0.02;  // of a round
constexpr double kWorthKeeping = 0.01;
constexpr double kClearlyBetter = 0.98;

double transfer_s(const CodecOffer& offer, const Outgoing& out) {
  return out.rate > 0 ? static_cast<double>(out.elements) * offer.cost.bytes / out.rate : 0;
}

double compute_s(const CodecOffer& offer, const Outgoing& out) {
  return static_cast<double>(out.elements) *
         (offer.cost.encode_s + out.decodes * offer.cost.decode_s);
}

}  // namespace

CodecChoice::CodecChoice(std::shared_ptr<const compress::Codec> only)
    : offers_(std::make_shared<const std::vector<CodecOffer>>(
          std::vector<CodecOffer>{{compress::codec_name(only->properties().wire_id), only,
                                   compress::nominal_cost(*only)}})) {}

CodecChoice::CodecChoice(std::vector<CodecOffer> offers)
    : offers_(std::make_shared<const std::vector<CodecOffer>>(std::move(offers))) {
  SHOAL_CHECK(!offers_->empty(), "there is something to choose from");
}

bool CodecChoice::lossless() const {
  return std::all_of(offers_->begin(), offers_->end(),
                     [](const CodecOffer& o) { return o.codec->properties().lossless; });
}

double CodecChoice::seconds_of(std::span<const Outgoing> encodings,
                               std::span<const std::size_t> offers) const {
  double compute = 0;
  double transfer = 0;
  for (std::size_t i = 0; i < encodings.size(); ++i) {
    const CodecOffer& offer = offers_->at(offers[i]);
    compute += compute_s(offer, encodings[i]);
    transfer = std::max(transfer, transfer_s(offer, encodings[i]));
  }
  return compute + transfer;
}

double CodecChoice::first_s(std::span<const Outgoing> encodings) const {
  return seconds_of(encodings, std::vector<std::size_t>(encodings.size(), 0));
}

Picked CodecChoice::pick(std::span<const Outgoing> encodings, const Picked& before,
                         double round_s) const {
  Picked best{std::vector<std::size_t>(encodings.size(), 0), 0};
  best.seconds = seconds_of(encodings, best.offers);
  const Picked first = best;
  if (fixed() || round_s == 0) {
    return first;
  }
  // The longest transfer of the optimum is one of these; given it, each encoding takes the offer
  // that costs least computing among those that are as short.
  std::vector<double> limits;
  for (const Outgoing& out : encodings) {
    for (const CodecOffer& offer : *offers_) {
      limits.push_back(transfer_s(offer, out));
    }
  }
  for (const double limit : limits) {
    std::vector<std::size_t> offers;
    for (const Outgoing& out : encodings) {
      double least = std::numeric_limits<double>::infinity();
      std::size_t taken = offers_->size();
      for (std::size_t o = 0; o < offers_->size(); ++o) {
        const double cost = compute_s(offers_->at(o), out);
        if (transfer_s(offers_->at(o), out) <= limit && cost < least) {
          least = cost;
          taken = o;
        }
      }
      if (taken < offers_->size()) {
        offers.push_back(taken);
      }
    }
    if (offers.size() < encodings.size()) {
      continue;
    }
    if (const double s = seconds_of(encodings, offers); s < best.seconds) {
      best = {std::move(offers), s};
    }
  }
  if (before.offers.size() == encodings.size() && before.offers != first.offers) {
    const double kept = seconds_of(encodings, before.offers);
    if (first.seconds - kept > kWorthKeeping * round_s && best.seconds > kClearlyBetter * kept) {
      return {before.offers, kept};
    }
  }
  return first.seconds - best.seconds > kWorthTaking * round_s ? best : first;
}

}  // namespace shoal::comm
