//! A guest as cargo makes it for wasm32-unknown-unknown: a cdylib that exports no allocator. That of Rust's standard
//! library executes memory.grow, and memory.size never.

use std::fmt::Write;

#[link(wasm_import_module = "env")]
extern "C" {
    /// Fills a buffer, perhaps after a wait, and returns a number.
    fn fill(at: *mut u8, len: usize, seed: u32) -> u32;
}

fn hash(h: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(h, |h, &b| h.wrapping_mul(31).wrapping_add(b as u32))
}

/// Has a buffer on the stack filled.
#[no_mangle]
pub extern "C" fn sum(seed: u32) -> u32 {
    let mut buffer = [0u8; 256];
    let n = unsafe { fill(buffer.as_mut_ptr(), buffer.len(), seed) };
    hash(n, &buffer)
}

/// Allocates, keeps and frees texts of many sizes, and waits between; returns what it has kept.
#[no_mangle]
pub extern "C" fn churn(seed: u32, count: u32) -> u32 {
    let mut kept: Vec<String> = Vec::new();
    let mut sums = 0;
    for i in 0..count {
        let mut text = String::new();
        write!(text, "{}-{}-{}", seed, i, "x".repeat(((seed + i * 37) % 5000) as usize)).unwrap();
        kept.push(text);
        if i % 16 == 0 {
            sums = hash(sums, &sum(seed + i).to_le_bytes());
        }
        if i % 3 == 0 {
            kept.swap_remove((i / 3) as usize % kept.len());
        }
    }
    kept.iter().fold(sums, |h, text| hash(h, text.as_bytes()))
}
