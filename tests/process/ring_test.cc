// SPDX-License-Identifier: MIT
// Processes, played by threads, that find their neighbours among strangers and hear words from
// them.
#include "nopal/process/launch/ring.h"

#include "tests/process/processes.h"

#include <arpa/inet.h>
#include <barrier>
#include <cstring>
#include <filesystem>
#include <functional>
#include <netinet/in.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

// What the processes of a group gather, and a stranger who acts while all of them have come and
// none goes on.
struct common {
  common(unsigned processes, std::function<void()> stranger)
      : meeting(static_cast<std::ptrdiff_t>(processes), between{std::move(stranger)}) {}

  struct between {
    std::function<void()> act;
    void operator()() noexcept { act(); }
  };
  std::vector<char> gathered;
  std::barrier<between> meeting;
};

class thread_as_process final : public process::group {
public:
  thread_as_process(common& all, unsigned rank, unsigned size) : all_{all} {
    rank_ = rank;
    size_ = size;
  }
  void all_gather(const void* own, void* all, std::size_t bytes) override {
    if (rank_ == 0)
      all_.gathered.resize(bytes * size_);
    all_.meeting.arrive_and_wait();
    std::memcpy(&all_.gathered[bytes * rank_], own, bytes);
    all_.meeting.arrive_and_wait();
    std::memcpy(all, all_.gathered.data(), bytes * size_);
    all_.meeting.arrive_and_wait();
  }

private:
  common& all_;
};

std::vector<sockaddr_in> listeners() {
  std::vector<sockaddr_in> found;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    const int number = std::stoi(each.path().filename());
    int listens = 0;
    socklen_t size = sizeof listens;
    sockaddr_in at{};
    socklen_t length = sizeof at;
    if (getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
        getsockname(number, reinterpret_cast<sockaddr*>(&at), &length) == 0 &&
        at.sin_family == AF_INET)
      found.push_back(at);
  }
  return found;
}

int connected_to(sockaddr_in at) {
  if (at.sin_addr.s_addr == 0)
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int to = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect(to, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0) << strerror(errno);
  return to;
}

// Calls `attack` for each listener, once, when all listen and none has been reached.
std::function<void()> once_they_listen(std::function<void(const sockaddr_in&)> attack) {
  return [attack = std::move(attack), done = false]() mutable {
    const std::vector<sockaddr_in> all = done ? std::vector<sockaddr_in>{} : listeners();
    for (const sockaddr_in& each : all)
      attack(each);
    done = done || !all.empty();
  };
}

struct connected {
  process::ring ring;
  std::vector<process::watch::watched> neighbours;
};

std::vector<connected> connect_all(unsigned size, const std::function<void()>& stranger) {
  common all{size, stranger};
  std::vector<connected> rings(size);
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      thread_as_process self{all, rank, size};
      rings[rank].neighbours = rings[rank].ring.connect(self, "");
    });
  for (std::thread& each : threads)
    each.join();
  return rings;
}

// All meet, and end as they should.
void expect_that_they_meet(std::vector<connected>& rings) {
  std::vector<process::watch> watches(rings.size());
  for (std::size_t i = 0; i < rings.size(); ++i)
    watches[i].start(std::move(rings[i].neighbours));
  std::vector<std::thread> threads;
  for (connected& each : rings)
    threads.emplace_back([&each] {
      each.ring.meet();
      each.ring.end_well();
    });
  for (std::thread& each : threads)
    each.join();
}

void connect_and_meet(unsigned size, const std::function<void()>& stranger) {
  std::vector<connected> rings = connect_all(size, stranger);
  ASSERT_EQ(rings[0].neighbours.size(), 2u);
  expect_that_they_meet(rings);
}

void allow_many_descriptors() {
  rlimit most{};
  getrlimit(RLIMIT_NOFILE, &most);
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_NOFILE, &most);
}

TEST(process_ring, connects_and_meets) {
  for (const unsigned size : {2u, 3u, 8u})
    connect_and_meet(size, [] {});
}

TEST(process_ring, listens_at_loopback_alone_on_one_machine) {
  std::size_t seen = 0;
  connect_and_meet(3, once_they_listen([&](const sockaddr_in& at) {
                     ++seen;
                     EXPECT_EQ(at.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
                   }));
  EXPECT_EQ(seen, 3u);
}

// Each would have been waited for, one after the other.
TEST(process_ring, many_silent_strangers_hold_nobody_up) {
  allow_many_descriptors();
  std::vector<int> silent;
  connect_and_meet(2, once_they_listen([&](const sockaddr_in& at) {
                     for (int i = 0; i < 1000; ++i)
                       silent.push_back(connected_to(at));
                   }));
  EXPECT_EQ(silent.size(), 2000u);
  for (const int each : silent)
    close(each);
}

TEST(process_ring, what_strangers_say_is_not_obeyed) {
  std::vector<int> strangers;
  connect_and_meet(3, once_they_listen([&](const sockaddr_in& at) {
                     for (const std::size_t bytes : {1u, 4u, 8u, 15u, 16u, 24u, 1000u}) {
                       strangers.push_back(connected_to(at));
                       const std::string text(bytes, '\0'); // also the number of process 0
                       EXPECT_EQ(send(strangers.back(), text.data(), bytes, MSG_NOSIGNAL),
                                 static_cast<ssize_t>(bytes));
                     }
                     close(connected_to(at));
                   }));
  for (const int each : strangers)
    close(each);
}

// Another one connects whenever the one before was turned away, as long as there is a listener.
TEST(process_ring, strangers_who_come_again_and_again_hold_nobody_up) {
  std::vector<std::jthread> strangers;
  connect_and_meet(2, once_they_listen([&](const sockaddr_in& at) {
                     strangers.emplace_back([at](const std::stop_token& stop) {
                       while (!stop.stop_requested()) {
                         const int to = socket(AF_INET, SOCK_STREAM, 0);
                         if (connect(to, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0)
                           send(to, "0123456789abcdef", 16, MSG_NOSIGNAL);
                         close(to);
                       }
                     });
                   }));
}

// What becomes of process 0 when process 1 says this to it over the connection of that number.
ended after(int connection, const std::string& bytes) {
  return apart([&] {
    std::vector<connected> rings = connect_all(2, [] {});
    process::watch watch;
    watch.start(std::move(rings[0].neighbours));
    const int to = rings[1].neighbours[static_cast<std::size_t>(connection)].descriptor;
    for (const char each : bytes)
      send(to, &each, 1, MSG_NOSIGNAL);
    rings[0].ring.meet();
    std::puts("met");
    std::fflush(stdout);
    _exit(0);
  });
}

std::string word_of(std::uint32_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

constexpr std::uint32_t has_come = 0xfffffffe;
constexpr int to_next = 0;
constexpr int to_before = 1;

TEST(process_ring, a_word_may_come_byte_by_byte) {
  EXPECT_EQ(after(to_next, word_of(has_come)).said, "met\n");
}

TEST(process_ring, the_number_of_a_dead_process_ends_this_one) {
  const ended got = after(to_next, word_of(1));
  EXPECT_EQ(got.said, "nopal: process 1 has died before the computation has ended, so this process "
                      "ends too\n");
  EXPECT_EQ(got.status, 70);
}

TEST(process_ring, a_word_that_nobody_says_ends_the_process) {
  for (const std::uint32_t wrong : {2u, 64u, 0x7fffffffu, 0xfffffff0u}) {
    const ended got = after(to_next, word_of(wrong));
    char number[16];
    std::snprintf(number, sizeof number, "%#x", wrong);
    EXPECT_EQ(got.said, std::string("nopal: process 1 says ") + number +
                            ", which no process of this session says now: its connection is not "
                            "safe, so this process ends\n");
    EXPECT_EQ(got.status, 70);
  }
}

TEST(process_ring, the_word_of_the_meeting_comes_from_before) {
  EXPECT_EQ(after(to_before, word_of(has_come)).status, 70);
}

} // namespace
} // namespace nopal_test
