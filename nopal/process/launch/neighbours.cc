// SPDX-License-Identifier: MIT
// One loop that hears all connections.
#include "nopal/process/launch/neighbours.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {
namespace {

using clock = std::chrono::steady_clock;
constexpr int look_every_ms = 50;              // at times that have run out
constexpr int most_accepted = 64;              // before those that are there are heard again
constexpr std::chrono::milliseconds pause{50}; // before an address is tried again

[[noreturn]] void die_of(const char* reason) {
  base::die("the processes cannot watch each other: %s: %s", reason, std::strerror(errno));
}

int socket_or_die() {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0)
    die_of("no TCP connection can be had");
  return made;
}

// Each word leaves at once: they are few, and the other side waits for them.
void send_at_once(int connection) noexcept {
  constexpr int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

sockaddr_in name_of(const endpoint& at) noexcept {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = at.port;
  name.sin_addr.s_addr = at.address;
  return name;
}

// A connection that has not proved itself.
struct candidate {
  handshake proof;
  clock::time_point until; // it has proved itself, or is closed; without one: when it is begun
  endpoint at{};           // whom it reaches
  int connection = -1;
  short heard = 0;       // by poll
  bool connects = false; // and is not there yet
  bool hopeless = false; // nobody listens there, so it is not tried again

  void drop() noexcept {
    if (connection >= 0)
      close(connection);
    connection = -1;
  }
};

bool is_final(int error) noexcept {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH || error == EACCES;
}

class search {
public:
  search(const secret& key, const place_in_ring& own, const std::vector<int>& listening,
         const std::vector<endpoint>& next)
      : key_{key}, own_{own}, listening_{listening} {
    for (const endpoint& at : next)
      reached_.push_back({to_next(), clock::now(), at});
  }
  search(const search&) = delete;
  search& operator=(const search&) = delete;
  ~search() {
    for (candidate& each : reached_)
      each.drop();
    for (candidate& each : guests_)
      each.drop();
  }

  neighbours find() {
    const clock::time_point end = clock::now() + time_limit;
    while (found_.next < 0 || found_.before < 0) {
      now_ = clock::now();
      give_up_if(now_ >= end);
      if (found_.next < 0)
        begin_connections();
      listen();
      hear_reached();
      hear_guests();
      accept_guests();
    }
    return found_;
  }

private:
  handshake to_next() const noexcept {
    return {key_, handshake::side::reaches, {own_.rank, own_.next()}};
  }

  void give_up_if(bool late) const {
    const bool hopeless = std::ranges::all_of(reached_, &candidate::hopeless);
    if (found_.next < 0 && (late || hopeless))
      base::die("process %u cannot be reached by TCP at any address of its machine", own_.next());
    if (late)
      base::die("process %u has not connected to this one within %d seconds", own_.before(),
                static_cast<int>(time_limit.count()));
  }

  void begin_connections() {
    for (candidate& each : reached_) {
      if (each.connection >= 0 || each.hopeless || now_ < each.until)
        continue;
      each.connection = socket_or_die();
      send_at_once(each.connection);
      each.proof = to_next();
      each.until = now_ + until_number;
      each.connects = true;
      const sockaddr_in name = name_of(each.at);
      if (connect(each.connection, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 &&
          errno != EINPROGRESS)
        fail(each, errno);
    }
  }

  void fail(candidate& each, int error) {
    each.drop();
    each.hopeless = is_final(error);
    each.until = now_ + pause;
  }

  // Sleeps until something can be done.
  void listen() {
    wanted_.clear();
    for (candidate& each : reached_)
      if (each.connection >= 0)
        wanted_.push_back({each.connection, each.connects ? short{POLLOUT} : short{POLLIN}, 0});
    for (const candidate& each : guests_)
      wanted_.push_back({each.connection, POLLIN, 0});
    if (found_.before < 0)
      for (const int each : listening_)
        wanted_.push_back({each, POLLIN, 0});
    if (poll(wanted_.data(), wanted_.size(), look_every_ms) < 0 && errno != EINTR)
      die_of("connections cannot be heard");
    now_ = clock::now();
    auto at = wanted_.cbegin();
    for (candidate& each : reached_)
      each.heard = each.connection >= 0 ? (at++)->revents : short{0};
    for (candidate& each : guests_)
      each.heard = (at++)->revents;
  }

  void hear_reached() {
    for (candidate& each : reached_) {
      if (each.connection < 0 || found_.next >= 0)
        continue;
      if (each.heard == 0) {
        if (now_ >= each.until && !each.proof.has_answered())
          fail(each, 0);
        continue;
      }
      const int error = each.connects ? error_of(each.connection) : 0;
      each.connects = false;
      const auto state = error != 0 ? handshake::state::refused : each.proof.go_on(each.connection);
      if (state == handshake::state::refused)
        fail(each, error);
      else if (state == handshake::state::proved)
        found_.next = std::exchange(each.connection, -1);
    }
    if (found_.next >= 0)
      for (candidate& each : reached_)
        each.drop();
  }

  static int error_of(int connection) noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
  }

  void hear_guests() {
    for (candidate& each : guests_) {
      auto state = now_ >= each.until ? handshake::state::refused : handshake::state::unfinished;
      if (each.heard != 0)
        state = each.proof.go_on(each.connection);
      if (state == handshake::state::refused)
        each.drop();
      else if (state == handshake::state::proved && found_.before < 0)
        found_.before = std::exchange(each.connection, -1);
    }
    std::erase_if(guests_, [](const candidate& each) { return each.connection < 0; });
  }

  void accept_guests() {
    for (const int from : listening_)
      for (int i = 0; i < most_accepted && found_.before < 0; ++i) {
        const int guest = accept4(from, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (guest < 0 && (errno == EMFILE || errno == ENFILE)) {
          if (guests_.empty())
            die_of("no descriptor is left for the connection of another one");
          drop_oldest(); // the next one has its descriptor
        } else if (guest < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
          break;
        else if (guest >= 0)
          welcome(guest);
      }
  }

  void welcome(int guest) {
    if (guests_.size() == most_guests)
      drop_oldest();
    send_at_once(guest);
    guests_.push_back({{key_, handshake::side::welcomes, {own_.before(), own_.rank}},
                       now_ + patience,
                       {},
                       guest});
    if (guests_.back().proof.begin(guest) == handshake::state::refused) {
      guests_.back().drop();
      guests_.pop_back();
    }
  }

  void drop_oldest() {
    guests_.front().drop();
    guests_.erase(guests_.begin());
  }

  const secret key_;
  const place_in_ring own_;
  const std::vector<int>& listening_;
  std::vector<candidate> reached_; // one for each address
  std::vector<candidate> guests_;  // in the order in which they came
  std::vector<pollfd> wanted_;
  clock::time_point now_;
  neighbours found_;
};

} // namespace

int listen_at(endpoint& at) {
  const int to = socket_or_die();
  sockaddr_in own = name_of(at);
  socklen_t size = sizeof own;
  if (bind(to, reinterpret_cast<const sockaddr*>(&own), size) != 0 || listen(to, SOMAXCONN) != 0 ||
      getsockname(to, reinterpret_cast<sockaddr*>(&own), &size) != 0)
    die_of("no TCP port can be had");
  at.port = own.sin_port;
  return to;
}

neighbours find_neighbours(const secret& key, const place_in_ring& own,
                           const std::vector<int>& listening, const std::vector<endpoint>& next) {
  return search{key, own, listening, next}.find();
}

} // namespace nopal::inline NOPAL_ABI::process
