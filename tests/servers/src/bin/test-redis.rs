//! A Redis server to try things on, as tests get it. It ends when standard input does.
//!
//! ```sh
//! cargo run -p kindgi-test-servers --bin test-redis             # says its process id, folder and URL
//! cargo run -p kindgi-test-servers --bin test-redis -- --where  # says where Redis's programs are
//! ```
//!
//! Exits with 3 where Redis isn't installed.

use std::process::ExitCode;

use kindgi_test_servers::{Redis, redis, serve};

fn main() -> ExitCode {
    serve(redis::programs, || {
        // The shared one, which is never dropped.
        let server = Redis::shared();
        (server.pid(), server.folder(), server.url())
    })
}
