// SPDX-License-Identifier: MIT
// Loops whose body adds work: each item is served once, whatever is stolen.
#include "nopal/runtime.h"
#include "nopal/worklist.h"
#include "tests/algorithms/support.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/cancel.h"
#include "nopal/fiber.h"
#endif

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace nopal_test {
namespace {

using counters = std::vector<std::atomic<int>>;

bool all_are(const counters& all, int wanted) {
  return std::ranges::all_of(all, [wanted](const auto& each) { return each == wanted; });
}

TEST(worklist, serves_each_item_once) {
  for (const std::size_t size : sizes()) {
    counters served(size);
    const auto body = [&](std::size_t at, nopal::worklist<std::size_t>& more) {
      served[at].fetch_add(1);
      for (const std::size_t below : {2 * at + 1, 2 * at + 2}) // the children in a heap
        if (below < size)
          more.add(below);
    };
    if (size != 0)
      nopal::for_worklist({std::size_t{0}}, body);
    ASSERT_TRUE(all_are(served, 1)) << size;
  }
}

TEST(worklist, begins_with_all_that_it_is_given) {
  for (const std::size_t size : sizes()) {
    counters served(size);
    const auto serve = [&served](std::size_t at, auto&) { served[at].fetch_add(1); };
    std::vector<std::size_t> items(size);
    std::iota(items.begin(), items.end(), std::size_t{0});
    nopal::for_worklist(items, serve);
    nopal::for_worklist(std::deque<std::size_t>(items.begin(), items.end()), serve);
    nopal::for_worklist(std::views::iota(std::size_t{0}, size), serve);
    nopal::for_worklist(std::move(items), serve);
    ASSERT_TRUE(all_are(served, 4)) << size;
  }
}

// Some edges from each node, the same in each run.
std::vector<std::vector<int>> random_graph(int nodes, int edges) {
  const std::vector<int> ends = numbers(static_cast<std::size_t>(nodes * edges), nodes);
  std::vector<std::vector<int>> graph(static_cast<std::size_t>(nodes));
  for (std::size_t i = 0; i < ends.size(); ++i)
    graph[i / static_cast<std::size_t>(edges)].push_back(ends[i]);
  return graph;
}

// The distances from node 0; -1: there is no way.
std::vector<int> breadth_first(const std::vector<std::vector<int>>& graph) {
  std::vector<int> distance(graph.size(), -1);
  std::deque<int> queue{0};
  distance[0] = 0;
  for (; !queue.empty(); queue.pop_front())
    for (const int next : graph[static_cast<std::size_t>(queue.front())])
      if (int& known = distance[static_cast<std::size_t>(next)]; known < 0) {
        known = distance[static_cast<std::size_t>(queue.front())] + 1;
        queue.push_back(next);
      }
  return distance;
}

TEST(worklist, finds_all_nodes_that_a_graph_leads_to) {
  const int nodes = steals_forced() ? 3000 : 50000;
  for (const int edges : {1, 2, 5}) {
    const std::vector<std::vector<int>> graph = random_graph(nodes, edges);
    counters found(graph.size());
    found[0] = 1;
    nopal::for_worklist({0}, [&](int node, nopal::worklist<int>& more) {
      for (const int next : graph[static_cast<std::size_t>(node)])
        if (found[static_cast<std::size_t>(next)].exchange(1) == 0)
          more.add(next);
    });
    const std::vector<int> distance = breadth_first(graph);
    for (std::size_t i = 0; i < graph.size(); ++i)
      ASSERT_EQ(found[i] == 1, distance[i] >= 0) << i;
  }
}

// The order of items is open, so a node is taken anew when a shorter way to it is found.
TEST(worklist, finds_the_distances_of_a_breadth_first_search) {
  for (const int edges : {1, 2, 5}) {
    const std::vector<std::vector<int>> graph = random_graph(200, edges);
    constexpr int far = 1 << 30;
    std::vector<std::atomic<int>> distance(graph.size());
    for (std::atomic<int>& each : distance)
      each = far;
    distance[0] = 0;
    nopal::for_worklist({0}, [&](int node, nopal::worklist<int>& more) {
      const int to_next = distance[static_cast<std::size_t>(node)] + 1;
      for (const int next : graph[static_cast<std::size_t>(node)]) {
        std::atomic<int>& known = distance[static_cast<std::size_t>(next)];
        int seen = known;
        while (to_next < seen && !known.compare_exchange_weak(seen, to_next)) {
        }
        if (to_next < seen)
          more.add(next);
      }
    });
    const std::vector<int> expected = breadth_first(graph);
    for (std::size_t i = 0; i < graph.size(); ++i)
      ASSERT_EQ(distance[i] == far ? -1 : distance[i].load(), expected[i]) << edges << ' ' << i;
  }
}

bool one_strand() { return nopal::num_workers() == 1; }

// Each item adds a leaf and the next item, and waits a while for a thief to take the leaf. Forks
// that were taken one above the other would take more than a stack.
TEST(worklist, of_a_long_path_takes_a_bounded_stack) {
  const int length = 8000;
  std::atomic<int> leaves{0};
  std::atomic<int> nodes{0};
  nopal::for_worklist({0}, [&](int at, nopal::worklist<int>& more) {
    if (at < 0) {
      leaves.fetch_add(1);
      return;
    }
    for (int tries = 0; !one_strand() && leaves < at && tries < 20; ++tries)
      std::this_thread::yield();
    nodes.fetch_add(1);
    if (at == length)
      return;
    more.add(-1);
    more.add(at + 1);
  });
  EXPECT_EQ(leaves, length);
  EXPECT_EQ(nodes, length + 1);
}

TEST(worklist, moves_its_items) {
  for (const std::size_t size : some_sizes()) {
    {
      std::atomic<long> sum{0};
      std::atomic<long> added{0};
      nopal::for_worklist(owners(size, 1000), [&](owner at, nopal::worklist<owner>& more) {
        sum.fetch_add(at.key());
        if (at.key() > 500) {
          more.add(owner{at.key() / 2});
          added.fetch_add(at.key() / 2);
        }
      });
      const std::vector<int> keys = numbers(size, 1000);
      EXPECT_EQ(sum - added, std::accumulate(keys.begin(), keys.end(), 0L));
    }
    ASSERT_EQ(owner::alive(), 0);
  }
}

TEST(worklist, throws_what_a_body_throws) {
  for (const std::size_t size : some_sizes())
    for (const int bad : {0, 1, 400, 999}) {
      const auto body = [bad](owner at, nopal::worklist<owner>& more) {
        if (at.key() == bad)
          throw std::out_of_range{"bad"};
        if (at.key() % 2 == 0)
          more.add(owner{at.key() + 1});
      };
      const std::vector<int> keys = numbers(size, 1000);
      const bool fails = std::ranges::any_of(
          keys, [bad](int key) { return key == bad || (key + 1 == bad && key % 2 == 0); });
      bool threw = false;
      try {
        nopal::for_worklist(owners(size, 1000), body);
      } catch (const std::out_of_range&) {
        threw = true;
      }
      EXPECT_EQ(threw, fails);
      ASSERT_EQ(owner::alive(), 0);
    }
}

TEST(worklist, loses_no_item_where_a_move_throws) {
  for (const long calls : {0L, 1L, 100L, 3000L}) {
    std::vector<owner> items = owners(2000);
    moves.light(calls);
    EXPECT_THROW(nopal::for_worklist(std::move(items),
                                     [](owner at, nopal::worklist<owner>& more) {
                                       if (at.key() >= 0)
                                         more.add(std::move(at));
                                     }),
                 fuse::blown);
    items.clear();
    ASSERT_EQ(owner::alive(), 0);
  }
}

// The newer item would go on for ever; a thief takes the older one, which is serially behind.
TEST(worklist, is_ended_by_an_exception) {
  std::atomic<int> calls{0};
  EXPECT_THROW(nopal::for_worklist({1, 2},
                                   [&calls](int at, nopal::worklist<int>& more) {
                                     if (at == 1 || (calls.fetch_add(1) > 3000 && one_strand()))
                                       throw std::runtime_error{"enough"};
                                     more.add(at);
                                   }),
               std::runtime_error);
}

TEST(worklist, has_bodies_that_fork) {
  const int size = steals_forced() ? 100 : 2000;
  std::atomic<int> leaves{0};
  nopal::for_worklist({size}, [&leaves](int at, nopal::worklist<int>& more) {
    nopal::for_index(0, 3, [&leaves](int) { leaves.fetch_add(1); }, 1);
    if (at > 0)
      more.add(at - 1);
  });
  EXPECT_EQ(leaves, 3 * (size + 1));
}

TEST(worklist, lies_within_another) {
  counters served(900);
  nopal::for_worklist(std::views::iota(0, 30), [&served](int outer, auto&) {
    nopal::for_worklist({29}, [&served, outer](int at, nopal::worklist<int>& more) {
      served[static_cast<std::size_t>(30 * outer + at)].fetch_add(1);
      if (at > 0)
        more.add(at - 1);
    });
  });
  EXPECT_TRUE(all_are(served, 1));
}

#if !defined(NOPAL_SERIAL)
TEST(worklist, is_cancelled) {
  std::atomic<int> calls{0};
  nopal::cancel_scope s;
  s.fork([&] {
    nopal::for_worklist({1, 2, 3}, [&](int at, nopal::worklist<int>& more) {
      more.add(at);
      if (calls.fetch_add(1) == 100)
        s.cancel();
    });
  });
  EXPECT_FALSE(s.try_join());
}

TEST(worklist, of_a_fiber) {
  std::atomic<int> served{0};
  nopal::run([&served] {
    for (int fiber = 0; fiber < 3; ++fiber)
      nopal::spawn([&served] {
        nopal::for_worklist({1}, [&served](int at, nopal::worklist<int>& more) {
          served.fetch_add(1);
          for (const int below : {2 * at, 2 * at + 1})
            if (below < 500)
              more.add(below);
        });
      });
  });
  EXPECT_EQ(served, 3 * 499);
}
#endif

} // namespace
} // namespace nopal_test
