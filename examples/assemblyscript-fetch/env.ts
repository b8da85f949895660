// What JavaScript provides. AssemblyScript calls an import's module by the name of the file that declares it.

export declare function fetch_text(url: usize, urlLength: i32, buffer: usize, capacity: i32): i32;
