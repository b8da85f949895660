//! Generators: fibers of the guest's own, by the operations of fiberfill.h (system fibers1).

use std::cell::Cell;

/// ff_event of fiberfill.h.
#[repr(C)]
struct Event {
    label: i32,
    tag: u32,
    types: u32,
    fiber: u32,
    reference: u64,
    values: [u64; 8],
}

const NEXT: i32 = -1; // FF_NEXT: the fiber has returned

#[link(wasm_import_module = "fiberfill/fibers1")]
extern "C" {
    #[link_name = "tag"]
    fn new_tag(params: u32) -> u32;
    #[link_name = "table"]
    fn new_table(tags: *const u32, count: i32) -> u32;
    #[link_name = "new"]
    fn new_fiber(results: u32, start: u32, body: Body, env: *mut u8) -> u32;
    fn suspend(fiber: u32, event: *mut Event, on: u32) -> i32;
    fn resume(fiber: u32, event: *mut Event, on: u32) -> i32;
    fn release(fiber: u32);
}

type Body = unsafe extern "C" fn(fiber: u32, env: *mut u8, event: *mut Event) -> u32;

/// The tags that all generators share, and a table for each: `go` enters a generator, `item` leaves it.
#[derive(Clone, Copy)]
struct Tags {
    go: u32,
    item: u32,
    on_go: u32,
    on_item: u32,
}

thread_local!(static TAGS: Cell<Option<Tags>> = Cell::new(None));

fn tags() -> Tags {
    TAGS.with(|tags| {
        tags.get().unwrap_or_else(|| {
            let (go, item) = unsafe { (new_tag(0), new_tag(0)) };
            let made = Tags { go, item, on_go: unsafe { new_table(&go, 1) }, on_item: unsafe { new_table(&item, 1) } };
            tags.set(Some(made));
            made
        })
    })
}

fn event(tag: u32) -> Event {
    Event { label: 0, tag, types: 0, fiber: 0, reference: 0, values: [0; 8] }
}

/// What a generator yields to: the argument of its function.
pub struct Yielder<T> {
    fiber: u32,
    slot: *mut Option<T>,
}

impl<T> Yielder<T> {
    /// Hands `item` to the consumer. Returns when the consumer wants the next one.
    pub fn give(&mut self, item: T) {
        unsafe {
            *self.slot = Some(item);
            let tags = tags();
            suspend(self.fiber, &mut event(tags.item), tags.on_go);
        }
    }
}

/// An iterator over what a function yields, however deep it stands in calls. Each has a stack of its own.
///
/// The guest exports its table of functions for this (`-C link-arg=--export-table`), and calls of its exports run one
/// after another. A generator that is dropped before its end is released: what its function owns is not dropped.
pub struct Generator<T, F: FnOnce(&mut Yielder<T>)> {
    fiber: u32, // 0: it has ended
    shared: *mut Shared<T, F>, // owned; a raw pointer, since its function uses it, too
}

struct Shared<T, F> {
    body: Option<F>,
    slot: Option<T>,
}

impl<T, F: FnOnce(&mut Yielder<T>)> Generator<T, F> {
    /// Makes a generator of a function, which begins when the first item is asked for.
    pub fn new(body: F) -> Self {
        let shared = Box::into_raw(Box::new(Shared { body: Some(body), slot: None }));
        let fiber = unsafe { new_fiber(0, tags().on_go, enter::<T, F>, shared.cast()) };
        Generator { fiber, shared }
    }
}

unsafe extern "C" fn enter<T, F: FnOnce(&mut Yielder<T>)>(fiber: u32, env: *mut u8, _: *mut Event) -> u32 {
    let shared = env.cast::<Shared<T, F>>();
    if let Some(body) = (*shared).body.take() {
        body(&mut Yielder { fiber, slot: std::ptr::addr_of_mut!((*shared).slot) });
    }
    0 // no results
}

impl<T, F: FnOnce(&mut Yielder<T>)> Iterator for Generator<T, F> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.fiber == 0 {
            return None;
        }
        let tags = tags();
        if unsafe { resume(self.fiber, &mut event(tags.go), tags.on_item) } == NEXT {
            self.fiber = 0;
        }
        unsafe { (*self.shared).slot.take() }
    }
}

impl<T, F: FnOnce(&mut Yielder<T>)> Drop for Generator<T, F> {
    fn drop(&mut self) {
        unsafe {
            if self.fiber != 0 {
                release(self.fiber);
            }
            drop(Box::from_raw(self.shared));
        }
    }
}
