//! A PostgreSQL server to try things on, as tests get it. It ends when standard input does.
//!
//! ```sh
//! cargo run -p kindgi-test-servers --bin test-postgres             # says its process id, folder and URL
//! cargo run -p kindgi-test-servers --bin test-postgres -- --where  # says where PostgreSQL's programs are
//! ```
//!
//! Exits with 3 where PostgreSQL isn't installed.

use std::process::ExitCode;

use kindgi_test_servers::{Postgres, postgres, serve};

fn main() -> ExitCode {
    serve(postgres::programs, || {
        // The shared one, which is never dropped.
        let server = Postgres::shared();
        (server.pid(), server.folder(), server.url("postgres"))
    })
}
