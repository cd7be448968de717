// SPDX-License-Identifier: MIT
use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Barrier;
use std::thread;

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = nopal::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn fib_migrating(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    // SAFETY: the frames of this function hold numbers.
    let (a, b) = unsafe { nopal::join_migrating(|| fib_migrating(n - 1), || fib_migrating(n - 2)) };
    a + b
}

fn message_of(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => other.downcast::<&str>().map_or("?".into(), |text| text.to_string()),
    }
}

fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    message_of(catch_unwind(AssertUnwindSafe(f)).err().expect("a panic"))
}

#[test]
fn join_returns_both_results() {
    assert_eq!(fib(14), 377);
    assert_eq!(nopal::join(|| String::from("a"), || vec![1, 2]), ("a".into(), vec![1, 2]));
}

#[test]
fn join_migrating_returns_both_results() {
    assert_eq!(nopal::join(|| fib_migrating(18), || fib_migrating(17)), (2584, 1597));
}

#[test]
fn closures_run_at_the_same_time() {
    let meeting = Barrier::new(2);
    nopal::join(|| meeting.wait(), || meeting.wait());
    nopal::par_for_pieces(0..2, 1, |_| {
        meeting.wait();
    });
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

// An Rc, a thread-local and its borrow live across calls.
fn tree(depth: usize) -> usize {
    let own = Rc::new(RefCell::new(depth));
    let borrowed = own.borrow_mut();
    let before = (thread::current().id(), DEPTH.with(|depth| depth.replace(depth.get() + 1)));
    let (a, b) = if depth == 0 { (0, 0) } else { nopal::join(|| tree(depth - 1), || tree(depth - 1)) };
    let after = (thread::current().id(), DEPTH.with(|depth| depth.get() - 1));
    assert_eq!(before, after);
    DEPTH.with(|depth| depth.set(depth.get() - 1));
    assert_eq!(*borrowed, depth);
    a + b + 1
}

#[test]
fn join_returns_on_its_thread() {
    for _ in 0..20 {
        assert_eq!(tree(7), 255);
    }
}

#[test]
fn join_works_on_other_threads() {
    let all: Vec<_> = (0..4).map(|_| thread::spawn(|| fib(12))).collect();
    for each in all {
        assert_eq!(each.join().unwrap(), 144);
    }
}

#[test]
fn join_resumes_the_first_panic() {
    assert_eq!(panic_of(|| nopal::join(|| panic!("left"), || panic!("right"))), "left");
    assert_eq!(panic_of(|| nopal::join(|| fib(5), || panic!("{}", "right"))), "right");
    assert_eq!(panic_of(|| nopal::join(|| panic!("left"), || fib(12))), "left");
    // Through joins within joins, some of which are cancelled.
    fn deep(n: usize) -> usize {
        if n == 0 {
            panic!("deep");
        }
        let (a, b) = nopal::join(|| deep(n - 1), || fib(6));
        a + b as usize
    }
    assert_eq!(panic_of(|| deep(8)), "deep");
}

#[test]
fn divide_merges_what_it_has_split() {
    use nopal::Divided::{Solved, Two};
    let before = thread::current().id();
    let text: Vec<String> = (0..3000).map(|i| i.to_string()).collect();
    let joined = nopal::divide(
        0..text.len(),
        |range| match range.len() {
            0..=3 => Solved(text[range].concat()),
            n => Two(range.start..range.start + n / 2, range.start + n / 2..range.end),
        },
        |(a, b)| {
            DEPTH.with(|depth| depth.set(depth.get()));
            a + &b
        },
    );
    assert_eq!((joined, thread::current().id()), (text.concat(), before));
    assert_eq!(panic_of(|| nopal::divide(200, |n: u32| {
        assert!(n < 100 || n % 50 != 0 || n == 200, "{n}");
        if n < 2 { Solved(n) } else { Two(n - n / 2, n / 2) }
    }, |(a, b)| a + b)), "100");
}

struct Counted<'a>(&'a AtomicUsize);
impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn closures_are_dropped_once() {
    let drops = AtomicUsize::new(0);
    for fails in [false, true] {
        drops.store(0, SeqCst);
        let (left, right, result) = (Counted(&drops), Counted(&drops), Counted(&drops));
        let ended = catch_unwind(AssertUnwindSafe(|| {
            nopal::join(
                move || {
                    let _left = left;
                    assert!(!fails);
                    result
                },
                move || drop(right),
            )
        }));
        assert_eq!(ended.is_err(), fails);
        drop(ended);
        assert_eq!(drops.load(SeqCst), 3);
    }
}

#[test]
fn par_for_calls_each_index_once() {
    for n in [0, 1, 5000] {
        let times: Vec<_> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        nopal::par_for(0..n, |i| {
            times[i].fetch_add(1, SeqCst);
        });
        nopal::par_for_pieces(0..n, 7, |piece| {
            assert!(!piece.is_empty() && piece.len() <= 7);
            for i in piece {
                times[i].fetch_add(1, SeqCst);
            }
        });
        assert!(times.iter().all(|each| each.load(SeqCst) == 2));
    }
}

#[test]
fn par_for_resumes_the_first_panic() {
    for _ in 0..10 {
        assert_eq!(panic_of(|| nopal::par_for_pieces(0..1000, 1, |piece| {
            assert!(piece.start < 30, "{}", piece.start);
        })), "30");
    }
    assert_eq!(panic_of(|| nopal::par_for(0..10, |i| nopal::par_for(0..10, |j| {
        assert!(i * 10 + j < 55, "{}", i * 10 + j);
    }))), "55");
}

#[test]
fn scope_waits_for_all() {
    let count = AtomicUsize::new(0);
    let not_send = Rc::new(5);
    let result = nopal::scope(|s| {
        for i in 0..10 {
            let count = &count;
            s.spawn(move |s| {
                for _ in 0..i {
                    s.spawn(move |_| {
                        count.fetch_add(fib(5) as usize, SeqCst);
                    });
                }
                count.fetch_add(1, SeqCst);
            });
        }
        *not_send
    });
    assert_eq!((result, count.load(SeqCst)), (5, 10 + 45 * 5));
}

#[test]
fn scope_resumes_a_panic_and_drops_the_rest() {
    let drops = AtomicUsize::new(0);
    let said = panic_of(|| nopal::scope(|s| {
        for i in 0..10 {
            let own = Counted(&drops);
            s.spawn(move |_| {
                let _own = own;
                assert!(i < 4, "{i}");
            });
        }
    }));
    assert_eq!(said, "4");
    assert_eq!(drops.load(SeqCst), 10);
}

#[test]
fn options_are_refused_in_sentences() {
    let said = nopal::set_option("workers", "2").unwrap_err();
    assert!(said.contains("there is no option \"workers\""), "{said}");
    assert!(nopal::num_workers() >= 1);
    assert!(nopal::set_option("num_workers", "2").unwrap_err().contains("after the options"));
    nopal::par_for(0..1, |_| assert!(nopal::stop().unwrap_err().contains("called by a strand")));
}
