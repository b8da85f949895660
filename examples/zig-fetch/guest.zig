// A guest in Zig: it fetches, reads the JSON that comes back, and knows nothing of fibers.

const std = @import("std");

// Writes at most cap bytes of what url holds to buf. Returns the length of the whole body. The page provides it; it may
// wait.
extern "env" fn fetch_text(url: [*]const u8, url_len: usize, buf: [*]u8, cap: usize) usize;

const allocator = std.heap.wasm_allocator;

// Returns the whole body, which the caller frees.
fn fetch(url: []const u8) ![]u8 {
    var room: usize = 64;
    while (true) {
        const body = try allocator.alloc(u8, room);
        const length = fetch_text(url.ptr, url.len, body.ptr, body.len); // other calls go on
        if (length <= room) return try allocator.realloc(body, length);
        allocator.free(body);
        room = length;
    }
}

const Item = struct { id: i32, value: i32, title: []const u8 };

fn value(url: []const u8) !i32 {
    const body = try fetch(url);
    defer allocator.free(body);
    const item_of = try std.json.parseFromSlice(Item, allocator, body, .{});
    defer item_of.deinit();
    return item_of.value.value;
}

/// Fetches {"id":17,"value":4711,"title":"..."} and returns the value, or -1 if it is no such object.
export fn item(url: [*]const u8, url_len: usize) i32 {
    return value(url[0..url_len]) catch -1;
}
