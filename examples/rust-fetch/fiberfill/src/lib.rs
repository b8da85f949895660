//! Straight-line Rust that waits, in a fiber of WebAssembly.
//!
//! A call of an export is a fiber with a stack of its own. Where it calls an import that waits, the whole stack waits,
//! and other fibers run: there is no executor, no `async` and no colour of functions. [`sleep`] and [`yield_now`] are
//! such imports; [`wait`] makes a safe wrapper of any other.
//!
//! # Cancellation
//!
//! When JavaScript cancels a fiber, the import that it waits in throws. Rust in WebAssembly does not unwind, so an
//! exception that went through its frames would run no `drop`. [`wait`] catches it, at the import, and returns
//! [`Error::Cancelled`], which `?` carries up: everything is dropped on the way. At the top [`Error::unless_cancelled`]
//! ends the call with the reason that it was cancelled with.
//!
//! # Concurrency
//!
//! Fibers change places only inside of [`wait`]. Between two waits a fiber has the instance to itself. Do not hold a
//! lock or a `RefCell` borrow across a wait that other fibers need: they would find it taken.

mod generator;
mod panic;

pub use generator::{Generator, Yielder};
#[doc(hidden)]
pub use panic::last_panic;
use std::time::Duration;

/// Why a wait brought no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The fiber was cancelled. Every later wait returns this at once; after 1,000 of them a trap ends the fiber.
    Cancelled,
    /// The import threw, or the Promise that it waited for was rejected. An import that has more to say of a failure
    /// returns it as a value.
    Failed,
}

/// What a wait returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns `value` if the wait failed. If the fiber was cancelled it does not return: the call ends here, and its
    /// Promise rejects with the reason. Call it at the end of an export: of what is alive nothing is dropped.
    pub fn unless_cancelled<T>(self, value: T) -> T {
        if self == Error::Cancelled {
            unsafe { yield_import() } // throws the reason
        }
        value
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Error::Cancelled => "the fiber was cancelled",
            Error::Failed => "what the fiber waited for has failed",
        })
    }
}

impl std::error::Error for Error {}

#[link(wasm_import_module = "fiberfill")]
extern "C" {
    #[link_name = "yield"]
    fn yield_import();
    #[link_name = "sleep_ms"]
    fn sleep_import(ms: i32);
}

extern "C" {
    fn fiberfill_try(call: unsafe extern "C" fn(*mut u8), env: *mut u8) -> i32;
}

/// Calls `import` and returns what it returns, once it does. Make one function of it for each import that waits:
///
/// ```ignore
/// pub fn fetch(url: &str, buffer: &mut [u8]) -> fiberfill::Result<usize> {
///     fiberfill::wait(|| unsafe { fetch_text(url.as_ptr(), url.len(), buffer.as_mut_ptr(), buffer.len()) })
/// }
/// ```
///
/// `import` should do nothing else: when the import throws, what `import` itself owns on its stack is not dropped. What
/// it has captured is.
pub fn wait<T>(mut import: impl FnMut() -> T) -> Result<T> {
    let mut value = None;
    if attempt(|| value = Some(import())) {
        return Ok(value.unwrap());
    }
    // In a fiber that was cancelled each wait throws. In one whose import failed, this only lets the others run.
    Err(if attempt(|| unsafe { yield_import() }) { Error::Failed } else { Error::Cancelled })
}

/// Calls a function; returns whether it came to its end.
fn attempt<F: FnMut()>(mut call: F) -> bool {
    unsafe extern "C" fn enter<F: FnMut()>(env: *mut u8) {
        (*env.cast::<F>())()
    }
    unsafe { fiberfill_try(enter::<F>, (&mut call as *mut F).cast()) == 0 }
}

/// Waits for at least `time`, by the page's clock, in whole milliseconds, at most 2^31 - 1 of them.
pub fn sleep(time: Duration) -> Result<()> {
    let ms = i32::try_from(time.as_micros().saturating_add(999) / 1000).unwrap_or(i32::MAX);
    wait(|| unsafe { sleep_import(ms) })
}

/// Goes to the end of the queue of fibers that can run.
pub fn yield_now() -> Result<()> {
    wait(|| unsafe { yield_import() })
}
