// SPDX-License-Identifier: MIT
// Finds Nopal's library for C: libnopal_c.so in the folder that LIBNOPAL_DIR names, or else what
// pkg-config knows as nopal-c.
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=LIBNOPAL_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(folder) = env::var("LIBNOPAL_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=dylib=nopal_c");
        return;
    }
    let found = Command::new("pkg-config").args(["--libs", "nopal-c"]).output();
    let said = match found {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => panic!(
            "Nopal's library for C was not found: install Nopal so that `pkg-config --libs nopal-c` \
             answers (PKG_CONFIG_PATH), or name the folder of libnopal_c.so in LIBNOPAL_DIR"
        ),
    };
    for word in said.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(archive) = word.strip_prefix("-l:") {
            println!("cargo:rustc-link-lib=static:+verbatim={archive}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
}
