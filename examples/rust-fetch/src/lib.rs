//! A guest that fetches, sleeps, and cleans up when it is cancelled.

use std::cell::Cell;
use std::time::Duration;

fiberfill::panic_text!();

mod imports {
    #[link(wasm_import_module = "env")]
    extern "C" {
        pub fn fetch_text(url: *const u8, url_len: usize, buffer: *mut u8, capacity: usize) -> usize;
    }
}

/// Fetches a text, all that there is of it.
fn fetch(url: &str) -> fiberfill::Result<String> {
    let mut body = vec![0; 256];
    loop {
        let length = fiberfill::wait(|| unsafe {
            imports::fetch_text(url.as_ptr(), url.len(), body.as_mut_ptr(), body.len())
        })?;
        let complete = length <= body.len();
        body.resize(length, 0);
        if complete {
            return Ok(String::from_utf8_lossy(&body).into_owned());
        }
    }
}

thread_local!(static OPEN: Cell<u32> = Cell::new(0));

/// Something that has to be given back, in whichever way the call ends.
struct Connection;

impl Connection {
    fn open() -> Self {
        OPEN.with(|open| open.set(open.get() + 1));
        Connection
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        OPEN.with(|open| open.set(open.get() - 1));
    }
}

/// How many connections are open.
#[no_mangle]
pub extern "C" fn open() -> u32 {
    OPEN.with(Cell::get)
}

/// The value of an item: {"id":1,"value":4711,...}. -1: no such JSON. -2: it could not be fetched.
///
/// # Safety
/// JavaScript passes a string, which becomes an address and a length in this fiber's own memory.
#[no_mangle]
pub unsafe extern "C" fn item(url: *const u8, url_len: usize) -> i32 {
    let url = String::from_utf8_lossy(std::slice::from_raw_parts(url, url_len));
    value(&url).unwrap_or_else(|error| error.unless_cancelled(-2))
}

fn value(url: &str) -> fiberfill::Result<i32> {
    let _connection = Connection::open();
    let body = fetch(url)?;
    fiberfill::yield_now()?;
    let number = body.split_once("\"value\":").map(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next());
    Ok(number.flatten().and_then(|digits| digits.parse().ok()).unwrap_or(-1))
}

/// Sleeps `times` times for `ms` milliseconds. Returns how often it has slept: cancelled or not, for it handles the
/// cancellation, so its Promise resolves.
#[no_mangle]
pub extern "C" fn naps(times: u32, ms: u32) -> u32 {
    let mut slept = 0;
    let _ = nap(times, Duration::from_millis(ms.into()), &mut slept);
    slept
}

fn nap(times: u32, time: Duration, slept: &mut u32) -> fiberfill::Result<()> {
    let _connection = Connection::open();
    while *slept < times {
        fiberfill::sleep(time)?;
        *slept += 1;
    }
    Ok(())
}

/// Half of an even number. A panic ends this fiber alone, and its error has the text.
#[no_mangle]
pub extern "C" fn half(n: u32) -> u32 {
    assert!(n % 2 == 0, "{n} is odd");
    n / 2
}
