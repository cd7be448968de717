// SPDX-License-Identifier: MIT
// Measures an echo server with many connections, of which few are active: --n is their number.
//
// The server is a program of its own, echo-RUNTIME beside this one. Each connection sends one
// request; then the memory of the server's process is read, and less what it had with one
// connection, that is what a connection takes. After that 64 of them send 64 bytes, wait for the
// answer, and send again, for two seconds or three. This process and its server share the
// processors. Where the limit of descriptors is lower, there are as many connections as it allows.
#include "bench/harness.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t bytes_of_a_request = 64;
constexpr int active_wanted = 64;
constexpr long descriptors_left = 40; // of the limit, for all but connections

int checked(int result, const char* what) {
  if (result < 0)
    throw std::runtime_error(std::string(what) + " failed");
  return result;
}

// A process that runs until this object ends.
class server {
public:
  explicit server(unsigned workers) {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() /
                         (std::string("echo-") + BENCH_RUNTIME);
    int ends[2];
    checked(pipe(ends), "pipe");
    const std::string count = std::to_string(workers);
    child_ = checked(fork(), "fork");
    if (child_ == 0) {
      dup2(ends[1], 1);
      close(ends[0]);
      close(ends[1]);
      execl(program.c_str(), program.c_str(), count.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    FILE* const says = fdopen(ends[0], "r");
    int port = 0;
    const bool said = std::fscanf(says, "port %d", &port) == 1;
    std::fclose(says);
    if (!said)
      throw std::runtime_error(program.string() + " did not say its port");
    at_.sin_family = AF_INET;
    at_.sin_port = htons(static_cast<std::uint16_t>(port));
    at_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  ~server() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  int connect() const {
    const int made = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(::connect(made, reinterpret_cast<const sockaddr*>(&at_), sizeof at_), "connect");
    const int on = 1;
    checked(setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    return made;
  }
  // A line of /proc/PID/status, in bytes.
  double memory(const std::string& name) const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/status");
    for (std::string word; file >> word;)
      if (double kib = 0; word == name + ":" && file >> kib)
        return kib * 1024;
    throw std::runtime_error("the system does not tell " + name);
  }
  double cpu_s() const {
    clockid_t its = 0;
    timespec used{};
    if (clock_getcpuclockid(child_, &its) != 0 || clock_gettime(its, &used) != 0)
      throw std::runtime_error("the system does not tell the server's time");
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  }

private:
  pid_t child_ = -1;
  sockaddr_in at_{};
};

void send_request(int to) {
  static const std::string request(bytes_of_a_request, 'x');
  if (write(to, request.data(), request.size()) != static_cast<ssize_t>(request.size()))
    throw std::runtime_error("a request was not sent whole");
}
void take_answer(int from) {
  char bytes[bytes_of_a_request];
  for (std::size_t got = 0; got < sizeof bytes;) {
    const ssize_t more = read(from, bytes, sizeof bytes - got);
    if (more <= 0)
      throw std::runtime_error("the server has closed a connection");
    got += static_cast<std::size_t>(more);
  }
}

long as_many_as_allowed(long wanted) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit); // the server inherits it
  return std::min(wanted, static_cast<long>(limit.rlim_cur) - descriptors_left);
}

class io : public experiment {
public:
  io(const input& in, unsigned workers)
      : connections_{as_many_as_allowed(in.n                      ? *in.n
                                        : in.chosen == size::test ? 100
                                                                  : 20000)},
        duration_{in.chosen == size::test    ? 0.05
                  : in.chosen == size::quick ? 2.0
                                             : 5.0},
        server_{workers} {}

  long n() const override { return connections_; }
  std::uint64_t forks() const override { return 0; }
  void prepare() override {
    open_one();
    const double memory = server_.memory("VmRSS");
    const double tables = server_.memory("VmPTE");
    while (static_cast<long>(all_.size()) < connections_)
      open_one();
    const double idle = static_cast<double>(connections_ - 1);
    metrics_["bytes_per_connection"] = (server_.memory("VmRSS") - memory) / idle;
    metrics_["page_tables_per_connection"] = (server_.memory("VmPTE") - tables) / idle;
    metrics_["threads"] = server_.memory("Threads") / 1024;
  }
  void warm_up() override {}
  void compute() override {
    const int events = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    const auto active = static_cast<std::size_t>(std::min<long>(active_wanted, connections_));
    for (std::size_t i = 0; i < active; ++i) {
      epoll_event event{EPOLLIN, {.u64 = i * (all_.size() / active)}};
      checked(epoll_ctl(events, EPOLL_CTL_ADD, all_[event.data.u64], &event), "epoll_ctl");
      send_one(event.data.u64);
    }
    const double cpu = server_.cpu_s();
    const auto begin = clock::now();
    const auto end = begin + std::chrono::duration_cast<clock::duration>(
                                 std::chrono::duration<double>(duration_));
    while (clock::now() < end)
      answer_all(events);
    took_ = std::chrono::duration<double>(clock::now() - begin).count();
    metrics_["cpu_us_per_request"] =
        (server_.cpu_s() - cpu) * 1e6 / static_cast<double>(latencies_us_.size());
    close(events);
  }
  bool verify() override {
    if (latencies_us_.empty())
      return false;
    std::ranges::sort(latencies_us_);
    const auto at = [this](std::size_t percent) {
      return static_cast<double>(latencies_us_[latencies_us_.size() * percent / 100]);
    };
    metrics_["requests_per_s"] = static_cast<double>(latencies_us_.size()) / took_;
    metrics_["p50_us"] = at(50);
    metrics_["p99_us"] = at(99);
    return true;
  }
  counters read_counters() const override { return {}; }
  std::optional<double> took_s() const override { return took_; }
  std::map<std::string, double> metrics() const override { return metrics_; }

private:
  void open_one() {
    all_.push_back(server_.connect());
    sent_.emplace_back();
    send_request(all_.back());
    take_answer(all_.back());
  }
  void send_one(std::size_t number) {
    sent_[number] = clock::now();
    send_request(all_[number]);
  }
  void answer_all(int events) {
    epoll_event ready[256];
    const int count = epoll_wait(events, ready, 256, 1000);
    for (int i = 0; i < count; ++i) {
      const std::size_t number = ready[i].data.u64;
      take_answer(all_[number]);
      latencies_us_.push_back(
          std::chrono::duration<float, std::micro>(clock::now() - sent_[number]).count());
      send_one(number);
    }
  }

  const long connections_;
  const double duration_;
  server server_;
  std::vector<int> all_;
  std::vector<clock::time_point> sent_;
  std::vector<float> latencies_us_;
  std::map<std::string, double> metrics_;
  double took_ = 0;
};

} // namespace
} // namespace bench

int main(int argc, char** argv) {
  const bench::program what{
      "io", BENCH_RUNTIME, true, true, false, [](const bench::input& in, unsigned workers) {
        return std::make_unique<bench::io>(in, workers);
      }};
  return bench::run_program(what, argc, argv);
}
