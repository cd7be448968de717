// SPDX-License-Identifier: MIT
// The program finds libnopal_c.so where it was linked.
fn main() {
    println!("cargo:rerun-if-env-changed=LIBNOPAL_DIR");
    if let Ok(folder) = std::env::var("LIBNOPAL_DIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
