// Links libfiberfill_try.a, which is built from src/try.s and lies beside this file.
fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=static=fiberfill_try");
}
