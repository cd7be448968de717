// SPDX-License-Identifier: MIT
// Ends of runs, meetings, idleness, and exceptions as text.
#include "nopal/process/run/ends.h"

#include "nopal/base/die.h"
#include "nopal/process/remote_error.h"

#include <cstring>

namespace nopal::inline NOPAL_ABI::process {

void ends::open(far_transport& engine, unsigned rank, unsigned size, ends_block& own) noexcept {
  engine_ = &engine;
  own_ = &own;
  rank_ = rank;
  size_ = size;
}

void ends::begin(std::uint64_t root) {
  ++run_;
  root_ = root;
  passed_on_ = false;
}

// After round r this process knows that 2^(r+1) processes have come, those up to itself. A process
// that is a meeting ahead has written a later number, which also says that it has come to this one.
void ends::meet(meeting end) {
  meetings_ += 2;
  engine_->flush();
  for (unsigned round = 0; (1u << round) < size_; ++round) {
    word& arrivals = own_->barriers[round];
    engine_->post_store((rank_ + (1u << round)) % size_, arrivals, meetings_ | end); // B
    for (unsigned tries = 1;
         static_cast<std::int32_t>(arrivals.load(base::acquire) - meetings_) < 0; // B
         ++tries) {
      engine_->progress();
      idle_for_a_while(tries);
    }
    require_same_end(arrivals.load(base::relaxed), 1u << round, end);
  }
}

// A process that is a meeting ahead has been seen to come to the same end before.
void ends::require_same_end(std::uint32_t arrived, unsigned distance, meeting end) const noexcept {
  if ((arrived & ~1u) != meetings_ || (arrived & 1u) == end)
    return;
  const unsigned other = (rank_ + size_ - distance) % size_;
  base::die("process %u has ended its session, and process %u has not: every process calls "
            "session::run as often as the others",
            end == of_run ? other : rank_, end == of_run ? rank_ : other);
}

void ends::end_run(bool failed, const void* bytes, std::size_t size) noexcept {
  outcome& own = own_->result;
  own.from = rank_;
  own.failed = failed ? 1 : 0;
  own.root = root_;
  own.size = static_cast<std::uint32_t>(size);
  std::memcpy(own.bytes, bytes, size);
  own.run.store(run_, base::relaxed); // no other thread reads it here; others get a put (E)
}

bool ends::has_ended() {
  if (own_->result.run.load(base::acquire) != run_) { // E
    const std::uint32_t before = own_->barriers[0].load(base::relaxed);
    if (before == ((meetings_ + 2) | of_session))
      base::die("process %u has ended its session, and process %u is in a run: every process calls "
                "session::run as often as the others",
                (rank_ + size_ - 1) % size_, rank_);
    return false;
  }
  if (!passed_on_)
    pass_on();
  return true;
}

// The children of place p in the tree are 2p + 1 and 2p + 2, so each process gets the outcome once.
void ends::pass_on() {
  passed_on_ = true;
  outcome& own = own_->result;
  const unsigned place = (rank_ + size_ - own.from) % size_;
  for (unsigned next = 2 * place + 1; next <= 2 * place + 2 && next < size_; ++next) {
    const unsigned peer = (own.from + next) % size_;
    // All but the number, in one piece; the number when that is done.
    const auto* const first = reinterpret_cast<const unsigned char*>(&own.from);
    engine_->put(peer, &own.from, first, static_cast<std::size_t>(own.bytes + own.size - first));
    engine_->post_store(peer, own.run, run_); // E
  }
}

bool ends::take_result(void* to, std::size_t size, std::string& error) const {
  const outcome& own = own_->result;
  if (own.root != root_)
    base::die("process %u has run something else than process %u: every process calls "
              "session::run with the same function and types of arguments",
              std::uint32_t{own.from}, rank_);
  if (own.failed != 0)
    error.assign(reinterpret_cast<const char*>(own.bytes), own.size);
  else
    std::memcpy(to, own.bytes, size);
  return own.failed == 0;
}

std::string text_of_current_exception() noexcept {
  const remote_error current = remote_error_of_current();
  std::string text = current.type() + '\0' + current.text();
  if (text.size() > most_result)
    text.resize(most_result);
  return text;
}

void throw_remote_error(const std::string& text) {
  const std::size_t middle = text.find('\0');
  throw remote_error(text.substr(0, middle),
                     middle < text.size() ? text.substr(middle + 1) : std::string());
}

} // namespace nopal::inline NOPAL_ABI::process
