// SPDX-License-Identifier: MIT
// How all processes learn that a run has ended, and how they wait for each other.
//
// The process on which the first task ends writes the outcome into its own block, and passes it on
// to two others, which do the same when they see it: a binary tree over the numbers of processes,
// counted from the process where the task ended. A process looks at its own block only.
//
// To meet, process p writes the meeting's number in process p + 2^r, for r = 0, 1 ... while 2^r is
// less than their number, and goes on to the next round when its own word of that round has the
// number or a later one (dissemination). So each word has one writer, whose numbers only rise: it
// flushes the engine between two meetings.
//
// The lowest bit of that number says which end the process has come to: of a run, or of the
// session. A process in a run looks at its first word too, or it would wait for ever for one that
// has ended its session. If some processes come to one end and others to the other, then one of
// them comes next after one that differs, and sees it.
//
// Invariant: the run's number in the block rises by one with each run, and is written after all
//            else of the outcome. It is not written anew before all processes have read it: each
//            reads it before it meets the others, and they meet before the next run.
// Ownership: result -> the process on which the run ended, else the one before it in the tree; a
//            word of `barriers` -> the process that far before this one; the members of `ends` ->
//            the thread that runs tasks.
// Orders:
//   E  the run's number: store release by the engine, after the rest was put. Partner: the acquire
//      in has_ended. Where the run has ended, the thread that stored the number reads it.
//   B  barriers: store release by the engine, after all that a process did before. Partner: the
//      acquire load of the process that waits for it.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/transport.h"

#include <cstddef>
#include <cstdint>
#include <string>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class ends {
public:
  void open(far_transport& engine, unsigned rank, unsigned size,
            ends_block& own = control().ends) noexcept;

  // The two ends. A meeting at one of them waits for no process that has come to the other.
  enum meeting : std::uint32_t { of_run, of_session };

  // Collective. `root` names what is run.
  void begin(std::uint64_t root = 0);
  // Ends the program with a sentence if another process has come to the other end.
  void meet(meeting end = of_run);

  // Called by the process that has the outcome.
  void end_run(bool failed, const void* bytes, std::size_t size) noexcept;
  // Whether it is known; the first time, it is passed on.
  bool has_ended();
  // Called when the outcome is known, and before the processes meet. False: the run has failed, and
  // `error` says how. Ends the program with a sentence if another process has run something else.
  bool take_result(void* to, std::size_t size, std::string& error) const;

private:
  void pass_on();
  void require_same_end(std::uint32_t arrived, unsigned distance, meeting end) const noexcept;

  far_transport* engine_ = nullptr;
  ends_block* own_ = nullptr; // every process has it at the same address
  unsigned rank_ = 0;
  unsigned size_ = 1;
  std::uint32_t run_ = 0;
  std::uint64_t root_ = 0;
  std::uint32_t meetings_ = 0; // twice their number
  bool passed_on_ = false;
};

// "type\0text" of the current exception, at most most_result bytes; called in a handler of all. The
// other function throws it anew, in whichever process.
std::string text_of_current_exception() noexcept;
[[noreturn]] void throw_remote_error(const std::string& text);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
