// SPDX-License-Identifier: MIT
// Tasks that are awaited together, wherever they were added, and tasks that follow others.
//
//     class index {                               // kept in a class, joined elsewhere
//       nopal::task_group updates;
//     public:
//       void insert(item x) { updates.add([this, x] { place(x); }); }     // any thread
//       void settle() { updates.wait(); }         // throws what the first task has thrown
//     };
//
//     nopal::task_group build;                    // a graph, which may grow while it runs
//     nopal::task_node a = build.add_node(compile, "a");
//     nopal::task_node b = build.add_node(compile, "b");
//     nopal::task_node all = build.add_after({a, b}, link);
//     build.wait();
//
// A task runs in a fiber, as what is submitted does (submit.h): it may fork, wait for other tasks,
// block and spawn, and it may add tasks. Which goes first: work_queue.h. It has ended when its
// function has; `wait` awaits what it has spawned, too. For a task that follows others these exist
// already, so no dependencies go in a circle.
//
// The first task that throws cancels the others (cancel.h), with all that they have spawned: those
// that have not begun never do. A group belongs to no fiber: what cancels the strand that has made
// it, or waits for it, leaves its tasks alone.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/closure.h"
#include "nopal/cancel/cancel.h"
#include "nopal/cancel/cancel_tree.h"
#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/work_queue.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

template <class F> struct group_task final : work_item {
  explicit group_task(F&& from) : work_item{call_it}, f(std::move(from)) {}

  static work_item* call_it(work_item* self, work_queue& tasks) noexcept {
    const std::unique_ptr<group_task> own{static_cast<group_task*>(self)};
    tasks.run(own->f);
    return nullptr;
  }

  F f;
};

// A task that others may follow. It lives as long as it has not ended or somebody has its handle.
struct graph_task : work_item {
  explicit graph_task(function f, const work_queue& group, std::uint32_t awaited) noexcept
      : work_item{f, awaited}, of{&group} {}
  virtual ~graph_task() = default;
  // Orders: acq_rel, so that whoever destroys the task is behind the other's last use.
  void release() noexcept {
    if (holders_.fetch_sub(1, base::acq_rel) == 1)
      delete this;
  }

  sync::dependents<work_item> followers;
  const work_queue* const of;

private:
  base::atomic<std::uint32_t> holders_{2}; // the handle, and the task until it has ended
};
struct releases {
  void operator()(graph_task* held) const noexcept { held->release(); }
};

template <class F> struct graph_task_of final : graph_task {
  explicit graph_task_of(const work_queue& group, std::size_t number, F&& from)
      : graph_task{call_it, group, static_cast<std::uint32_t>(number) + 1}, f(std::move(from)),
        many(number > few.size() ? std::make_unique<dependency[]>(number) : nullptr) {}

  static work_item* call_it(work_item* self, work_queue& tasks) noexcept {
    auto* const own = static_cast<graph_task_of*>(self);
    tasks.run(*own->f);
    own->f.reset();
    work_item* const next = tasks.release_and_take(own->followers);
    own->release();
    return next;
  }
  dependency* awaits() noexcept { return many != nullptr ? many.get() : few.data(); }

  std::optional<F> f;
  std::array<dependency, 2> few;
  std::unique_ptr<dependency[]> many;
};

struct predecessor;

} // namespace detail

/// A task of a group that others may follow, also when it has ended. It may be destroyed at any
/// time, before or after its task and its group.
/// @par Threads
/// Any thread, one at a time.
class NOPAL_TYPE task_node {
public:
  /// None; nothing follows it.
  task_node() noexcept = default;

private:
  friend class task_group;
  friend detail::predecessor;
  explicit task_node(detail::graph_task* held) noexcept : held_{held} {}

  std::unique_ptr<detail::graph_task, detail::releases> held_;
};

namespace detail {

struct predecessor {
  predecessor(const task_node& from) noexcept : task{from.held_.get()} {} // NOLINT: implicit
  graph_task* task;
};

} // namespace detail

/// Tasks that are added from anywhere and awaited anywhere else.
/// @pre Checked: no task is left when it is destroyed, unless it was cancelled or an exception
/// unwinds, in which case its end cancels the tasks and waits for them; it is awaited by none of
/// its own tasks, nor by what these have forked or spawned.
/// @par Threads
/// Any thread, any strand, several at a time; what is added while `wait` is called is added by the
/// group's own tasks.
class NOPAL_TYPE task_group {
public:
  task_group() noexcept { tasks_.set_node(node_); }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() {
    NOPAL_ASSERT(!node_.has_members() || node_.cancelled() || std::uncaught_exceptions() > 0,
                 "a nopal::task_group was destroyed that has tasks which have not ended; call its "
                 "wait before, or cancel it");
    tasks_.set_awaited(true);
  }

  /// A task that calls f(args...), with copies or what is moved. It does not if the group is
  /// cancelled before it begins.
  /// @throws what the copies throw, std::bad_alloc.
  /// @par Cost
  /// An allocation, and a lock, held for a few steps. Workers that begin tasks take that lock once
  /// for a batch of them.
  template <class F, class... Args>
    requires forkable<F, Args...>
  void add(F&& f, Args&&... args) {
    auto call = base::closure_of(std::forward<F>(f), std::forward<Args>(args)...);
    tasks_.add(new detail::group_task<decltype(call)>(std::move(call)));
  }
  /// The same for a task that others may follow.
  template <class F, class... Args>
    requires forkable<F, Args...>
  [[nodiscard]] task_node add_node(F&& f, Args&&... args) {
    return begin_after(std::span<const task_node>{}, std::forward<F>(f),
                       std::forward<Args>(args)...);
  }
  /// The same for a task that begins when these have ended: `add_after({a, b}, f)`.
  /// @pre Checked: they are tasks of this group.
  template <class F, class... Args>
    requires forkable<F, Args...>
  task_node add_after(std::initializer_list<detail::predecessor> before, F&& f, Args&&... args) {
    return begin_after(before, std::forward<F>(f), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
    requires forkable<F, Args...>
  task_node add_after(std::span<const task_node> before, F&& f, Args&&... args) {
    return begin_after(before, std::forward<F>(f), std::forward<Args>(args)...);
  }

  /// Waits until no task is left. Tasks may be added again after that, if none has failed and the
  /// group is not cancelled.
  /// @throws what the task has thrown that failed first, each time; cancelled if the calling strand
  /// is cancelled, and the tasks go on then.
  void wait() {
    tasks_.set_awaited(true);
    node_.join();
    tasks_.set_awaited(false);
    if (node_.failure() != nullptr)
      std::rethrow_exception(node_.failure());
  }
  /// Tells all tasks to stop, for ever, and does not wait for them. The first reason is kept
  /// (cancel.h).
  void cancel(std::exception_ptr reason = nullptr) noexcept {
    cancel::cancel(node_, std::move(reason));
  }
  [[nodiscard]] bool cancelled() const noexcept { return node_.cancelled(); }
  /// Why: what `cancel` was given, or what the first task that failed has thrown; or null.
  [[nodiscard]] std::exception_ptr reason() const noexcept { return node_.reason(); }

private:
  template <class Before, class F, class... Args>
  task_node begin_after(const Before& before, F&& f, Args&&... args) {
    auto call = base::closure_of(std::forward<F>(f), std::forward<Args>(args)...);
    auto* const made =
        new detail::graph_task_of<decltype(call)>(tasks_, std::size(before), std::move(call));
    task_node handle{made};
    detail::dependency* by = made->awaits();
    for (const detail::predecessor each : before) {
      NOPAL_ASSERT(each.task != nullptr && each.task->of == &tasks_,
                   "a task was to follow a nopal::task_node that is empty, or of another "
                   "nopal::task_group; it can follow tasks of its own group");
      by->item = made;
      if (!each.task->followers.add(by++))
        tasks_.arrive(made);
    }
    tasks_.arrive(made);
    return handle;
  }

  detail::work_queue tasks_; // outlives the node, whose end waits for the tasks
  cancel::failing_node node_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
