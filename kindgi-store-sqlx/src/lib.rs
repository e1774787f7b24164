//! Kindgi's storage promise kept on SQLite, PostgreSQL and MySQL or MariaDB.
//!
//! Nothing is here yet: no backend has landed in this crate. Until one does, hosts use
//! `kindgi_core::MemoryStore`, which keeps nothing across a restart.
