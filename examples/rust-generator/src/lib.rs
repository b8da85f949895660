//! A guest with fibers of its own: a tree is walked by recursion, and consumed as an iterator.

use fiberfill::{Generator, Yielder};

struct Tree {
    value: u32,
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}

/// The balanced tree of the numbers from `from` to `to` - 1.
fn tree(from: u32, to: u32) -> Option<Box<Tree>> {
    let value = from + (to - from) / 2;
    (from < to).then(|| Box::new(Tree { value, left: tree(from, value), right: tree(value + 1, to) }))
}

/// Yields the values in order, from any depth.
fn walk(tree: &Option<Box<Tree>>, out: &mut Yielder<u32>) {
    if let Some(node) = tree {
        walk(&node.left, out);
        out.give(node.value);
        walk(&node.right, out);
    }
}

/// Whether a walk of two trees of `n` numbers, one step of each in turn, meets the same numbers. The second lacks the
/// number `missing`, if it is below `n`.
#[no_mangle]
pub extern "C" fn same(n: u32, missing: u32) -> bool {
    let (one, other) = (tree(0, n), tree(0, n));
    let mut first = Generator::new(|out| walk(&one, out));
    let mut second = Generator::new(|out| walk(&other, out)).filter(|&value| value != missing);
    loop {
        match (first.next(), second.next()) {
            (None, None) => return true,
            (a, b) if a != b => return false,
            _ => {}
        }
    }
}

/// The sum of the first `count` of the endless sequence 1, 4, 9, ...
#[no_mangle]
pub extern "C" fn squares(count: u32) -> u64 {
    Generator::new(|out| (1u64..).for_each(|i| out.give(i * i))).take(count as usize).sum()
}
