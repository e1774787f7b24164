//! Kindgi's storage promise kept on Redis: storage, idempotency keys and a rate limit that all
//! nodes share.
//!
//! Nothing is here yet: no backend has landed in this crate. Until one does, hosts use
//! `kindgi_core::MemoryStore`, which keeps nothing across a restart.
