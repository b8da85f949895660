// What fiberfill provides by itself.

export declare function sleep_ms(ms: i32): void;
