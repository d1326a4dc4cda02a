#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/base/clock.h"

/// Every bound on what peers can make us hold, send or wait for. Nothing else in comm/ invents one.
namespace shoal::comm::limits {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr std::size_t kMembersMax = 256;              ///< members of one view
inline constexpr std::size_t kPeersMax = 1024;               ///< authenticated peers of one process
inline constexpr std::size_t kHeaderBytesMax = 256U << 10U;  ///< FlatBuffers header frame
inline constexpr std::size_t kChunkBytesMax = 256U << 10U;   ///< raw frame behind a header
inline constexpr std::uint64_t kPayloadBytesMax = 4ULL << 30U;  ///< whole payload, all chunks
inline constexpr std::size_t kControlQueueMax = 8192;  ///< control messages waiting, a peer
inline constexpr std::size_t kBulkQueueBytesMax = 256ULL << 20U;  ///< bulk bytes waiting, a peer
inline constexpr std::uint64_t kLoopbackWindow = 1ULL << 20U;     ///< bulk in flight on loopback
inline constexpr std::uint64_t kControlBytesMax = 16ULL << 20U;   ///< control with libzmq, a peer
inline constexpr std::size_t kFramesWaitingMax = 64;  ///< messages libzmq holds, a connection
inline constexpr std::uint64_t kUnreadBytesMax = 64ULL << 20U;  ///< received, no message yet
inline constexpr std::size_t kStrangersMax = 256;  ///< connections that have not said who they are
inline constexpr std::size_t kEarlyMax = 1024;     ///< messages before the first view
inline constexpr std::size_t kPastSessionsKept = 8;         ///< that are over for good, a peer
inline constexpr std::size_t kNameBytesMax = 128;           ///< names of peers, runs, parameters
inline constexpr std::size_t kReasonBytesMax = 512;         ///< sentences inside messages
inline constexpr std::size_t kAddressesMax = 16;            ///< addresses a peer announces
inline constexpr std::size_t kRunsMax = 1 << 14;            ///< granule runs in one message
inline constexpr std::uint64_t kGranulesMax = 1ULL << 31U;  ///< granules of a model
inline constexpr std::uint64_t kRoundMax = 1ULL << 48U;     ///< rounds of a run
inline constexpr std::uint64_t kRateMax = 1ULL << 48U;      ///< bytes/s a peer may claim
inline constexpr double kWeightMax = 1e15;                  ///< samples behind a granule
inline constexpr double kMemberWeightMax = kWeightMax / kMembersMax;  ///< of them one member's
inline constexpr double kSpeedMin = 1e-9;  ///< samples/s relative to the others
inline constexpr double kSpeedMax = 1e9;
inline constexpr std::size_t kScalarsMax = 64;        ///< numbers in a control answer
inline constexpr std::uint64_t kRoundsAhead = 2;      ///< rounds kept for later, past ours
inline constexpr std::uint64_t kRoundsKept = 2;       ///< committed answers kept for others
inline constexpr std::uint64_t kRecordsKept = 64;     ///< contributor records kept
inline constexpr std::size_t kLossesKept = 64;        ///< sentences about losses kept
inline constexpr std::uint64_t kFlushRounds = 8;      ///< at the end of a run, for who is late
inline constexpr std::uint32_t kBallotsMax = 10'000;  ///< highest counter of a ballot
inline constexpr std::size_t kBallotsBrought = 256;   ///< ballots of one round, a member
inline constexpr std::size_t kAheadMax = 32;          ///< messages of rounds to come, a member
inline constexpr std::uint64_t kElementBytesMax = 8;  ///< of one element, encoded
inline constexpr std::uint64_t kCodecStateBytesMax = 1ULL << 30U;  ///< of a codec, for a joiner

inline constexpr Duration kChunkTime = milliseconds(20);     ///< a chunk's share of its link
inline constexpr Duration kInFlightTime = milliseconds(50);  ///< bulk in flight on a link
inline constexpr Duration kHeartbeat = milliseconds(500);    ///< between heartbeats
inline constexpr Duration kSuspect = milliseconds(4000);     ///< silence after which a peer is dead
inline constexpr Duration kSuspectClosed = milliseconds(1000);  ///< same, its connection closed
inline constexpr Duration kHandshake = seconds(10);             ///< hello must follow a connection
inline constexpr Duration kLinkHeartbeat = seconds(2);        ///< of an idle connection, by libzmq
inline constexpr Duration kLinkTimeout = seconds(8);          ///< silence that ends a connection
inline constexpr Duration kDialMin = milliseconds(100);       ///< between attempts, doubling
inline constexpr Duration kDialMax = seconds(5);              ///< up to this
inline constexpr Duration kDialYield = milliseconds(250);     ///< the larger id dials later
inline constexpr Duration kLinger = seconds(2);               ///< unsent frames at exit
inline constexpr Duration kDeadlineMin = milliseconds(1500);  ///< learnt deadlines start above it
inline constexpr Duration kDeadlineMax = seconds(120);        ///< and never pass it
inline constexpr Duration kPatience = seconds(60);            ///< without a majority, then we leave

inline constexpr int kPenaltyBan = 100;        ///< points at which a peer's session is closed
inline constexpr int kPenaltyBadFrame = 10;    ///< points for a frame that decode() refused
inline constexpr int kPenaltyReplay = 1;       ///< points for a frame that was seen before
inline constexpr int kPenaltyDecay = 1;        ///< points forgiven with each heartbeat
inline constexpr Duration kBan = seconds(60);  ///< how long a banned key is refused

}  // namespace shoal::comm::limits
