// A fiber's function is an index of the table of functions, so that is exported.
fn main() {
    println!("cargo:rustc-link-arg-cdylib=--export-table");
}
