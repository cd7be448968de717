// SPDX-License-Identifier: MIT
//! Nopal for Rust: `join`, `par_for` and `scope`, by the library's interface for C.
//!
//! ```
//! fn sum(of: &[u64]) -> u64 {
//!     if of.len() < 1000 {
//!         return of.iter().sum();
//!     }
//!     let (left, right) = of.split_at(of.len() / 2);
//!     let (a, b) = nopal::join(|| sum(left), || sum(right));
//!     a + b
//! }
//! assert_eq!(sum(&(0..100_000).collect::<Vec<_>>()), 4_999_950_000);
//! ```
//!
//! # Threads
//!
//! Nopal steals continuations: a function that forks may go on on another thread. Rust has no bound
//! for that: a caller's frame may hold an `Rc`, a `MutexGuard` or a reference into a thread-local,
//! and none of them may change threads. So no Rust frame migrates. The frames that are stolen are
//! those of Nopal's own C++, between a call of this crate and the closures; each call here returns on
//! the thread that called it. Closures run on any thread, as `Send` and `Sync` say, and each stays on
//! one. A `join` within another call here costs a fork, unless a thief comes; any other call 0.7 us
//! (Intel, family 6, model 167). `divide` recurses in frames of this crate, which hold only what is
//! `Send`, so that no thread waits where a thief came; `join_migrating` does so in yours, and is
//! `unsafe`. The closures that `scope` is given start when its own closure has returned.
//!
//! While a call waits, its thread runs other closures of that call or nothing.
//!
//! # Panics
//!
//! A panic of a closure is resumed by the call, on the calling thread, after all other closures have
//! ended: the one that a serial run would have met first. Closures serially behind it are not begun.
//! Where they run, their own next call here unwinds them.
//!
//! # Stacks
//!
//! Closures run on Nopal's stacks, of NOPAL_STACK_SIZE (1M).

use std::any::Any;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr, CString};
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::Mutex;

/// NOPAL_ABI_VERSION of the header that these declarations were written for.
const VERSION: c_int = 1;
const MIGRATING: c_int = 1 << 16;
const OK: c_int = 0;
const PANICKED: c_int = 1;
const CANCELLED: c_int = -1;

type Function = unsafe extern "C" fn(*mut c_void) -> c_int;
type RangeFunction = unsafe extern "C" fn(*mut c_void, usize, usize) -> c_int;

extern "C" {
    fn nopal_message() -> *const c_char;
    fn nopal_invoke_as(
        version: c_int,
        f: Function,
        a: *mut c_void,
        g: Function,
        b: *mut c_void,
    ) -> c_int;
    fn nopal_for_range_as(
        version: c_int,
        begin: usize,
        end: usize,
        grain: usize,
        body: RangeFunction,
        context: *mut c_void,
    ) -> c_int;
    fn nopal_set_option(name: *const c_char, value: *const c_char) -> c_int;
    fn nopal_num_workers() -> c_uint;
    fn nopal_stop() -> c_int;
}

type Payload = Box<dyn Any + Send>;

/// Unwinds closures that run serially behind one that has panicked. Nobody sees it but this crate,
/// and who catches all panics.
struct Cancelled;

/// The number for a closure that ended so; keeps its payload, unless it was cancelled.
fn number_of(ended: Result<(), Payload>, keep: impl FnOnce(Payload)) -> c_int {
    match ended {
        Ok(()) => OK,
        Err(payload) if payload.is::<Cancelled>() => CANCELLED,
        Err(payload) => {
            keep(payload);
            PANICKED
        }
    }
}

/// What Nopal says of the last call.
fn message() -> String {
    // SAFETY: a string that lasts until this thread's next call.
    unsafe { CStr::from_ptr(nopal_message()) }.to_string_lossy().into_owned()
}

/// Resumes what ended a call, if anything did.
fn end(result: c_int, first: Option<Payload>) {
    if let Some(payload) = first {
        resume_unwind(payload);
    }
    match result {
        OK => (),
        CANCELLED => resume_unwind(Box::new(Cancelled)),
        _ => panic!("{}", message()),
    }
}

/// A closure of `join`, and what it has returned.
struct Job<F, R> {
    closure: Option<F>,
    result: Option<R>,
    panic: Option<Payload>,
}

impl<F: FnOnce() -> R, R> Job<F, R> {
    fn new(closure: F) -> Self {
        Job { closure: Some(closure), result: None, panic: None }
    }

    /// # Safety
    /// `context` is a job that nobody else uses.
    unsafe extern "C" fn run(context: *mut c_void) -> c_int {
        let job = &mut *context.cast::<Self>();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            if let Some(closure) = job.closure.take() {
                job.result = Some(closure());
            }
        }));
        number_of(ended, |payload| job.panic = Some(payload))
    }
}

fn join_as<A, B, RA, RB>(version: c_int, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let mut left = Job::new(a);
    let mut right = Job::new(b);
    // SAFETY: each job is used by one call of its `run`, and both calls have ended when this
    // returns. What moves between threads is Send.
    let result = unsafe {
        nopal_invoke_as(
            version,
            Job::<A, RA>::run,
            (&mut left as *mut Job<A, RA>).cast(),
            Job::<B, RB>::run,
            (&mut right as *mut Job<B, RB>).cast(),
        )
    };
    end(result, left.panic.or(right.panic));
    match (left.result, right.result) {
        (Some(a), Some(b)) => (a, b),
        _ => unreachable!("both closures of a join have ended"),
    }
}

/// Calls both closures, possibly at the same time, and returns both results, on the thread that
/// called it.
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_as(VERSION, a, b)
}

/// `join` that may return on another thread, so that none waits where a thief came.
///
/// # Safety
/// No frame of the calling function and its callers, up to a closure that `join`, `par_for` or
/// `scope` has called or up to the thread's first function, holds across the call what is not `Send`
/// or belongs to a thread: an `Rc`, a lock's guard, a reference into a thread-local. Optimised code
/// may keep the address of a thread-local across the call, so none of these functions uses one both
/// before and after it.
pub unsafe fn join_migrating<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_as(VERSION | MIGRATING, a, b)
}

/// A problem, solved or divided.
pub enum Divided<P, R> {
    Solved(R),
    Two(P, P),
}

// Not inlined into a frame that migrates, where the compiler would keep the address of a
// thread-local that the closure uses.
#[inline(never)]
fn call<A, R>(f: &impl Fn(A) -> R, a: A) -> R {
    f(a)
}

fn divide_migrating<P: Send, R: Send>(
    problem: P,
    split: &(impl Fn(P) -> Divided<P, R> + Sync),
    merge: &(impl Fn((R, R)) -> R + Sync),
) -> R {
    match call(split, problem) {
        Divided::Solved(result) => result,
        Divided::Two(a, b) => {
            let both = join_as(
                VERSION | MIGRATING,
                || divide_migrating(a, split, merge),
                || divide_migrating(b, split, merge),
            );
            call(merge, both)
        }
    }
}

/// Solves a problem by dividing it: `split` solves one or makes two of it, which are solved possibly
/// at the same time, and `merge` has their results. A division costs a fork; and whatever thread it
/// goes on on, this returns on the one that called it.
///
/// ```
/// use nopal::Divided::{Solved, Two};
/// let fib = |n| nopal::divide(n, |n| if n < 2 { Solved(n) } else { Two(n - 1, n - 2) }, |(a, b)| a + b);
/// assert_eq!(fib(20), 6765);
/// ```
pub fn divide<P: Send, R: Send>(
    problem: P,
    split: impl Fn(P) -> Divided<P, R> + Sync,
    merge: impl Fn((R, R)) -> R + Sync,
) -> R {
    join(|| divide_migrating(problem, &split, &merge), || ()).0
}

/// The body of a loop, and the panic of its first piece that has one.
struct Loop<F> {
    body: F,
    panic: Mutex<Option<(usize, Payload)>>,
}

impl<F: Fn(Range<usize>) + Sync> Loop<F> {
    /// # Safety
    /// `context` is a loop that lives as long as the call.
    unsafe extern "C" fn run(context: *mut c_void, begin: usize, end: usize) -> c_int {
        let own = &*context.cast::<Self>();
        number_of(catch_unwind(AssertUnwindSafe(|| (own.body)(begin..end))), |payload| {
            let mut first = own.panic.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if first.as_ref().map_or(true, |(at, _)| begin < *at) {
                *first = Some((begin, payload));
            }
        })
    }
}

/// Calls `f` with disjoint pieces of the range, of at most `grain` indices; 0: about 512 pieces.
pub fn par_for_pieces<F: Fn(Range<usize>) + Sync>(range: Range<usize>, grain: usize, f: F) {
    let all = Loop { body: f, panic: Mutex::new(None) };
    let context = (&all as *const Loop<F>).cast_mut().cast();
    // SAFETY: all pieces have ended when this returns, and what they share is Sync.
    let result = unsafe {
        nopal_for_range_as(VERSION, range.start, range.end, grain, Loop::<F>::run, context)
    };
    let first = all.panic.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    end(result, first.map(|(_, payload)| payload));
}

/// Calls `f(i)` for each index of the range, in any order and possibly at the same time.
pub fn par_for<F: Fn(usize) + Sync>(range: Range<usize>, f: F) {
    par_for_pieces(range, 0, |piece| piece.for_each(&f));
}

type Spawned<'scope> = Box<dyn FnOnce(&Scope<'scope>) + Send + 'scope>;

/// What `scope` gives its closure.
pub struct Scope<'scope> {
    spawned: Mutex<Vec<Spawned<'scope>>>,
    // Invariant in 'scope, as closures are given the scope.
    invariant: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    /// The closure runs when that of `scope` has returned, or that which spawns it, possibly at the
    /// same time as others. It may spawn more.
    pub fn spawn<F: FnOnce(&Scope<'scope>) + Send + 'scope>(&self, f: F) {
        self.spawned.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(Box::new(f));
    }

    fn take(&self) -> Vec<Spawned<'scope>> {
        std::mem::take(&mut *self.spawned.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Runs all closures, and those that they spawn.
    fn run(&self, all: Vec<Spawned<'scope>>) {
        let slots: Vec<_> = all.into_iter().map(|each| Mutex::new(Some(each))).collect();
        par_for_pieces(0..slots.len(), 1, |piece| {
            for i in piece {
                let closure = slots[i].lock().ok().and_then(|mut slot| slot.take());
                if let Some(closure) = closure {
                    closure(self);
                }
                let more = self.take();
                if !more.is_empty() {
                    self.run(more);
                }
            }
        });
    }
}

/// Calls the closure, then all closures that it has spawned, and returns when they have ended. These
/// may borrow what outlives the scope. The closure itself runs on the calling thread, so it need not
/// be `Send`.
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let own = Scope { spawned: Mutex::new(Vec::new()), invariant: PhantomData };
    let result = f(&own);
    let all = own.take();
    if !all.is_empty() {
        own.run(all);
    }
    result
}

/// Sets an option, such as `num_workers`, before the first call; or says why not.
pub fn set_option(name: &str, value: &str) -> Result<(), String> {
    let (name, value) = match (CString::new(name), CString::new(value)) {
        (Ok(name), Ok(value)) => (name, value),
        _ => return Err("an option has a null character".into()),
    };
    // SAFETY: two strings that live long enough.
    match unsafe { nopal_set_option(name.as_ptr(), value.as_ptr()) } {
        OK => Ok(()),
        _ => Err(message()),
    }
}

/// How many workers there are. The options are decided then.
pub fn num_workers() -> usize {
    // SAFETY: it may be called at any time.
    unsafe { nopal_num_workers() as usize }
}

/// Ends the workers' threads, where no closure runs here; or says why not. The next call starts
/// others. A computation on another thread ends the program.
pub fn stop() -> Result<(), String> {
    // SAFETY: it may be called at any time.
    match unsafe { nopal_stop() } {
        OK => Ok(()),
        _ => Err(message()),
    }
}
