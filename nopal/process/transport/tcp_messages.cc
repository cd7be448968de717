// SPDX-License-Identifier: MIT
// The side that asks.
#include "nopal/process/transport/tcp_messages.h"

#include "nopal/base/die.h"
#include "nopal/process/transport/requests.h"
#include "nopal/process/transport/steal_service.h"
#include "nopal/process/transport/tcp_answers.h"
#include "nopal/process/transport/tcp_places.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// The thread that runs tasks is the only user of all but `answers_`'s thread.
class tcp_messages final : public far_transport {
public:
  tcp_messages(group& all, const layout& memory, const hosts& chosen)
      : key_{agree_on_secret(all)}, rank_{all.rank()}, memory_{memory}, ways_(all.size()),
        begun_(all.size()), places_(all.size()),
        stolen_{std::make_unique_for_overwrite<std::uint64_t[]>(in_words(most_stolen(memory)))} {
    listening own = listen_for_others(all, chosen);
    all.all_gather(&own.place, places_.data(), sizeof own.place);
    answers_.emplace(std::move(own.sockets), key_, rank_, all.size(), memory);
  }
  ~tcp_messages() override {
    answers_.reset();
    for (const tcp_way& each : ways_)
      if (each.to >= 0)
        ::close(each.to);
  }

  void get(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    const std::size_t got =
        exchange(peer, request_for(operation::get, from, bytes), nullptr, to, bytes);
    if (got != bytes)
      base::die("process %u has answered a get of %zu bytes by %zu", peer, bytes, got);
  }
  void put(unsigned peer, void* to, const void* from, std::size_t bytes) override {
    exchange(peer, request_for(operation::put, to, bytes), from, nullptr, 0);
  }
  std::optional<segment> request_steal(unsigned peer) override {
    const std::size_t bytes =
        exchange(peer, request_for(operation::steal), nullptr, stolen_.get(), most_stolen(memory_));
    return place_stolen(peer, memory_, stolen_.get(), bytes);
  }
  // It has left when this returns, and is done before what is asked of that process later.
  void post_store(unsigned peer, word& at, std::uint32_t value) override {
    send(peer, request_for(operation::store, &at, sizeof value), &value);
    begun_[peer] = true;
  }
  void flush() override {
    for (unsigned peer = 0; peer < ways_.size(); ++peer)
      if (begun_[peer]) {
        exchange(peer, request_for(operation::flush), nullptr, nullptr, 0);
        begun_[peer] = false;
      }
  }
  void stop_thread() noexcept override { answers_.reset(); }
  std::string listens_at() const override {
    std::string all;
    for (const tcp_address& each : places_[rank_].addresses)
      if (each.host != 0)
        all += (all.empty() ? "" : ", ") + each.text();
    return all;
  }

private:
  tcp_way& way_to(unsigned peer) {
    tcp_way& way = ways_[peer];
    if (way.to < 0)
      way = connect_by_tcp(key_, rank_, peer, places_[peer], places_[rank_]);
    return way;
  }

  void send(unsigned peer, const request& what, const void* content) {
    tcp_way& way = way_to(peer);
    const head sealed = way.asks.seal(what, content);
    if (!send_all(way.to, &sealed, sizeof sealed, content, what.content))
      die_of_lost(peer);
  }

  // Sends a request and waits; returns how many bytes the answer has.
  std::size_t exchange(unsigned peer, const request& what, const void* content, void* answer,
                       std::size_t most) {
    send(peer, what, content);
    tcp_way& way = ways_[peer];
    head got;
    if (!receive_all(way.to, &got, sizeof got))
      die_of_lost(peer);
    if (!way.answers.believes(got) || got.what.kind != operation::answer)
      die_of_changed(peer);
    if (got.what.content > most)
      base::die("process %u has answered a request by %u bytes; at most %zu are accepted", peer,
                got.what.content, most);
    if (!receive_all(way.to, answer, got.what.content))
      die_of_lost(peer);
    if (got.what.content != 0 && !way.answers.believes(got, answer))
      die_of_changed(peer);
    return got.what.content;
  }

  [[noreturn]] static void die_of_lost(unsigned peer) {
    base::die("process %u cannot be reached any more (%s), so this process ends too", peer,
              errno == 0 ? "it has closed the connection" : std::strerror(errno));
  }
  [[noreturn]] static void die_of_changed(unsigned peer) {
    base::die("what came from process %u by TCP is not what it has sent: somebody on the network "
              "has changed it",
              peer);
  }

  const secret key_;
  const unsigned rank_;
  const layout memory_;
  std::vector<tcp_way> ways_; // to each process that this one has asked something
  std::vector<bool> begun_;   // whether stores may not have been done there
  std::vector<tcp_place> places_;
  const std::unique_ptr<std::uint64_t[]> stolen_; // its pages come when they are used
  std::optional<tcp_answers> answers_;
};

} // namespace

std::unique_ptr<far_transport> connect_by_tcp_messages(group& all, const layout& memory,
                                                       const hosts& chosen) {
  return std::make_unique<tcp_messages>(all, memory, chosen);
}

} // namespace nopal::inline NOPAL_ABI::process
