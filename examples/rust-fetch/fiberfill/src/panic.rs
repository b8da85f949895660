//! A panic's text, which fiberfill puts into the error of the fiber that the panic has ended.

use std::panic;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::sync::Once;

/// Lets errors have the text of panics: "unreachable: panicked at '7 is odd', src/lib.rs:93:5". Write it once, at the
/// top of the guest; the code for the text makes it some 17 KB larger.
#[macro_export]
macro_rules! panic_text {
    () => {
        /// Where the text of the last panic is. fiberfill asks.
        #[no_mangle]
        pub extern "C" fn fiberfill_panic() -> *const u8 {
            $crate::last_panic()
        }
    };
}

static TEXT: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Returns what the last panic has said, in UTF-8 with a zero behind it; null if nobody has panicked since the last
/// call. fiberfill calls this when it has made the instance, and after each trap.
#[doc(hidden)]
pub fn last_panic() -> *const u8 {
    static PREPARE: Once = Once::new();
    PREPARE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let text = format!("{info}\0").into_bytes();
            TEXT.store(Box::leak(text.into_boxed_slice()).as_mut_ptr(), Relaxed); // for as long as the host reads it
            before(info);
        }));
    });
    TEXT.swap(null_mut(), Relaxed)
}
