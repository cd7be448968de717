// SPDX-License-Identifier: MIT
//! Times the same programs with Nopal and with rayon, in interleaved rounds of one process:
//! medians, in milliseconds.
//!
//! usage: beside_rayon [WORKERS] [ROUNDS]
use std::hint::black_box;
use std::time::Instant;

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

/// fib with a join at each level above the base.
macro_rules! fib_by {
    ($name:ident, $join:expr) => {
        fn $name(n: u64, base: u64) -> u64 {
            if n <= base {
                return fib(n);
            }
            let (a, b) = $join(|| $name(n - 1, base), || $name(n - 2, base));
            a + b
        }
    };
}
fib_by!(fib_nopal, nopal::join);
// SAFETY: the frames of this function hold numbers.
fib_by!(fib_migrating, |a, b| unsafe { nopal::join_migrating(a, b) });
fib_by!(fib_rayon, rayon::join);
fn fib_divide(n: u64, base: u64) -> u64 {
    use nopal::Divided::{Solved, Two};
    nopal::divide(n, |n| if n <= base { Solved(fib(n)) } else { Two(n - 1, n - 2) }, |(a, b)| a + b)
}

fn step(i: usize) -> f64 {
    (i as f64).sqrt().sin()
}

fn loop_nopal(out: &mut [f64]) {
    let at = out.as_mut_ptr() as usize;
    nopal::par_for_pieces(0..out.len(), 0, |piece| {
        for i in piece {
            // SAFETY: each index is written by one piece.
            unsafe { *(at as *mut f64).add(i) = step(i) };
        }
    });
}

fn loop_rayon(out: &mut [f64]) {
    use rayon::prelude::*;
    out.par_iter_mut().enumerate().for_each(|(i, each)| *each = step(i));
}

fn sort_by(data: &mut [u32], join: &(impl Fn(&mut (dyn FnMut() + Send), &mut (dyn FnMut() + Send)) + Sync)) {
    if data.len() < 2000 {
        return data.sort_unstable();
    }
    let pivot = data[data.len() / 2];
    let mut low = 0;
    let mut high = data.len() - 1;
    loop {
        while data[low] < pivot {
            low += 1;
        }
        while data[high] > pivot {
            high -= 1;
        }
        if low >= high {
            break;
        }
        data.swap(low, high);
        low += 1;
        high -= 1;
    }
    let (left, right) = data.split_at_mut(high + 1);
    join(&mut || sort_by(left, join), &mut || sort_by(right, join));
}

fn numbers(count: usize) -> Vec<u32> {
    let mut state = 1u32;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            state >> 4
        })
        .collect()
}

fn time(f: &mut dyn FnMut()) -> f64 {
    let begin = Instant::now();
    f();
    begin.elapsed().as_secs_f64() * 1e3
}

/// Prints the median of each alternative, whose rounds are interleaved.
fn compare(what: &str, rounds: usize, alternatives: &mut [(&str, &mut dyn FnMut())]) {
    let mut all = vec![vec![]; alternatives.len()];
    for _ in 0..rounds {
        for (times, (_, f)) in all.iter_mut().zip(alternatives.iter_mut()) {
            times.push(time(f));
        }
    }
    print!("{what:27}");
    for (times, (name, _)) in all.iter_mut().zip(alternatives.iter()) {
        times.sort_by(f64::total_cmp);
        print!("  {name} {:9.3} ms", times[times.len() / 2]);
    }
    println!();
}

fn main() {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<usize>().expect("a number"));
    let workers = words.next().unwrap_or(2);
    let rounds = words.next().unwrap_or(15);
    nopal::set_option("num_workers", &workers.to_string()).expect("so many workers");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("a pool");
    println!("{workers} workers, medians of {rounds} rounds");
    compare("fib(32), base 20", rounds, &mut [
        ("serial", &mut || { black_box(fib(black_box(32))); }),
        ("nopal", &mut || { black_box(fib_nopal(32, 20)); }),
        ("divide", &mut || { black_box(fib_divide(32, 20)); }),
        ("migrating", &mut || { black_box(fib_migrating(32, 20)); }),
        ("rayon", &mut || { black_box(pool.install(|| fib_rayon(32, 20))); }),
    ]);
    compare("fib(24), base 1", rounds, &mut [
        ("serial", &mut || { black_box(fib(black_box(24))); }),
        ("nopal", &mut || { black_box(fib_nopal(24, 1)); }),
        ("divide", &mut || { black_box(fib_divide(24, 1)); }),
        ("migrating", &mut || { black_box(fib_migrating(24, 1)); }),
        ("rayon", &mut || { black_box(pool.install(|| fib_rayon(24, 1))); }),
    ]);
    let mut out = vec![0.0; 1 << 20];
    let mut same = out.clone();
    compare("a loop of 1 M square roots", rounds, &mut [
        ("nopal", &mut || loop_nopal(&mut out)),
        ("rayon", &mut || pool.install(|| loop_rayon(&mut same))),
    ]);
    assert_eq!(out, same);
    let data = numbers(1 << 20);
    let mut sorted = [vec![], vec![]];
    let [by_nopal, by_rayon] = &mut sorted;
    compare("quicksort of 1 M", rounds, &mut [
        ("nopal", &mut || {
            *by_nopal = data.clone();
            sort_by(by_nopal, &|a, b| { nopal::join(a, b); });
        }),
        ("rayon", &mut || {
            *by_rayon = data.clone();
            pool.install(|| sort_by(by_rayon, &|a, b| { rayon::join(a, b); }));
        }),
    ]);
    assert!(sorted[0] == sorted[1] && sorted[0].is_sorted());
}
