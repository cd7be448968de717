// SPDX-License-Identifier: MIT
// Two ends of the engine over TCP in one process, and strangers who connect to it.
#include "nopal/process/transport/tcp_messages.h"

#include "nopal/process/transport/sealed.h"
#include "nopal/process/transport/secret.h"
#include "nopal/process/transport/tcp_places.h"
#include "tests/process/processes.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <array>
#include <barrier>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

namespace process = nopal::process;
using process::operation;
using process::request;
using process::side;

constexpr unsigned ends = 2;

// Threads of one process in the place of processes.
struct meeting {
  std::barrier<> all{ends};
  std::vector<unsigned char> gathered = {};
  process::secret key = {}; // the first that is gathered
  bool has_key = false;
};

class end final : public process::group {
public:
  end(meeting& with, unsigned rank) : with_{with} {
    rank_ = rank;
    size_ = ends;
  }
  void all_gather(const void* own, void* all, std::size_t bytes) override {
    with_.all.arrive_and_wait();
    if (rank_ == 0)
      with_.gathered.resize(ends * bytes);
    with_.all.arrive_and_wait();
    std::memcpy(&with_.gathered[rank_ * bytes], own, bytes);
    with_.all.arrive_and_wait();
    std::memcpy(all, with_.gathered.data(), ends * bytes);
    if (rank_ == 0 && !with_.has_key && bytes == sizeof with_.key) {
      with_.has_key = true;
      std::memcpy(static_cast<void*>(&with_.key), own, bytes);
    }
    with_.all.arrive_and_wait();
  }

private:
  meeting& with_;
};

class tcp_messages : public testing::Test {
protected:
  tcp_messages() {
    void* const at = reinterpret_cast<void*>(process::block_at);
    mapped_ = mmap(at, as_.size(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped_ != at)
      throw std::runtime_error("the block could not be mapped");
    connect_both();
  }
  ~tcp_messages() override {
    for (auto& each : engines_)
      each.reset();
    munmap(mapped_, as_.size());
  }

  void connect(unsigned rank) {
    end own{met_, rank};
    engines_[rank] = process::connect_by_tcp_messages(own, as_, {});
  }
  void connect_both() {
    std::thread other{[&] { connect(1); }};
    connect(0);
    other.join();
  }
  unsigned char* heap() const { return reinterpret_cast<unsigned char*>(as_.heap_at()); }

  // A connection of somebody else to end 1.
  int stranger() const {
    const std::string at = engines_[1]->listens_at();
    const std::size_t colon = at.find(':');
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = htons(static_cast<std::uint16_t>(std::stoi(at.substr(colon + 1))));
    inet_pton(AF_INET, at.substr(0, colon).c_str(), &target.sin_addr);
    const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(to, reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0)
      throw std::runtime_error("a stranger cannot connect");
    return to;
  }
  // As rank 0 introduces itself; the way has no directions yet.
  process::tcp_way introduced(process::introduction& said) const {
    process::tcp_way way{.to = stranger(), .asks = {}, .answers = {}};
    process::welcome got;
    process::send_all(way.to, &said.first, sizeof said.first);
    if (process::receive_all(way.to, &got, sizeof got))
      said.answer = got.number;
    return way;
  }
  // As rank 0, with the secret.
  process::tcp_way of_session() const {
    process::introduction said;
    said.first.answering = 1;
    process::tcp_way way = introduced(said);
    const std::uint64_t proof = process::proof_of_side(met_.key, side::asking, said);
    process::send_all(way.to, &proof, sizeof proof);
    way.asks = {met_.key, side::asking, said};
    way.answers = {met_.key, side::answering, said};
    process::head confirmed;
    EXPECT_TRUE(process::receive_all(way.to, &confirmed, sizeof confirmed));
    EXPECT_TRUE(way.answers.believes(confirmed));
    return way;
  }
  // Nothing comes but the end.
  static bool is_closed(int connection) {
    char byte = 0;
    const bool closed = !process::receive_all(connection, &byte, 1);
    close(connection);
    return closed;
  }
  void expect_that_the_session_goes_on() const {
    heap()[200] = 42;
    unsigned char got = 0;
    engines_[0]->get(1, &got, heap() + 200, 1);
    EXPECT_EQ(got, 42);
  }

  const process::layout as_{std::size_t{1} << 20, std::size_t{64} << 10};
  void* mapped_ = nullptr;
  meeting met_;
  std::array<std::unique_ptr<process::far_transport>, ends> engines_;
};

TEST_F(tcp_messages, on_one_machine_listen_at_the_loopback_alone) {
  for (const auto& each : engines_)
    EXPECT_EQ(each->listens_at().find("127.0.0.1:"), 0u) << each->listens_at();
}

TEST_F(tcp_messages, carry_bytes_of_any_length_there_and_back) {
  for (const std::size_t bytes : {1u, 4u, 8u, 100u, 4096u, 100'000u, 800'000u}) {
    std::vector<unsigned char> given(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      given[i] = static_cast<unsigned char>(i * 7 + bytes);
    engines_[0]->put(1, heap(), given.data(), bytes);
    EXPECT_EQ(std::memcmp(heap(), given.data(), bytes), 0) << bytes;
    std::vector<unsigned char> got(bytes);
    engines_[1]->get(0, got.data(), heap(), bytes);
    EXPECT_EQ(got, given);
  }
}

TEST_F(tcp_messages, what_was_begun_is_done_after_a_flush) {
  auto* const words = reinterpret_cast<process::word*>(heap());
  for (std::uint32_t i = 0; i < 1000; ++i)
    engines_[0]->post_store(1, words[i], i + 1);
  engines_[0]->flush();
  for (std::uint32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(words[i].load(nopal::base::relaxed), i + 1);
}

TEST_F(tcp_messages, carry_a_continuation) {
  process::queue_owner<process::own_queue> owner;
  const process::segment task{32768, 65536};
  std::memset(reinterpret_cast<void*>(as_.region_at() + task.lower), 9, task.size());
  EXPECT_FALSE(engines_[0]->request_steal(1));
  ASSERT_TRUE(owner.push(task));
  const std::optional<process::segment> stolen = engines_[0]->request_steal(1);
  ASSERT_TRUE(stolen);
  EXPECT_EQ(stolen->packed(), task.packed());
  EXPECT_FALSE(engines_[0]->request_steal(1));
}

TEST_F(tcp_messages, strangers_are_turned_away_and_the_session_goes_on) {
  const std::string garbage(100'000, 'x');
  testing::internal::CaptureStderr();
  for (const std::size_t bytes : {1u, 23u, 24u, 100u, 100'000u}) {
    const int to = stranger();
    send(to, garbage.data(), bytes, MSG_NOSIGNAL);
    shutdown(to, SHUT_WR);
    EXPECT_TRUE(is_closed(to)) << bytes;
  }
  for (const unsigned asking : {1u, 2u, ~0u}) { // no other process of the session
    process::introduction said;
    said.first.asking = asking;
    said.first.answering = 1;
    EXPECT_TRUE(is_closed(introduced(said).to));
  }
  process::introduction said;
  said.first.answering = 1;
  const process::tcp_way way = introduced(said);
  const std::uint64_t guessed = 0;
  process::send_all(way.to, &guessed, sizeof guessed);
  EXPECT_TRUE(is_closed(way.to));
  expect_that_the_session_goes_on();
  const std::string sentences = testing::internal::GetCapturedStderr();
  EXPECT_EQ(sentences.find("nopal: process 1 has turned away 127.0.0.1:"), 0u) << sentences;
  EXPECT_EQ(sentences.find('\n'), sentences.size() - 1) << sentences; // one
}

// What the answering side proves is no proof for the asking side, nor for another connection.
TEST_F(tcp_messages, proofs_of_others_are_not_accepted_again) {
  testing::internal::CaptureStderr();
  process::introduction said;
  said.first.answering = 1;
  const process::tcp_way way{.to = stranger(), .asks = {}, .answers = {}};
  process::welcome got;
  process::send_all(way.to, &said.first, sizeof said.first);
  ASSERT_TRUE(process::receive_all(way.to, &got, sizeof got));
  process::send_all(way.to, &got.proof, sizeof got.proof);
  EXPECT_TRUE(is_closed(way.to));
  said.answer = got.number;
  const std::uint64_t true_one = process::proof_of_side(met_.key, side::asking, said);
  const process::tcp_way again = introduced(said);
  process::send_all(again.to, &true_one, sizeof true_one);
  EXPECT_TRUE(is_closed(again.to));
  expect_that_the_session_goes_on();
  testing::internal::GetCapturedStderr();
}

TEST_F(tcp_messages, a_true_message_is_obeyed_once) {
  process::tcp_way way = of_session();
  const std::uint32_t value = 5;
  const request store = process::request_for(operation::store, heap(), sizeof value);
  const process::head sealed = way.asks.seal(store, &value);
  process::send_all(way.to, &sealed, sizeof sealed, &value, sizeof value);
  process::send_all(way.to, &sealed, sizeof sealed, &value, sizeof value);
  EXPECT_TRUE(is_closed(way.to));
  std::uint32_t stored = 0;
  engines_[0]->get(1, &stored, heap(), sizeof stored);
  EXPECT_EQ(stored, value); // done before the second one came
  expect_that_the_session_goes_on();
}

TEST_F(tcp_messages, a_changed_message_is_not_obeyed) {
  for (const bool in_content : {false, true}) {
    process::tcp_way way = of_session();
    std::uint32_t value = 5;
    process::head sealed =
        way.asks.seal(process::request_for(operation::store, heap() + 8, sizeof value), &value);
    if (in_content)
      value = 6;
    else
      sealed.what.at += 8;
    process::send_all(way.to, &sealed, sizeof sealed, &value, sizeof value);
    EXPECT_TRUE(is_closed(way.to));
  }
  std::array<unsigned char, 16> got{1};
  engines_[0]->get(1, got.data(), heap() + 8, got.size());
  EXPECT_EQ(got, (std::array<unsigned char, 16>{}));
  expect_that_the_session_goes_on();
}

// Many connect and say nothing, or half of what they have to say.
TEST_F(tcp_messages, strangers_who_stay_keep_nobody_out) {
  testing::internal::CaptureStderr();
  std::vector<int> silent;
  for (int i = 0; i < 2'000; ++i) {
    silent.push_back(stranger());
    if (i % 2 == 0)
      send(silent.back(), "nopal", 5, MSG_NOSIGNAL);
    if (silent.size() == 400) {
      close(silent.front());
      silent.erase(silent.begin());
    }
  }
  expect_that_the_session_goes_on(); // end 0 connects only now
  for (const int each : silent)
    close(each);
  testing::internal::GetCapturedStderr();
}

// By somebody who knows the secret, as a faulty process of the session does. The child of the test
// begins anew, since it has no thread that answers.
TEST_F(tcp_messages, a_process_that_asks_for_other_memory_ends_this_one) {
  for (auto& each : engines_)
    each.reset();
  met_.has_key = false;
  static std::uint64_t elsewhere = 0;
  const auto asks = [&](const request& what) {
    connect_both();
    process::tcp_way way = of_session();
    const std::array<unsigned char, 64> content{};
    const process::head sealed = way.asks.seal(what, content.data());
    process::send_all(way.to, &sealed, sizeof sealed, content.data(), what.content);
    is_closed(way.to);
    std::_Exit(0);
  };
  const auto expect = [&](const request& what, const char* sentence) {
    const nopal_test::ended got = nopal_test::apart([&] { asks(what); });
    EXPECT_EQ(got.status, 70);
    EXPECT_NE(got.said.find(sentence), std::string::npos) << got.said;
  };
  const auto at = reinterpret_cast<std::uintptr_t>(&elsewhere);
  expect({operation::put, 8, at, 8}, "process 0 asks for a put of 8 bytes at");
  expect({operation::get, 0, at, 8}, "not within the memory");
  expect({operation::get, 0, as_.region_at(), 8}, "not within the memory");
  expect({operation::get, 0, as_.heap_at(), std::uint64_t{1} << 60}, "longer than");
  expect({operation::put, 8, as_.heap_at(), 16}, "another length");
  expect({operation::store, 4, as_.heap_at() + 1, 4}, "not aligned");
  expect({static_cast<operation>(9), 0, 0, 0}, "an unknown operation");
}

} // namespace
